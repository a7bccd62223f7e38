"""One window for each data folder: the first start holds a lock, and a later one hands over what it was asked to do.

The lock is the system's: it is let go when its owner ends, however that happens, so that none is ever stale. Beside it
lies where the first one listens, and a key that only this user can read. Not QLocalServer, whose library would add
3.4 MB to the package and its import to each start.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from queue import Empty, SimpleQueue

from filelock import BaseFileLock, FileLock, Timeout

from engine.disk.whole_file import write_whole

LOCK, ADDRESS, SOCKET = "window.lock", "window.address", "window.socket"
ANSWER_S = 10.0
"""A window that does not answer for so long hangs, or is still being built on a very slow machine."""
RETRY_S = 0.05
LARGEST = 16 << 20
"""Bytes of one request or answer: more than any system takes as arguments."""
FAMILY = "AF_PIPE" if os.name == "nt" else "AF_UNIX"
CLOSED = "The window was closed before this was done."

log = logging.getLogger("kvasir")


@dataclass(frozen=True)
class Request:
    """What a start was asked to do. ``activation`` is the desktop's leave to come to the front (XDG activation)."""

    model: str | None = None
    texts: tuple[str, ...] = ()
    screenshot: str | None = None
    activation: str | None = None


@dataclass(frozen=True)
class Answer:
    """How a request ended: an exit code and, where it is not 0, a sentence."""

    code: int
    sentence: str = ""


class LaterStart:
    """A start that waits: ``accept`` says that its request is heard, ``end`` how that ended. From any thread."""

    def __init__(self, connection: Connection, request: Request) -> None:
        self.request = request
        self._connection = connection
        self._ended = threading.Event()

    def accept(self) -> bool:
        """Say that this window does not hang; False if that was waited for too long, and nothing is wanted any more."""
        return self._send({})

    def end(self, answer: Answer) -> None:
        """Let it go."""
        self._send(asdict(answer))
        self._ended.set()

    def drop(self) -> None:
        """Let it go without a word: one that was not accepted tries again, and may become the first window."""
        self._ended.set()

    def wait(self) -> None:
        """Until it was let go."""
        self._ended.wait()

    def _send(self, said: dict[str, object]) -> bool:
        try:
            self._connection.send_bytes(json.dumps(said).encode())
        except OSError:
            # It has ended meanwhile, or this window is about to.
            return False
        return True


OnStart = Callable[[LaterStart], None]


class FirstWindow:
    """Owns a data folder until ``close``; what ends something may be called twice."""

    def __init__(self, folder: Path, lock: BaseFileLock) -> None:
        self._folder, self._lock = folder, lock
        self._listener: Listener | None = None
        self._key = secrets.token_bytes(32)
        self._starts: set[LaterStart] = set()
        self._guard = threading.Lock()
        self._is_deaf = False

    def listen(self, on_start: OnStart) -> None:
        """Hear later starts from now on; ``on_start`` is called on a thread of its own.

        Where no address can be made, a later start says that this window does not answer.
        """
        try:
            self._listener = listener = _new_listener(self._folder)
            address = json.dumps({"address": listener.address, "key": self._key.hex()})
            threading.Thread(target=self._accept, args=(listener, on_start), name="later-starts", daemon=True).start()
            write_whole(self._folder / ADDRESS, [address.encode()])
        except (OSError, RuntimeError) as error:
            log.warning("later starts can't be heard: %s", error)

    def stop_listening(self) -> None:
        """Hear no later start any more; those that were heard and not yet accepted try again."""
        with self._guard:
            self._is_deaf = True
            for start in self._starts:
                start.drop()
        if self._listener is not None:
            with contextlib.suppress(OSError):
                (self._folder / ADDRESS).unlink(missing_ok=True)
            # Its thread waits in accept, which closing alone would not end.
            with contextlib.suppress(OSError, EOFError):
                Client(self._listener.address, FAMILY).close()
            self._listener.close()
            self._listener = None

    def close(self) -> None:
        """Let the folder go."""
        self.stop_listening()
        self._lock.release()

    def _accept(self, listener: Listener, on_start: OnStart) -> None:
        while not self._is_deaf:
            try:
                connection = listener.accept()
                if self._is_deaf:
                    connection.close()
                    return
                # A thread each: who does not say what it wants, or waits for a picture, does not hold up the next one.
                serve = threading.Thread(target=self._serve, args=(connection, on_start), name="later-start")
                serve.daemon = True
                serve.start()
            except (OSError, RuntimeError):
                # Somebody went away, or this process has too many files open, or threads.
                time.sleep(RETRY_S)

    def _serve(self, connection: Connection, on_start: OnStart) -> None:
        with connection:
            try:
                deliver_challenge(connection, self._key)
                answer_challenge(connection, self._key)
                start = LaterStart(connection, _request(connection.recv_bytes(LARGEST)))
            except Exception:
                # Whoever has not the key may say anything.
                log.info("somebody who called this window was not heard", exc_info=True)
                return
            with self._guard:
                if self._is_deaf:
                    return
                self._starts.add(start)
            on_start(start)
            start.wait()
            with self._guard:
                self._starts.discard(start)


def claim_or_hand_over(folder: Path, request: Request, patience_s: float = ANSWER_S) -> FirstWindow | Answer:
    """Own a data folder, or have the window that does carry out the request.

    Returns once that has begun or, where a picture is wanted, once it is there. A window that is about to end is waited
    for.
    """
    deadline = time.monotonic() + patience_s
    while True:
        first = claim(folder)
        if first is not None:
            return first
        answer = _hand_over(folder, request, deadline)
        if answer is not None:
            return answer
        if time.monotonic() > deadline:
            return Answer(1, f"Kvasir is open already on {folder} and does not answer: close it there first.")
        time.sleep(RETRY_S)


def claim(folder: Path) -> FirstWindow | None:
    """Own a data folder; None where another process does. A folder that can't be written to, or in which nothing can be
    locked, belongs to anybody."""
    # Not the lock files that make up for a missing flock: those outlive a process that was killed.
    lock = FileLock(folder / LOCK, blocking=False, mode=0o600, thread_local=False, fallback_to_soft=False)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout:
            return None
    return FirstWindow(folder, lock)


def _hand_over(folder: Path, request: Request, deadline: float) -> Answer | None:
    """None where nobody has heard it, or not in time."""
    said: SimpleQueue[Answer | None] = SimpleQueue()
    # On a thread, since a window that hangs lets each step of it wait for ever.
    threading.Thread(target=_call, args=(folder, request, said), name="hand-over", daemon=True).start()
    with contextlib.suppress(Empty):
        heard = said.get(timeout=max(0.0, deadline - time.monotonic()))
        return said.get() if heard is not None else None
    return None


def _call(folder: Path, request: Request, said: SimpleQueue[Answer | None]) -> None:
    """Says first whether the request was heard (None: it was not), then how it ended."""
    answer = None
    try:
        # As it is: a path may have bytes that are no text.
        found = json.loads((folder / ADDRESS).read_bytes())
        with Client(found["address"], FAMILY, authkey=bytes.fromhex(found["key"])) as connection:
            connection.send_bytes(json.dumps(asdict(request)).encode())
            connection.recv_bytes(LARGEST)
            answer = Answer(1, CLOSED)
            said.put(answer)
            found = json.loads(connection.recv_bytes(LARGEST))
            answer = Answer(int(found["code"]), str(found["sentence"]))
    except Exception:
        # An address is left by a window that was killed, and somebody else may be there by now.
        log.debug("the first window was not reached, or ended", exc_info=True)
    said.put(answer)


def _new_listener(folder: Path) -> Listener:
    if os.name != "nt":
        # Here the next window finds what one that was killed has left. Not on every disk, nor below every path.
        with contextlib.suppress(OSError):
            path = folder / SOCKET
            path.unlink(missing_ok=True)
            return Listener(str(path), FAMILY)
    return Listener(None, FAMILY)


def _request(content: bytes) -> Request:
    found = json.loads(content)
    return Request(found["model"], tuple(found["texts"]), found["screenshot"], found["activation"])

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
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path

from filelock import FileLock, Timeout

from engine.disk.foreign_json import read_json
from engine.disk.whole_file import write_whole

LOCK, ADDRESS = "window.lock", "window.address"
ANSWER_S = 10.0
"""A window that does not answer for so long hangs, or is still being built on a very slow machine."""
RETRY_S = 0.05
LARGEST = 1 << 20
"""Bytes of one request or answer."""
FAMILY = "AF_PIPE" if os.name == "nt" else "AF_UNIX"

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

    def accept(self) -> None:
        """It need not fear any more that this window hangs."""
        self._send({})

    def end(self, answer: Answer) -> None:
        """Let it go."""
        self._send(asdict(answer))
        self._ended.set()

    def wait(self) -> None:
        """Until it was let go."""
        self._ended.wait()

    def _send(self, said: dict[str, object]) -> None:
        # It may have been ended meanwhile.
        with contextlib.suppress(OSError):
            self._connection.send_bytes(json.dumps(said).encode())


OnStart = Callable[[LaterStart], None]


class FirstWindow:
    """Owns a data folder until ``close``; ``close`` may be called twice."""

    def __init__(self, folder: Path, lock: FileLock) -> None:
        self._folder, self._lock = folder, lock
        self._listener: Listener | None = None
        self._is_closing = False

    def listen(self, on_start: OnStart) -> None:
        """Hear later starts from now on; ``on_start`` is called on a thread of its own.

        Where no address can be made, a later start says that this window does not answer.
        """
        key = secrets.token_bytes(32)
        try:
            self._listener = Listener(None, FAMILY, authkey=key)
            address = json.dumps({"address": self._listener.address, "key": key.hex()})
            write_whole(self._folder / ADDRESS, [address.encode()])
        except OSError as error:
            log.warning("later starts can't be heard: %s", error)
            return
        threading.Thread(target=self._accept, args=(on_start,), name="later-starts", daemon=True).start()

    def close(self) -> None:
        """Let the folder go."""
        self._is_closing = True
        if self._listener is not None:
            (self._folder / ADDRESS).unlink(missing_ok=True)
            # Its thread waits in accept, which closing alone would not end.
            with contextlib.suppress(OSError, EOFError, AuthenticationError):
                Client(self._listener.address, FAMILY).close()
            self._listener.close()
            self._listener = None
        self._lock.release()

    def _accept(self, on_start: OnStart) -> None:
        listener = self._listener
        while listener is not None and not self._is_closing:
            try:
                connection = listener.accept()
            except (AuthenticationError, EOFError, OSError):
                # Somebody who does not know the key, or who went away.
                continue
            # A thread each: a picture may take a minute, and the next start is not to wait for it.
            threading.Thread(target=_serve, args=(connection, on_start), name="later-start", daemon=True).start()


def claim(folder: Path) -> FirstWindow | None:
    """Own a data folder; None where another process does. A folder that can't be written to belongs to anybody."""
    lock = FileLock(folder / LOCK, blocking=False, mode=0o600)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout:
            return None
    return FirstWindow(folder, lock)


def hand_over(folder: Path, request: Request, timeout_s: float = ANSWER_S) -> Answer:
    """Have the first window do it. Returns once that has begun or, where a picture is wanted, once it is there."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            with _connect(folder) as connection:
                connection.send_bytes(json.dumps(asdict(request)).encode())
                return _wait_for_answer(connection, deadline)
        except (OSError, EOFError, ValueError, KeyError, TypeError, AuthenticationError):
            # It has only just begun, or it is about to end.
            if time.monotonic() > deadline:
                return Answer(1, f"Kvasir is open already on {folder} and does not answer: close it there first.")
            time.sleep(RETRY_S)


def _connect(folder: Path) -> Connection:
    found = read_json((folder / ADDRESS).read_text("utf-8"))
    return Client(found["address"], FAMILY, authkey=bytes.fromhex(found["key"]))


def _wait_for_answer(connection: Connection, deadline: float) -> Answer:
    """The first message says that the request was heard, the second how it ended."""
    if not connection.poll(max(0.0, deadline - time.monotonic())):
        raise TimeoutError
    connection.recv_bytes(LARGEST)
    found = read_json(connection.recv_bytes(LARGEST))
    return Answer(int(found["code"]), str(found["sentence"]))


def _serve(connection: Connection, on_start: OnStart) -> None:
    with connection:
        try:
            found = read_json(connection.recv_bytes(LARGEST))
            request = Request(found["model"], tuple(found["texts"]), found["screenshot"], found["activation"])
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            log.warning("a later start could not be heard: %r", error)
            return
        start = LaterStart(connection, request)
        on_start(start)
        start.wait()

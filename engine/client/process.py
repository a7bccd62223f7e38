"""One run of a spawned process that uses llama.cpp, with non-blocking sends."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import queue
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

from engine.api.errors import internal_error
from engine.api.messages import Cancel, Command, Event, Failed
from engine.api.options import EngineOptions
from engine.client import deadlines

Run = Callable[[Connection, EngineOptions], None]
"""The main function of an engine process."""
LOG_TAIL_BYTES = 16_384

log = logging.getLogger("kvasir")


class EngineProcess:
    """A spawned process and the pipe to it.

    A writer thread sends, so that a command of any size is accepted at once, also while the process is too busy to
    read. Raises OSError or RuntimeError if the process can't be started.
    """

    def __init__(self, run: Run, options: EngineOptions, *, name: str = "kvasir-engine") -> None:
        context = multiprocessing.get_context("spawn")
        self._killed_at: float | None = None
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=run, args=(theirs, options), name=name, daemon=True)
        self._outbox: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        # Answers to commands that could not be sent.
        self._unsent: queue.SimpleQueue[Failed] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="engine-writer", daemon=True)
        try:
            self._process.start()
            self._writer.start()
        except BaseException:
            if self._process.pid is not None:
                self._process.kill()
                self._process.join(deadlines.CLOSE_TIMEOUT_S)
            self._pipe.close()
            raise
        finally:
            theirs.close()

    def send(self, command: Command) -> None:
        """Queue a command for the process; one that can't be sent is answered by Failed.

        A command that the process dies before reading is lost.
        """
        self._outbox.put(command)

    def receive(self, timeout_s: float) -> Event | None:
        """The next event, None if none came in time; raises EOFError or OSError once the process has ended.

        A process that hangs inside a driver may survive a kill: after a timeout it counts as ended.
        """
        with contextlib.suppress(queue.Empty):
            return self._unsent.get_nowait()
        if not self._pipe.poll(timeout_s):
            if self._killed_at is not None and time.monotonic() > self._killed_at + deadlines.CLOSE_TIMEOUT_S:
                raise EOFError("the process was killed and does not end")
            return None
        event: Event = self._pipe.recv()
        return event

    def kill(self) -> None:
        """Kill the process; ``receive`` still returns the events it had sent. No effect if it has ended."""
        self._killed_at = self._killed_at or time.monotonic()
        with contextlib.suppress(ValueError):
            self._process.kill()

    def end(self, timeout_s: float) -> int | None:
        """Wait for the process, kill it after the timeout, and free its resources; returns its exit code.

        None if the process survives the kill: it is abandoned, with the thread that may be writing to it.
        """
        self._process.join(timeout_s)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(timeout_s)
        self._outbox.put(None)
        if self._process.is_alive():
            return None
        exit_code = self._process.exitcode
        self._writer.join()
        self._pipe.close()
        self._process.close()
        return exit_code

    def _write(self) -> None:
        while (command := self._outbox.get()) is not None:
            try:
                content = ForkingPickler.dumps(command)
            except Exception as error:  # noqa: BLE001 - a copy may find no memory; nothing has been sent then
                self._note_unsent(command, error)
                continue
            try:
                self._pipe.send_bytes(content)
            except ConnectionError:
                # The process ended: the receiving thread notices, and answers the pending requests.
                return
            except Exception:
                # After a partial write the process would wait for the rest for ever, and could not parse what follows.
                log.warning("the pipe to the engine is unusable", exc_info=True)
                self.kill()
                return

    def _note_unsent(self, command: Command, error: Exception) -> None:
        log.warning("%s could not be sent: %r", type(command).__name__, error)
        request_id = getattr(command, "request_id", None)
        if request_id is not None and not isinstance(command, Cancel):
            mistake = internal_error(error)
            self._unsent.put(Failed(request_id, mistake.code, mistake.sentence, mistake.detail))


def read_log_tail(path: Path) -> str:
    """The end of the engine's log file, or "" if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - LOG_TAIL_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""

"""One run of the engine process: started, spoken to without waiting, ended."""

from __future__ import annotations

import multiprocessing
import queue
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection

from engine.messages import Command, Event
from engine.options import EngineOptions

Run = Callable[[Connection, EngineOptions], None]
"""The main function of an engine process."""


class EngineProcess:
    """A spawned process and the pipe to it.

    A thread of its own writes, so that a command of any size is taken at once, also while the process is too busy to
    read. Raises OSError if the process can't be started.
    """

    def __init__(self, run: Run, options: EngineOptions) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=run, args=(theirs, options), name="kvasir-engine", daemon=True)
        try:
            self._process.start()
        except BaseException:
            self._pipe.close()
            raise
        finally:
            theirs.close()
        self._outbox: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="engine-writer", daemon=True)
        self._writer.start()

    def send(self, command: Command) -> None:
        """Hand over a command; one that the process does not live to read is lost."""
        self._outbox.put(command)

    def receive(self, timeout_s: float) -> Event | None:
        """The next event, None if none came in time; raises EOFError or OSError once the process has ended."""
        if not self._pipe.poll(timeout_s):
            return None
        event: Event = self._pipe.recv()
        return event

    def kill(self) -> None:
        """End the process now; ``receive`` still gives what it had said."""
        self._process.kill()

    def end(self, timeout_s: float) -> int | None:
        """Wait for the process, kill it when the time is over, and free what belonged to it; its exit code."""
        self._process.join(timeout_s)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        exit_code = self._process.exitcode
        self._outbox.put(None)
        self._writer.join()
        self._pipe.close()
        self._process.close()
        return exit_code

    def _write(self) -> None:
        while (command := self._outbox.get()) is not None:
            try:
                self._pipe.send(command)
            except OSError:
                # The process ended: whoever receives notices, and answers what was under way.
                return

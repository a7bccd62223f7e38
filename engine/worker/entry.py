"""The entry point of the engine process, which executes commands from the pipe one at a time."""

from __future__ import annotations

import collections
import contextlib
import faulthandler
import multiprocessing
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Protocol

from engine.api.errors import EngineError, ErrorCode, internal_error
from engine.api.messages import Cancel, Command, Event, Failed, Shutdown
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.disk.parent import end_with_parent
from engine.native.importing import loading_library, prepare_process

IDLE_S = 1.0
"""Background work starts after this idle time."""
MEMORY_LOOK_S = 5.0
"""How often an idle engine with snapshots in RAM checks whether the machine is short of it."""


class Inbox:
    """The command queue of the pipe; Cancel and Shutdown are noticed while another command is running."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._waiting: collections.deque[Command] = collections.deque()
        self._cancelled: set[int | None] = set()
        self.is_closing = False

    def next(self) -> Command | None:
        """Wait for the next command; None when the process should end."""
        # Commands still queued at the end run too: they find themselves cancelled, and so are answered.
        while not self._waiting:
            if self.is_closing:
                return None
            self._take(wait=True)
        return self._waiting.popleft()

    def is_quiet(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for a command; True if none came."""
        with contextlib.suppress(EOFError, OSError):
            return not (self._waiting or self.is_closing or self._pipe.poll(seconds))
        return False

    def is_cancelled(self, request_id: int) -> bool:
        """Whether a request was cancelled; polls the pipe."""
        self._take(wait=False)
        return self.is_closing or request_id in self._cancelled

    def has_more(self) -> bool:
        """Whether another command or Shutdown is queued; polls the pipe."""
        self._take(wait=False)
        return self.is_closing or bool(self._waiting)

    def forget(self, command: Command) -> None:
        """Forget the cancellation of an answered request."""
        self._cancelled.discard(getattr(command, "request_id", None))

    def _take(self, *, wait: bool) -> None:
        try:
            # Commands after Shutdown are ignored.
            while not self.is_closing and self._pipe.poll(None if wait and not self._waiting else 0):
                command = self._pipe.recv()
                if isinstance(command, Shutdown):
                    self.is_closing = True
                elif isinstance(command, Cancel):
                    self._cancelled.add(command.request_id)
                else:
                    self._waiting.append(command)
        except (EOFError, OSError):
            # The client is gone, so the process ends.
            self.is_closing = True


def run(pipe: Connection, options: EngineOptions) -> None:
    """Execute commands until Shutdown, or until the client is gone."""
    prepare_process(options)
    _prepare_for_the_worst()
    inbox = Inbox(pipe)

    def emit(event: Event) -> None:
        # A closed pipe is handled by the inbox.
        with contextlib.suppress(OSError):
            pipe.send(event)

    try:
        # Only after prepare_process, since this imports llama.cpp.
        with loading_library():
            from engine.worker.library import LlamaCpp
            from engine.worker.session import Session

            session = Session(LlamaCpp(options), options, emit, inbox.is_cancelled, inbox.has_more)
    except EngineError as error:
        emit(Failed(None, error.code, error.sentence, error.detail))
        sys.exit(1)
    while (command := inbox.next()) is not None:
        answer(session.carry_out, command, emit)
        inbox.forget(command)
        if inbox.is_quiet(0):
            session.tell_tiers()
        use_quiet_time(inbox, session)
    session.close()


class IdleWorker(Protocol):
    """The background work of a session."""

    @property
    def holds_chats_in_ram(self) -> bool: ...

    def work_idle(self, is_wanted: Callable[[], bool]) -> None: ...


def use_quiet_time(inbox: Inbox, session: IdleWorker, first_s: float = IDLE_S, later_s: float = MEMORY_LOOK_S) -> None:
    """Run background work after ``first_s`` without a command, then every ``later_s`` while RAM can be freed."""
    is_quiet = inbox.is_quiet(first_s)
    while is_quiet:
        session.work_idle(lambda: not inbox.is_quiet(0))
        is_quiet = session.holds_chats_in_ram and inbox.is_quiet(later_s)


def _prepare_for_the_worst() -> None:
    """Log the stack on a crash, leave Ctrl+C to the client, and end with the client's process."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A daemon process may not have children, but templates need one, which ends with the engine process.
    multiprocessing.current_process().daemon = False
    end_with_parent()


def answer(carry_out: Callable[[Command], None], command: Command, emit: Callable[[Event], None]) -> None:
    """Execute one command; an error becomes its answer, and the process goes on."""
    request_id = getattr(command, "request_id", None)
    try:
        carry_out(command)
    except EngineError as error:
        emit(Failed(request_id, error.code, error.sentence, error.detail))
    except MemoryError:
        message = say("Memory ran out. A smaller context window, q8_0 for K and V or a smaller model helps.")
        emit(Failed(request_id, ErrorCode.OUT_OF_MEMORY, message))
    except Exception as error:  # noqa: BLE001 - the last line of defence: one request fails, the engine lives
        mistake = internal_error(error)
        emit(Failed(request_id, mistake.code, mistake.sentence, mistake.detail))

"""The engine process's entry: quiets native code, then answers commands from the pipe one after the other."""

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
"""Nothing was asked for so long: there is time for what nobody waits for."""
MEMORY_LOOK_S = 5.0
"""How often an idle engine that keeps chats in RAM looks whether other programs need it."""


class Inbox:
    """Commands from the pipe, in order; Stop and Shutdown are seen while another command is being carried out."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._waiting: collections.deque[Command] = collections.deque()
        self._cancelled: set[int | None] = set()
        self.is_closing = False

    def next(self) -> Command | None:
        """The next command, waiting for it; None once the process should end."""
        # What still waits when the process should end is carried out too: it finds itself cancelled, and is answered.
        while not self._waiting:
            if self.is_closing:
                return None
            self._take(wait=True)
        return self._waiting.popleft()

    def is_quiet(self, seconds: float) -> bool:
        """Whether nothing is asked for so long; a command ends the wait."""
        with contextlib.suppress(EOFError, OSError):
            return not (self._waiting or self.is_closing or self._pipe.poll(seconds))
        return False

    def is_cancelled(self, request_id: int) -> bool:
        """Whether a request should stop now; looks into the pipe."""
        self._take(wait=False)
        return self.is_closing or request_id in self._cancelled

    def has_more(self) -> bool:
        """Whether another command waits, or the end; looks into the pipe."""
        self._take(wait=False)
        return self.is_closing or bool(self._waiting)

    def forget(self, command: Command) -> None:
        """A request was answered: a late Stop for it means nothing."""
        self._cancelled.discard(getattr(command, "request_id", None))

    def _take(self, *, wait: bool) -> None:
        try:
            # What comes after Shutdown is for nobody.
            while not self.is_closing and self._pipe.poll(None if wait and not self._waiting else 0):
                command = self._pipe.recv()
                if isinstance(command, Shutdown):
                    self.is_closing = True
                elif isinstance(command, Cancel):
                    self._cancelled.add(command.request_id)
                else:
                    self._waiting.append(command)
        except (EOFError, OSError):
            # The client is gone, and with it every reason to go on.
            self.is_closing = True


def run(pipe: Connection, options: EngineOptions) -> None:
    """Answer commands until Shutdown, or until the client is gone."""
    prepare_process(options)
    _prepare_for_the_worst()
    inbox = Inbox(pipe)

    def emit(event: Event) -> None:
        # A client that went away is noticed by the inbox.
        with contextlib.suppress(OSError):
            pipe.send(event)

    try:
        # Not before prepare_process: this is what imports llama.cpp.
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
    """What a session can do while nothing is asked."""

    @property
    def holds_chats_in_ram(self) -> bool: ...

    def work_idle(self, is_wanted: Callable[[], bool]) -> None: ...


def use_quiet_time(inbox: Inbox, session: IdleWorker, first_s: float = IDLE_S, later_s: float = MEMORY_LOOK_S) -> None:
    """Once nothing is asked for ``first_s``, and then every ``later_s`` while there is something to give back."""
    is_quiet = inbox.is_quiet(first_s)
    while is_quiet:
        session.work_idle(lambda: not inbox.is_quiet(0))
        is_quiet = session.holds_chats_in_ram and inbox.is_quiet(later_s)


def _prepare_for_the_worst() -> None:
    """A crash leaves a stack in the log; Ctrl+C in a terminal is for the client alone; no client, no engine."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A daemon may have no process of its own, as templates need one. That one ends with its engine.
    multiprocessing.current_process().daemon = False
    end_with_parent()


def answer(carry_out: Callable[[Command], None], command: Command, emit: Callable[[Event], None]) -> None:
    """Carry out one command; whatever goes wrong in it is its one answer, and the process goes on."""
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

"""The client of the engine process, which it starts, supervises and restarts; imports neither Qt nor llama.cpp."""

from __future__ import annotations

import collections
import importlib
import itertools
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from engine.api.errors import ErrorCode
from engine.api.messages import (
    Cancel,
    ChatRestored,
    Command,
    CountTokens,
    EngineLost,
    EngineReady,
    Event,
    Failed,
    Finished,
    FinishReason,
    Generate,
    GenerationStats,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelLoaded,
    ModelUnloaded,
    Notice,
    NoticeCode,
    RestoreChat,
    SetTierBudgets,
    Shutdown,
    TokensCounted,
)
from engine.api.options import EngineOptions
from engine.api.sentences import Sentence
from engine.client import deadlines
from engine.client.process import EngineProcess, Run, read_log_tail
from engine.client.recovery import GAVE_UP, NOT_READY, NOT_STARTED, UNLOADED, Recovery, describe_exit

__all__ = ["EngineClient", "EngineOptions", "Recovery", "read_log_tail"]
"""The names that a program needs to run an engine; its messages are in ``engine.api.messages``."""

log = logging.getLogger("kvasir")

LOOK_PERIOD_S = 0.25
"""How often the reader checks its deadlines while no event arrives."""

_Request = Generate | RestoreChat | CountTokens | LoadModel
_Answer = Finished | Failed | ModelLoaded | LoadCancelled | TokensCounted | ChatRestored
_TOLD_ONCE = frozenset({NoticeCode.CPU_ONLY, NoticeCode.BACKEND_UNUSABLE})
"""Notices about the machine, which every new process would repeat."""


def run_worker(pipe: Connection, options: EngineOptions) -> None:
    """The main function of the engine process."""
    # Imported inside the new process, so that importing the client does not import llama.cpp.
    importlib.import_module("engine.worker.entry").run(pipe, options)


class EngineClient:
    """Runs one engine process at a time; every request is answered exactly once, until ``close``.

    ``on_event`` is called on the reader thread, one event after the other, and must neither block nor raise; once the
    client has given up, commands are answered on the sender's thread. All methods may be called from any thread and
    return at once; only ``close`` waits. A process that dies is started again with the model it had, unless that
    happens too often; EngineLost names the pending requests.
    """

    def __init__(
        self,
        on_event: Callable[[Event], None],
        options: EngineOptions,
        *,
        recovery: Recovery | None = None,
        run: Run = run_worker,
    ) -> None:
        self._on_event = on_event
        self._options = options
        self._recovery = recovery or Recovery()
        self._run = run
        # Guards everything below; never held during a blocking call.
        self._lock = threading.Lock()
        self._request_ids = itertools.count(1)
        self._reader: threading.Thread | None = None
        self._process: EngineProcess | None = None
        # Commands that can't be sent yet: there is no process, or it is starting or about to end.
        self._held: collections.deque[Command] = collections.deque()
        self._requests: dict[int, _Request] = {}
        self._cancelled: set[int] = set()
        # The loaded model, which is reloaded after a crash.
        self._model: LoadModel | None = None
        self._told: set[Notice] = set()
        self._has_given_up = self._is_closing = False
        # Why the client gave up.
        self._verdict = (ErrorCode.ENGINE_RESTARTS_EXHAUSTED, GAVE_UP)
        self._forget_process()

    def _forget_process(self) -> None:
        """Reset the state that belongs to one process."""
        self._process = None
        self._is_ready = self._is_unloading = False
        self._stage: LoadStage | None = None
        self._end_deadline: float | None = None
        # The deadline for EngineReady, and whether it was missed.
        self._deadline: float | None = None
        self._is_late = False
        self._start_failure: Failed | None = None

    def next_request_id(self) -> int:
        """A new id for a command that needs one."""
        return next(self._request_ids)

    def start(self) -> None:
        """Start the process, also after the client has given up; EngineReady (or EngineLost) follows."""
        with self._lock:
            if self._is_closing or (self._reader is not None and not self._has_given_up):
                return
            self._has_given_up = False
            self._recovery.note_new_try()
            reader = threading.Thread(target=self._keep_running, name="engine-reader", daemon=True)
            try:
                reader.start()
            except RuntimeError as error:
                events = self._give_up(None, ErrorCode.ENGINE_START_FAILED, NOT_STARTED, str(error))
            else:
                self._reader, events = reader, ()
        self._tell(events)

    def send(self, command: Command) -> None:
        """Send a command; one that can't reach the process is answered by EngineLost, never dropped silently."""
        with self._lock:
            if not self._has_given_up:
                if isinstance(command, _Request):
                    self._requests[command.request_id] = command
                if isinstance(command, SetTierBudgets):
                    self._options = replace(self._options, tiers=command.settings)
                if isinstance(command, Cancel) and command.request_id in self._requests:
                    self._cancelled.add(command.request_id)
                self._post(command)
                return
        if isinstance(command, _Request):
            code, sentence = self._verdict
            self._on_event(EngineLost(None, LossOutcome.GAVE_UP, code, sentence, "", (command.request_id,)))

    def unload(self) -> None:
        """Free all memory of the model: the process ends, and a new one without a model replaces it (ModelUnloaded)."""
        with self._lock:
            if not self._has_given_up:
                self._post(Shutdown())

    def close(self) -> None:
        """End the process and the reader thread; safe to call twice."""
        with self._lock:
            self._is_closing = True
            if self._process is not None and self._end_deadline is None:
                self._shut_down(self._process)
            reader = self._reader
        if reader is not None and reader is not threading.current_thread():
            reader.join()

    # Sending. Callers hold the lock.

    def _post(self, command: Command) -> None:
        self._held.append(command)
        self._flush()

    def _flush(self) -> None:
        """Send the held commands up to a Shutdown; those after it are for the next process.

        A starting process is sent nothing but a Shutdown: it may die before it reads a command.
        """
        if not self._is_ready and not any(isinstance(command, Shutdown) for command in self._held):
            return
        while self._held and self._process is not None and not self._is_unloading:
            command = self._held.popleft()
            if isinstance(command, Shutdown):
                self._is_unloading = True
                self._shut_down(self._process)
            else:
                self._process.send(command)

    def _shut_down(self, process: EngineProcess) -> None:
        process.send(Shutdown())
        self._end_deadline = time.monotonic() + deadlines.CLOSE_TIMEOUT_S

    # The reader thread

    def _keep_running(self) -> None:
        """Keep a process running until the client is closed or gives up."""
        while True:
            try:
                process = self._spawn()
            except Exception as error:  # noqa: BLE001 - every pending request is answered, whatever the error
                with self._lock:
                    events = self._give_up(None, ErrorCode.ENGINE_START_FAILED, NOT_STARTED, str(error))
                self._tell(events)
                return
            if process is None:
                return
            try:
                self._read(process)
            finally:
                exit_code = process.end(deadlines.CLOSE_TIMEOUT_S)
            if not self._after_death(exit_code):
                return

    def _spawn(self) -> EngineProcess | None:
        with self._lock:
            if self._is_closing:
                return None
            options = self._recovery.options_for_next(self._options)
        process = EngineProcess(self._run, options)
        with self._lock:
            self._process = process
            self._deadline = time.monotonic() + deadlines.START_TIMEOUT_S
            if self._is_closing:
                self._shut_down(process)
            self._flush()
        return process

    def _read(self, process: EngineProcess) -> None:
        """Pass events on until the process has ended."""
        while True:
            try:
                event = process.receive(LOOK_PERIOD_S)
            except (EOFError, OSError):
                return
            except Exception:
                # The message can't be decoded: start another process.
                log.exception("the engine's answer can't be used")
                process.kill()
                return
            with self._lock:
                events = self._note(event) if event is not None else self._answer_stopped()
                self._kill_if_late(process)
            self._tell(events)

    def _tell(self, events: tuple[Event, ...]) -> None:
        for event in events:
            try:
                self._on_event(event)
            except Exception:
                log.exception("an event was not taken")

    def _kill_if_late(self, process: EngineProcess) -> None:
        now = time.monotonic()
        if self._end_deadline is not None and now > self._end_deadline:
            process.kill()
        elif self._deadline is not None and now > self._deadline:
            self._is_late, self._deadline = True, None
            process.kill()

    def _answer_stopped(self) -> tuple[Event, ...]:
        """Answer cancelled requests that are still held for a starting process."""
        stopped = [
            command
            for command in self._held
            if isinstance(command, LoadModel | Generate | RestoreChat) and command.request_id in self._cancelled
        ]
        for command in stopped:
            self._held.remove(command)
            self._held.remove(Cancel(command.request_id))
            del self._requests[command.request_id]
            self._cancelled.discard(command.request_id)
        return tuple(answer_to_stopped(command) for command in stopped)

    def _note(self, event: Event) -> tuple[Event, ...]:
        """Record what is needed to explain a crash and to resume after it; returns the events to pass on."""
        self._deadline = None
        if isinstance(event, EngineReady):
            if self._is_late:
                # Too late: this process is being ended, and the next one takes the held commands.
                return ()
            self._is_ready = True
            lesson = self._recovery.note_ready(event)
            self._flush()
            if lesson is not None:
                return (event, Notice(NoticeCode.CPU_FALLBACK, lesson))
        elif isinstance(event, LoadProgress):
            self._stage, self._model = event.stage, None
        elif isinstance(event, Failed) and event.request_id is None and not self._is_ready:
            self._start_failure = event
            # The process ends after this message, unless native code hangs.
            self._end_deadline = time.monotonic() + deadlines.CLOSE_TIMEOUT_S
            return ()
        elif isinstance(event, _Answer):
            return self._note_answer(event)
        elif isinstance(event, Notice) and event.code in _TOLD_ONCE:
            if event in self._told:
                return ()
            self._told.add(event)
        return (event,)

    def _note_answer(self, event: _Answer) -> tuple[Event, ...]:
        if event.request_id is None:
            return (event,)
        request = self._requests.pop(event.request_id, None)
        self._cancelled.discard(event.request_id)
        if isinstance(event, Finished):
            self._recovery.note_success()
        if isinstance(request, LoadModel):
            self._stage, self._model = None, None
            if isinstance(event, ModelLoaded):
                self._model = request
                lesson = self._recovery.note_loaded()
                if lesson is not None:
                    return (Notice(NoticeCode.CPU_FALLBACK, lesson), event)
        return (event,)

    # After a crash. Only the reader thread calls these.

    def _after_death(self, exit_code: int | None) -> bool:
        """Report the end of the process and prepare the next one; returns whether there will be one."""
        with self._lock:
            if self._is_closing:
                return False
            events = self._after_unload(exit_code) if self._is_unloading else self._recover(exit_code)
            self._forget_process()
            goes_on = not self._has_given_up
        self._tell(events)
        return goes_on

    def _after_unload(self, exit_code: int | None) -> tuple[Event, ...]:
        self._model = None
        later = {command.request_id for command in self._held if isinstance(command, _Request)}
        left = tuple(request_id for request_id in self._requests if request_id not in later)
        if not left:
            return (ModelUnloaded(),)
        lost = self._lose(left, exit_code, ErrorCode.NO_MODEL, UNLOADED)
        return (lost, ModelUnloaded())

    def _recover(self, exit_code: int | None) -> tuple[Event, ...]:
        failure = self._start_failure
        if failure is not None:
            # A restart would fail in the same way.
            return self._give_up(exit_code, failure.code, failure.sentence, failure.detail)
        advice = self._recovery.after_death(exit_code, self._stage, is_late=self._is_late)
        if advice.retry:
            # A silent retry: the load and the requests queued behind it are sent to the next process.
            if self._is_ready:
                self._held.extend(self._requests.values())
                self._held.extend(Cancel(request_id) for request_id in self._cancelled if request_id in self._requests)
            return ()
        if not advice.restart:
            sentence = NOT_READY if self._is_late else GAVE_UP
            code = ErrorCode.ENGINE_START_FAILED if self._is_late else ErrorCode.ENGINE_RESTARTS_EXHAUSTED
            return self._give_up(exit_code, code, sentence, self._log_tail())
        sentence = describe_exit(exit_code, self._stage)
        is_load_lost = any(isinstance(request, LoadModel) for request in self._requests.values())
        lost = self._lose(tuple(self._requests), exit_code, ErrorCode.ENGINE_CRASHED, sentence)
        model, self._model = self._model, None
        if model is None or is_load_lost:
            return (lost,)
        model = replace(model, request_id=self.next_request_id())
        self._requests[model.request_id] = model
        self._held.append(model)
        return (replace(lost, reload_id=model.request_id),)

    def _lose(
        self, request_ids: tuple[int, ...], exit_code: int | None, code: ErrorCode, sentence: Sentence
    ) -> EngineLost:
        for request_id in request_ids:
            del self._requests[request_id]
            self._cancelled.discard(request_id)
        # Some may still be held for a process that never became ready.
        self._held = collections.deque(c for c in self._held if getattr(c, "request_id", None) not in request_ids)
        return EngineLost(exit_code, LossOutcome.RESTARTED, code, sentence, self._log_tail(), request_ids)

    def _give_up(self, exit_code: int | None, code: ErrorCode, sentence: Sentence, detail: str) -> tuple[Event, ...]:
        request_ids = tuple(self._requests)
        self._requests.clear()
        self._cancelled.clear()
        self._held.clear()
        self._model, self._has_given_up, self._verdict = None, True, (code, sentence)
        return (EngineLost(exit_code, LossOutcome.GAVE_UP, code, sentence, detail, request_ids),)

    def _log_tail(self) -> str:
        return read_log_tail(Path(self._options.log_path))


def answer_to_stopped(request: LoadModel | Generate | RestoreChat) -> Event:
    """The answer to a request that was cancelled before any process read it."""
    if isinstance(request, LoadModel):
        return LoadCancelled(request.request_id)
    if isinstance(request, RestoreChat):
        return ChatRestored(request.request_id)
    stats = GenerationStats.nothing(request.sampling.seed or 0)
    return Finished(request.request_id, FinishReason.CANCELLED, stats, "", "", ())

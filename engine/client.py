"""Starts the engine process, talks to it, notices when it dies and starts it again; free of Qt and of llama.cpp."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from engine.errors import ErrorCode
from engine.messages import (
    Command,
    CountTokens,
    EngineLost,
    EngineReady,
    Event,
    Failed,
    Finished,
    Generate,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelLoaded,
    ModelUnloaded,
    Notice,
    NoticeCode,
    RenderStarted,
    Shutdown,
    TokensCounted,
)
from engine.options import EngineOptions
from engine.recovery import Recovery, describe_exit

RENDER_TIMEOUT_S = 5.0
"""A chat template is untrusted code: a render that takes longer ends with its process."""
CLOSE_TIMEOUT_S = 3.0
"""How long a process may take to end after Shutdown before it is killed."""
LOG_TAIL_BYTES = 16_384


def run_worker(pipe: Connection, options: EngineOptions) -> None:
    """The main function of the engine process."""
    # By name, inside the new process: whoever imports the client does not import llama.cpp.
    importlib.import_module("engine.worker").run(pipe, options)


class EngineClient:
    """One engine process at a time, and the promise that every request is answered once.

    ``on_event`` is called on the reader thread, one event after the other. All methods may be called from any thread and
    return at once; ``close`` waits for the process. A process that dies is started again with the model it had, unless
    that happens too often; requests that were under way are named in EngineLost.
    """

    def __init__(
        self,
        on_event: Callable[[Event], None],
        options: EngineOptions,
        *,
        recovery: Recovery | None = None,
        run: Callable[[Connection, EngineOptions], None] = run_worker,
    ) -> None:
        self._on_event = on_event
        self._options = options
        self._recovery = recovery or Recovery()
        self._run = run
        self._context = multiprocessing.get_context("spawn")
        self._lock = threading.Lock()
        self._pipe: Connection | None = None
        self._process: BaseProcess | None = None
        self._reader: threading.Thread | None = None
        self._request_ids = itertools.count(1)
        self._open_requests: dict[int, Command] = {}
        self._model: LoadModel | None = None
        self._is_model_wanted = False
        self._stage: LoadStage | None = None
        self._render_deadline: float | None = None
        self._ended_for: ErrorCode | None = None
        self._closing = False

    def next_request_id(self) -> int:
        """A fresh id for a command that needs one."""
        return next(self._request_ids)

    def start(self) -> None:
        """Start the process; EngineReady (or EngineLost) follows."""
        with self._lock:
            if self._reader is None:
                self._spawn()
                self._reader = threading.Thread(target=self._read, name="engine-reader", daemon=True)
                self._reader.start()

    def send(self, command: Command) -> None:
        """Send a command; what can't reach the process is answered by EngineLost, never lost in silence."""
        with self._lock:
            if isinstance(command, (Generate, CountTokens, LoadModel)):
                self._open_requests[command.request_id] = command
            if isinstance(command, LoadModel):
                self._model, self._is_model_wanted = command, True
            self._write(command)

    def unload(self) -> None:
        """Give every byte back: the process ends, and a fresh one without a model takes its place (ModelUnloaded)."""
        with self._lock:
            self._model, self._is_model_wanted = None, False
            self._write(Shutdown())

    def close(self) -> None:
        """End the process and the reader thread; safe to call twice."""
        with self._lock:
            self._closing = True
            self._write(Shutdown())
            process, reader = self._process, self._reader
        if process is not None:
            process.join(CLOSE_TIMEOUT_S)
            if process.is_alive():
                process.kill()
                process.join()
        if reader is not None and reader is not threading.current_thread():
            reader.join()

    # The process. Callers hold the lock.

    def _spawn(self) -> None:
        options = replace(
            self._options,
            excluded_cpu_variants=self._options.excluded_cpu_variants + self._recovery.excluded_cpu_variants,
            without_extra_bufts=self._options.without_extra_bufts or self._recovery.without_extra_bufts,
        )
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=self._run, args=(theirs, options), name="kvasir-engine", daemon=True)
        process.start()
        theirs.close()
        self._pipe, self._process = ours, process
        self._stage, self._render_deadline, self._ended_for = None, None, None

    def _write(self, command: Command) -> None:
        if self._pipe is not None:
            # A broken pipe means that the process died: the reader notices and answers.
            with contextlib.suppress(OSError, ValueError):
                self._pipe.send(command)

    # The reader thread

    def _read(self) -> None:
        while True:
            pipe, process = self._pipe, self._process
            assert pipe is not None and process is not None
            for event in self._events_until_death(pipe, process):
                self._on_event(event)
            process.join(CLOSE_TIMEOUT_S)
            if process.is_alive():
                process.kill()
                process.join()
            pipe.close()
            if not self._after_death(process.exitcode):
                return

    def _events_until_death(self, pipe: Connection, process: BaseProcess) -> Iterator[Event]:
        while True:
            try:
                if not pipe.poll(0.1 if self._render_deadline else None):
                    self._kill_late_render(process)
                    continue
                event = pipe.recv()
            except (EOFError, OSError):
                return
            with self._lock:
                self._note(event)
            yield event

    def _kill_late_render(self, process: BaseProcess) -> None:
        if self._render_deadline is not None and time.monotonic() > self._render_deadline:
            self._render_deadline, self._ended_for = None, ErrorCode.TEMPLATE_TIMEOUT
            process.kill()

    def _note(self, event: Event) -> None:
        """Keep the little that is needed to explain a death and to resume after it."""
        self._render_deadline = time.monotonic() + RENDER_TIMEOUT_S if isinstance(event, RenderStarted) else None
        if isinstance(event, LoadProgress):
            self._stage = event.stage
        if (
            isinstance(event, (Finished, Failed, ModelLoaded, LoadCancelled, TokensCounted))
            and event.request_id is not None
        ):
            request = self._open_requests.pop(event.request_id, None)
            if isinstance(request, LoadModel):
                self._stage = None
                if not isinstance(event, ModelLoaded) and self._model is request:
                    self._is_model_wanted = False
        if isinstance(event, EngineReady):
            self._recovery.note_ready(event)
        if isinstance(event, Finished):
            self._recovery.note_success()

    def _after_death(self, exit_code: int | None) -> bool:
        """Explain the death, start again where that makes sense; whether the reader goes on reading."""
        with self._lock:
            if self._closing:
                return False
            if exit_code == 0 and not self._is_model_wanted and not self._open_requests:
                self._spawn()
                events: list[Event] = [ModelUnloaded()]
            else:
                events = self._recover(exit_code)
            goes_on = self._process is not None
        for event in events:
            self._on_event(event)
        return goes_on

    def _recover(self, exit_code: int | None) -> list[Event]:
        requests = dict(self._open_requests)
        log_tail = read_log_tail(Path(self._options.log_path))
        load = next((request for request in requests.values() if isinstance(request, LoadModel)), None)
        advice = self._recovery.after_death(self._stage, self._ended_for)
        if advice.retry_load and load is not None:
            # Asked for by nobody: the load goes on under its own id, the person only reads a notice.
            self._spawn()
            self._write(load)
            return [Notice(NoticeCode.CPU_FALLBACK, advice.message, log_tail)]
        self._open_requests.clear()
        code = self._ended_for or ErrorCode.ENGINE_CRASHED
        message = advice.message or describe_exit(exit_code, self._stage, self._ended_for)
        if load is not None:
            self._is_model_wanted = False
        if not advice.restart:
            self._pipe = self._process = self._reader = None
            code = ErrorCode.ENGINE_RESTARTS_EXHAUSTED
            return [EngineLost(exit_code, LossOutcome.GAVE_UP, code, message, log_tail, tuple(requests))]
        self._spawn()
        if self._is_model_wanted and self._model is not None:
            self._model = replace(self._model, request_id=self.next_request_id())
            self._open_requests[self._model.request_id] = self._model
            self._write(self._model)
        return [EngineLost(exit_code, LossOutcome.RESTARTED, code, message, log_tail, tuple(requests))]


def read_log_tail(path: Path) -> str:
    """The end of the engine's log file, or "" if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - LOG_TAIL_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""

"""Plans loads in a background process, so that planning neither waits for the engine nor crashes it."""

from __future__ import annotations

import importlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from engine.api.errors import ErrorCode
from engine.api.messages import EngineReady, Event, Failed, PlanAnswer, PlanQuestion
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.client import deadlines
from engine.client.machine import Machine, NativeCode
from engine.client.plan_queue import OnAnswer, PlanQueue
from engine.client.process import EngineProcess, read_log_tail
from engine.client.recovery import NOT_STARTED

IDLE_S = 10.0
"""An idle planner process ends after this time, since it holds memory."""
LOOK_PERIOD_S = 0.25
"""How often the reader checks its deadlines while no event arrives."""
LOG_NAME = "planner.log"
LATE = say(
    "llama.cpp does not say what these settings take: a graphics driver may hang. Until Kvasir is "
    "started again, memory is planned without the GPU."
)

CRASHED = say("llama.cpp stopped while it measured these settings, so they would stop a load too. Choose others.")

log = logging.getLogger("kvasir")


def run_planner(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """The main function of the planner process."""
    # Imported inside the new process, so that importing the planner does not import llama.cpp.
    importlib.import_module("engine.worker.planner_entry").run(pipe, options, idle_s)


class Planner:
    """Answers each question exactly once, until `close`: with the requested event, Failed or Superseded.

    ``on_answer`` is called on the planner's reader thread or on the caller's, one call at a time, with a lock held: it
    must not block, raise, or call the planner. ``ask`` starts a process when there is none and returns at once. A
    process that does not answer in time is ended, and the next one does not load GPU back ends; after a crash the
    question is retried with other CPU code, unless the ``machine`` has proven the code used. A process always uses the
    code that the engine would use now. The log is "planner.log", beside the engine's.
    """

    def __init__(
        self,
        options: EngineOptions,
        machine: Machine | None = None,
        *,
        idle_s: float = IDLE_S,
        run: Callable[..., None] = run_planner,
    ) -> None:
        self._options = replace(options, log_path=str(Path(options.log_path).with_name(LOG_NAME)))
        self._machine = machine or Machine()
        self._run = partial(run, idle_s=idle_s)
        self._lock = threading.Lock()
        # At most one question is in progress, so a crash identifies its question and the pipe never fills.
        self._questions = PlanQueue()
        # The deadline for the question in progress.
        self._deadline = 0.0
        self._is_closing = False
        self._process: EngineProcess | None = None
        self._reader: threading.Thread | None = None
        # The native code that the process uses, and its EngineReady.
        self._used = NativeCode()
        self._is_outdated = False
        self._ready: EngineReady | None = None

    def ask(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, *, is_urgent: bool = False) -> None:
        """Queue a question, replacing the one that this asker has queued."""
        with self._lock:
            if not self._is_closing:
                self._questions.put(asker, question, on_answer, is_urgent=is_urgent)
                self._ask_next()

    def forget(self, asker: str) -> None:
        """Withdraw this asker's questions."""
        with self._lock:
            if not self._is_closing:
                self._questions.forget(asker)

    def close(self) -> None:
        """End the process; no answer comes after this. Safe to call twice."""
        with self._lock:
            self._is_closing = True
            process, reader = self._process, self._reader
        if process is not None:
            # The process has no state to save, so it is killed.
            process.kill()
        if reader is not None and reader is not threading.current_thread():
            reader.join()

    # Callers hold the lock.

    def _ask_next(self) -> None:
        """Send the next question if none is in progress; start a process if there is none."""
        if not self._questions.is_waiting:
            return
        if self._process is None:
            try:
                self._process = self._start()
            except Exception as error:  # noqa: BLE001 - every question is answered, whatever the error
                self._questions.answer_all(Failed(None, ErrorCode.ENGINE_START_FAILED, NOT_STARTED, str(error)))
                return
        elif self._is_outdated or self._used != self._machine.code:
            # The engine uses other native code by now, so this process's plans would not match its allocations.
            self._is_outdated = True
            self._process.kill()
            return
        self._deadline = time.monotonic() + deadlines.PLAN_TIMEOUT_S
        # If the process is ending and does not read the question, the reader thread sends it again.
        self._process.send(self._questions.take())

    def _start(self) -> EngineProcess:
        self._used, self._ready, self._is_outdated = self._machine.code, None, False
        process = EngineProcess(self._run, self._used.applied(self._options), name="kvasir-planner")
        self._reader = threading.Thread(target=self._read, args=(process,), name="planner-reader", daemon=True)
        self._reader.start()
        return process

    # The reader thread, one for each process

    def _read(self, process: EngineProcess) -> None:
        try:
            while (event := self._receive(process)) is not None:
                with self._lock:
                    if not self._is_closing:
                        self._note(event)
        except (EOFError, OSError):
            pass
        except Exception:
            # The message can't be decoded: the next question gets another process.
            log.exception("the planner's answer can't be used")
            process.kill()
        if self._is_over_time():
            process.kill()
        exit_code = process.end(deadlines.CLOSE_TIMEOUT_S)
        with self._lock:
            self._process = self._reader = None
            if not self._is_closing:
                self._after_end(exit_code)
                self._ask_next()

    def _receive(self, process: EngineProcess) -> Event | None:
        """The next event; None if it does not come in time, or if the planner is closing."""
        while (event := process.receive(LOOK_PERIOD_S)) is None:
            if self._is_over_time():
                return None
        return event

    def _is_over_time(self) -> bool:
        with self._lock:
            return self._is_closing or self._is_late()

    # The reader thread, with the lock held

    def _is_late(self) -> bool:
        return self._questions.asked is not None and time.monotonic() > self._deadline

    def _note(self, event: Event) -> None:
        if isinstance(event, EngineReady):
            self._ready = event
            self._machine.note_ready(event)
        elif isinstance(event, PlanAnswer):
            self._questions.answer(event)
            self._ask_next()
        else:
            raise TypeError(f"not an answer: {event!r}")

    def _after_end(self, exit_code: int | None) -> None:
        """Queue the question in progress again for another process, or answer it with the reason of the crash."""
        if self._questions.asked is None:
            return
        if self._is_late():
            # Only the start of a GPU driver can take so long.
            self._options = replace(self._options, without_gpu=True)
            self._questions.answer(Failed(None, ErrorCode.ENGINE_START_FAILED, LATE))
        elif self._is_worth_another_try(exit_code):
            self._questions.put_back()
        else:
            log_tail = read_log_tail(Path(self._options.log_path))
            detail = f"exit code {exit_code}\n{log_tail}"
            self._questions.answer(Failed(None, ErrorCode.ENGINE_CRASHED, CRASHED, detail))

    def _is_worth_another_try(self, exit_code: int | None) -> bool:
        if exit_code == 0:
            # The process ended because it was idle, just as this question was sent.
            return self._questions.n_lost == 0
        ready = self._ready
        if ready is None or self._machine.is_proven(self._used):
            return False
        return self._machine.try_other_code(self._used, exit_code, ready.cpu_variant, ready.cpu_variants)

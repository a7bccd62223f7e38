"""Asks what a load would take, in a process of its own: it answers while a model generates, and may crash alone."""

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
from engine.client.log_tail import read_log_tail
from engine.client.machine import Machine, NativeCode
from engine.client.plan_queue import OnAnswer, PlanQueue
from engine.client.process import EngineProcess
from engine.client.recovery import NOT_STARTED

IDLE_S = 10.0
"""A planner that is asked nothing for this long ends: it holds memory."""
LOOK_PERIOD_S = 0.25
"""How often the reader looks at the clock while the process says nothing."""
LOG_NAME = "planner.log"
LATE = say(
    "llama.cpp does not say what these settings take: a graphics driver may hang. Until Kvasir is "
    "started again, memory is planned without the GPU."
)

CRASHED = say("llama.cpp stopped while it measured these settings, so they would stop a load too. Choose others.")

log = logging.getLogger("kvasir")


def run_planner(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """The main function of the planner process."""
    # By name, inside the new process: whoever imports the planner does not import llama.cpp.
    importlib.import_module("engine.worker.planner_entry").run(pipe, options, idle_s)


class Planner:
    """Answers each question once, until `close`: with what it asks for, with Failed, or with Superseded.

    ``on_answer`` is called on a thread of the planner's own or by what is called here, one after the other, with a lock
    held: it must neither block, nor raise, nor come back. ``ask`` starts a process when there is none and returns at
    once. A process that does not answer in time is ended, and the next one leaves the GPUs alone; one that crashes is
    tried again with other CPU code, unless the ``machine`` is known to stand that. A process always uses the code that
    the engine would use now. The log lies beside the engine's, as "planner.log".
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
        # At most one question is with the process, so a death names its cause and the pipe never fills.
        self._questions = PlanQueue()
        # By when what is asked must be answered.
        self._deadline = 0.0
        self._is_closing = False
        self._process: EngineProcess | None = None
        self._reader: threading.Thread | None = None
        # What the process uses, and what it said.
        self._used = NativeCode()
        self._is_outdated = False
        self._ready: EngineReady | None = None

    def ask(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, *, is_urgent: bool = False) -> None:
        """Ask, in place of a question of this asker that still waits."""
        with self._lock:
            if not self._is_closing:
                self._questions.put(asker, question, on_answer, is_urgent=is_urgent)
                self._ask_next()

    def forget(self, asker: str) -> None:
        """This asker wants no answer any more."""
        with self._lock:
            if not self._is_closing:
                self._questions.forget(asker)

    def close(self) -> None:
        """End the process; no answer comes after this. Safe to call twice."""
        with self._lock:
            self._is_closing = True
            process, reader = self._process, self._reader
        if process is not None:
            # It holds nothing that is worth a farewell.
            process.kill()
        if reader is not None and reader is not threading.current_thread():
            reader.join()

    # Callers hold the lock.

    def _ask_next(self) -> None:
        """Give the process a question if it has none; start it where there is none."""
        if not self._questions.is_waiting:
            return
        if self._process is None:
            try:
                self._process = self._start()
            except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked is answered
                self._questions.answer_all(Failed(None, ErrorCode.ENGINE_START_FAILED, NOT_STARTED, str(error)))
                return
        elif self._is_outdated or self._used != self._machine.code:
            # The engine has learnt better meanwhile: what this one plans is not what would be allocated.
            self._is_outdated = True
            self._process.kill()
            return
        self._deadline = time.monotonic() + deadlines.PLAN_TIMEOUT_S
        # What a process that is ending does not read is asked again by the reader.
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
            # What it says makes no sense: the next question has another one.
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
        """The next event; None if it does not come in time, or if nobody waits for one any more."""
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
        """Have another process do what this one did not, or say what it died of."""
        if self._questions.asked is None:
            return
        if self._is_late():
            # Starting a GPU's driver is all that can take so long.
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
            # It ended for want of questions, just when this one was on its way.
            return self._questions.n_lost == 0
        ready = self._ready
        if ready is None or self._machine.is_proven(self._used):
            return False
        return self._machine.try_other_code(self._used, exit_code, ready.cpu_variant, ready.cpu_variants)

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
from engine.api.messages import Event, Failed, PlanMemory
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.client import deadlines
from engine.client.log_tail import read_log_tail
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


log = logging.getLogger("kvasir")


def run_planner(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """The main function of the planner process."""
    # By name, inside the new process: whoever imports the planner does not import llama.cpp.
    importlib.import_module("engine.worker.planner_entry").run(pipe, options, idle_s)


class Planner:
    """Answers `PlanMemory` with `MemoryPlanned` or `Failed`; a question that still waits gives way to a newer one.

    ``on_answer`` is called on a thread of the planner's own, and by ``ask`` itself where no process can be started.
    ``ask`` starts the process when there is none and returns at once; ``close`` ends it. A process that does not answer
    in time is ended too, and the next one leaves the GPUs alone. The log lies beside the engine's, as "planner.log".
    """

    def __init__(
        self,
        on_answer: Callable[[Event], None],
        options: EngineOptions,
        *,
        idle_s: float = IDLE_S,
        run: Callable[..., None] = run_planner,
    ) -> None:
        self._on_answer = on_answer
        self._options = replace(options, log_path=str(Path(options.log_path).with_name(LOG_NAME)))
        self._run = partial(run, idle_s=idle_s)
        self._lock = threading.Lock()
        self._process: EngineProcess | None = None
        self._reader: threading.Thread | None = None
        # At most one question is with the process, so a death names its cause and the pipe never fills.
        self._asked: PlanMemory | None = None
        self._waiting: PlanMemory | None = None
        # By when what is asked must be answered.
        self._deadline = 0.0
        self._is_closing = False

    def ask(self, question: PlanMemory) -> None:
        """Ask, in place of any question that still waits."""
        with self._lock:
            if self._is_closing:
                return
            failures = self._ask_now(question)
        self._tell(failures)

    def close(self) -> None:
        """End the process; no answer comes after this. Safe to call twice."""
        with self._lock:
            self._is_closing, self._waiting = True, None
            process, reader = self._process, self._reader
        if process is not None:
            # It holds nothing that is worth a farewell.
            process.kill()
        if reader is not None and reader is not threading.current_thread():
            reader.join()

    # Callers hold the lock.

    def _ask_now(self, question: PlanMemory) -> list[Failed]:
        """Start a process where there is none; what to say if that can't be."""
        self._waiting = question
        if self._process is None:
            try:
                self._process = EngineProcess(self._run, self._options, name="kvasir-planner")
            except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked is answered
                self._waiting = None
                return [Failed(question.request_id, ErrorCode.ENGINE_START_FAILED, NOT_STARTED, str(error))]
            self._reader = threading.Thread(
                target=self._read, args=(self._process,), name="planner-reader", daemon=True
            )
            self._reader.start()
        self._send_waiting()
        return []

    def _send_waiting(self) -> None:
        if self._asked is not None or self._waiting is None or self._process is None:
            return
        self._asked, self._waiting = self._waiting, None
        self._deadline = time.monotonic() + deadlines.PLAN_TIMEOUT_S
        # What a process that is ending does not read is asked again by the reader.
        self._process.send(self._asked)

    # The reader thread, one for each process

    def _read(self, process: EngineProcess) -> None:
        try:
            while (answer := self._receive(process)) is not None:
                with self._lock:
                    self._asked = None
                    self._send_waiting()
                    is_closing = self._is_closing
                if not is_closing:
                    self._on_answer(answer)
        except (EOFError, OSError):
            pass
        except Exception:
            # What it says makes no sense: the next question has another one.
            log.exception("the planner's answer can't be used")
            process.kill()
        if self._is_over_time():
            process.kill()
        self._tell(self._after_end(process.end(deadlines.CLOSE_TIMEOUT_S)))

    def _tell(self, failures: list[Failed]) -> None:
        for failure in failures:
            self._on_answer(failure)

    def _receive(self, process: EngineProcess) -> Event | None:
        """The next answer; None if it does not come in time, or if nobody waits for one any more."""
        while (answer := process.receive(LOOK_PERIOD_S)) is None:
            if self._is_over_time():
                return None
        return answer

    def _is_over_time(self) -> bool:
        with self._lock:
            return self._is_closing or (self._asked is not None and time.monotonic() > self._deadline)

    def _after_end(self, exit_code: int | None) -> list[Failed]:
        """Start again where a question waits; what to say of that, and of the one that the process died of."""
        with self._lock:
            asked, self._asked = self._asked, None
            is_late = asked is not None and time.monotonic() > self._deadline
            if is_late:
                # Starting a GPU's driver is all that can take so long.
                self._options = replace(self._options, without_gpu=True)
            self._process = self._reader = None
            if self._is_closing:
                return []
            # It may have ended for want of questions, just when one was on its way.
            next_one = self._waiting or (asked if exit_code == 0 else None)
            failures = self._ask_now(next_one) if next_one is not None else []
        if exit_code == 0 or asked is None:
            return failures
        if is_late:
            return [Failed(asked.request_id, ErrorCode.ENGINE_START_FAILED, LATE), *failures]
        crashed = Failed(
            asked.request_id,
            ErrorCode.ENGINE_CRASHED,
            say("llama.cpp stopped while it measured these settings, so they would stop a load too. Choose others."),
            f"exit code {exit_code}\n{read_log_tail(Path(self._options.log_path))}",
        )
        return [crashed, *failures]

"""Planner processes for the planner's tests: they answer with their process id, and do what a question's path says."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from engine.api.errors import ErrorCode
from engine.api.messages import Device, EngineReady, Failed, MemoryPlanned, PlanQuestion
from engine.api.options import EngineOptions
from engine.api.plan import MemoryPlan
from engine.api.sentences import Sentence

DIE, CRASH = "die", "crash"
"""The paths of questions that end the process from outside, and from inside."""
READY = EngineReady({}, ("CPU",), (Device("CPU", "A processor", "cpu", "CPU", 1, 2),), "fast", ("fast", "plain"))
LAST_WORDS = "a failed assert"


def run_fake(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """Answer at once; die of DIE; for a path that is a port, wait until the test closes the connection."""
    try:
        while pipe.poll(idle_s):
            question: PlanQuestion = pipe.recv()
            if question.path == DIE:
                Path(options.log_path).write_text(LAST_WORDS)
                os.kill(os.getpid(), signal.SIGKILL)
            if question.path.isdigit():
                with socket.create_connection(("127.0.0.1", int(question.path))) as gate:
                    gate.recv(1)
            pipe.send(MemoryPlanned(plan_by(os.getpid())))
    except (EOFError, OSError):
        return


def run_with_hanging_gpu(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """A driver that never comes back, where it is asked at all."""
    if not options.without_gpu:
        signal.pause()
    run_fake(pipe, options, idle_s)


def run_leaving(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """The first process ends just when a question comes; the next ones answer."""
    marker = Path(options.log_path).with_name("left")
    if not marker.exists():
        pipe.poll(None)
        marker.touch()
        return
    run_fake(pipe, options, idle_s)


def run_leaving_always(pipe: Connection, _options: EngineOptions, _idle_s: float) -> None:
    """Every process ends when a question comes."""
    pipe.poll(None)


def run_telling_code(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """Answers with what it was started with."""
    with contextlib.suppress(EOFError, OSError):
        while pipe.poll(idle_s):
            pipe.recv()
            pipe.send(Failed(None, ErrorCode.SETTING_INVALID, Sentence(code_text(options))))


def run_on_fast_machine(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """The fastest CPU code crashes, and CRASH does so with all others, too."""
    with contextlib.suppress(EOFError, OSError):
        while pipe.poll(idle_s):
            question: PlanQuestion = pipe.recv()
            pipe.send(replace(READY, cpu_variant="plain" if options.excluded_cpu_variants else "fast"))
            if not options.excluded_cpu_variants or question.path == CRASH:
                os.kill(os.getpid(), signal.SIGSEGV)
            pipe.send(Failed(None, ErrorCode.SETTING_INVALID, Sentence(code_text(options))))


def code_text(options: EngineOptions) -> str:
    return f"{options.excluded_cpu_variants} {options.without_extra_bufts} {options.without_gpu}"


def plan_by(process_id: int) -> MemoryPlan:
    """A plan that tells which process made it."""
    return MemoryPlan(process_id, 0, 0, 0, True, True, (), ())


def run_talking_nonsense(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """The first process says what is no answer; the next ones answer."""
    marker = Path(options.log_path).with_name("said")
    if not marker.exists():
        marker.touch()
        pipe.send("nonsense")
    run_fake(pipe, options, idle_s)

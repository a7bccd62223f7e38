"""Planner processes for the planner's tests: they answer with their process id, and do what a question's path says."""

from __future__ import annotations

import os
import signal
import socket
from multiprocessing.connection import Connection
from pathlib import Path

from engine.api.messages import MemoryPlanned, PlanMemory
from engine.api.options import EngineOptions
from engine.api.plan import MemoryPlan

DIE = "die"
"""The path of a question that kills the process."""
LAST_WORDS = "a failed assert"


def run_fake(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """Answer at once; die of DIE; for a path that is a port, wait until the test closes the connection."""
    try:
        while pipe.poll(idle_s):
            question: PlanMemory = pipe.recv()
            if question.path == DIE:
                Path(options.log_path).write_text(LAST_WORDS)
                os.kill(os.getpid(), signal.SIGKILL)
            if question.path.isdigit():
                with socket.create_connection(("127.0.0.1", int(question.path))) as gate:
                    gate.recv(1)
            pipe.send(MemoryPlanned(question.request_id, plan_by(os.getpid())))
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


def plan_by(process_id: int) -> MemoryPlan:
    """A plan that tells which process made it."""
    return MemoryPlan(process_id, 0, 0, 0, True, True, (), ())

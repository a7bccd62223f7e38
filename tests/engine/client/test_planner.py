"""The planner's promises: the newest question is answered, a process only while it is asked, no death that spreads."""

from __future__ import annotations

import multiprocessing
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil
import pytest

from engine.api.errors import ErrorCode
from engine.api.messages import Failed, MemoryPlanned, PlanMemory
from engine.api.options import EngineOptions
from engine.api.settings import CacheType, LoadSettings
from engine.client import deadlines
from engine.client.planner import Planner, run_planner
from tests.engine.client.fake_planners import DIE, LAST_WORDS, run_fake, run_leaving, run_with_hanging_gpu
from tests.engine.client.first_short import FirstShort
from tests.engine.client.listener import PATIENCE_S, Listener

NewPlanner = Callable[..., tuple[Planner, Listener]]


@pytest.fixture
def new_planner(tmp_path: Path) -> Iterator[NewPlanner]:
    planners: list[Planner] = []

    def make(run: Callable[..., None] = run_fake, idle_s: float = PATIENCE_S) -> tuple[Planner, Listener]:
        heard = Listener()
        options = EngineOptions(log_path=str(tmp_path / "engine.log"))
        planners.append(Planner(heard.hear, options, idle_s=idle_s, run=run))
        return planners[-1], heard

    yield make
    for planner in planners:
        planner.close()


@pytest.fixture
def gate() -> Iterator[socket.socket]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(PATIENCE_S)
        yield server


def held_question(request_id: int, gate: socket.socket) -> PlanMemory:
    """A question that is answered once the test closes the connection that comes in at the gate."""
    return PlanMemory(request_id, str(gate.getsockname()[1]))


def test_questions_are_answered_by_one_process(new_planner: NewPlanner) -> None:
    planner, heard = new_planner()
    makers = set()
    for request_id in range(3):
        planner.ask(PlanMemory(request_id, "model"))
        answer = heard.wait(MemoryPlanned)
        assert answer.request_id == request_id
        makers.add(answer.plan.n_ctx)
    assert len(makers) == 1


def test_a_question_that_waits_gives_way_to_a_newer_one(new_planner: NewPlanner, gate: socket.socket) -> None:
    planner, heard = new_planner()
    planner.ask(held_question(1, gate))
    connection, _ = gate.accept()
    planner.ask(PlanMemory(2, "model"))
    planner.ask(PlanMemory(3, "model"))
    connection.close()
    heard.wait(MemoryPlanned, lambda answer: answer.request_id == 3)
    assert [answer.request_id for answer in heard.of(MemoryPlanned)] == [1, 3]


def refuse_to_start(_process: BaseProcess) -> None:
    raise BlockingIOError("no more processes")


def test_a_process_that_can_not_be_started_is_told(new_planner: NewPlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    planner, heard = new_planner()
    with monkeypatch.context() as full:
        full.setattr(BaseProcess, "start", refuse_to_start)
        planner.ask(PlanMemory(1, "model"))
    failed = heard.wait(Failed)
    assert (failed.request_id, failed.code) == (1, ErrorCode.ENGINE_START_FAILED)
    planner.ask(PlanMemory(2, "model"))
    assert heard.wait(MemoryPlanned).request_id == 2


def test_what_waited_behind_a_death_is_told_where_no_other_process_starts(
    new_planner: NewPlanner, gate: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner, heard = new_planner()
    planner.ask(held_question(1, gate))
    connection, _ = gate.accept()
    planner.ask(PlanMemory(2, "model"))
    monkeypatch.setattr(BaseProcess, "start", refuse_to_start)
    for child in multiprocessing.active_children():
        child.kill()
    failures = [heard.wait(Failed), heard.wait(Failed)]
    connection.close()
    assert [(failed.request_id, failed.code) for failed in failures] == [
        (1, ErrorCode.ENGINE_CRASHED),
        (2, ErrorCode.ENGINE_START_FAILED),
    ]


@pytest.mark.skipif(os.name != "posix", reason="the played process waits for a signal")
def test_a_driver_that_hangs_costs_one_answer(new_planner: NewPlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "PLAN_TIMEOUT_S", FirstShort())
    planner, heard = new_planner(run_with_hanging_gpu)
    planner.ask(PlanMemory(1, "model"))
    failed = heard.wait(Failed)
    assert (failed.request_id, failed.code) == (1, ErrorCode.ENGINE_START_FAILED)
    assert "without the GPU" in failed.message
    planner.ask(PlanMemory(2, "model"))
    assert heard.wait(MemoryPlanned).request_id == 2


@pytest.mark.skipif(os.name != "posix", reason="the played process waits for a signal")
def test_a_planner_that_hangs_is_closed_at_once(new_planner: NewPlanner) -> None:
    planner, heard = new_planner(run_with_hanging_gpu)
    planner.ask(PlanMemory(1, "model"))
    planner.close()
    assert heard.drain() == []


def test_an_idle_process_ends_and_the_next_question_starts_another(new_planner: NewPlanner) -> None:
    planner, heard = new_planner(idle_s=0.05)
    planner.ask(PlanMemory(1, "model"))
    first = heard.wait(MemoryPlanned).plan.n_ctx
    for thread in threading.enumerate():
        if thread.name == "planner-reader":
            thread.join(PATIENCE_S)
    assert not psutil.pid_exists(first)
    planner.ask(PlanMemory(2, "model"))
    assert heard.wait(MemoryPlanned).plan.n_ctx != first
    assert not heard.of(Failed)


def test_a_question_that_meets_an_ending_process_is_asked_again(new_planner: NewPlanner) -> None:
    planner, heard = new_planner(run_leaving)
    planner.ask(PlanMemory(1, "model"))
    assert heard.wait(MemoryPlanned).request_id == 1
    assert not heard.of(Failed)


def test_a_crash_fails_its_question_alone(new_planner: NewPlanner, gate: socket.socket) -> None:
    planner, heard = new_planner()
    planner.ask(held_question(1, gate))
    connection, _ = gate.accept()
    planner.ask(PlanMemory(2, DIE))
    connection.close()
    failed = heard.wait(Failed)
    assert (failed.request_id, failed.code) == (2, ErrorCode.ENGINE_CRASHED)
    assert LAST_WORDS in failed.detail
    planner.ask(PlanMemory(3, "model"))
    assert heard.wait(MemoryPlanned).request_id == 3


def test_a_crash_keeps_the_question_that_waits(new_planner: NewPlanner, gate: socket.socket) -> None:
    planner, heard = new_planner()
    planner.ask(held_question(1, gate))
    connection, _ = gate.accept()
    planner.ask(PlanMemory(2, "model"))
    process = psutil.Process(next(child.pid for child in psutil.Process().children() if "spawn" in command_of(child)))
    process.kill()
    connection.close()
    assert heard.wait(MemoryPlanned).request_id == 2


def command_of(process: psutil.Process) -> str:
    return " ".join(process.cmdline()).replace("resource_tracker", "")


def test_close_ends_a_process_at_work_and_no_answer_follows(new_planner: NewPlanner, gate: socket.socket) -> None:
    planner, heard = new_planner()
    planner.ask(held_question(1, gate))
    connection, _ = gate.accept()
    planner.close()
    planner.close()
    planner.ask(PlanMemory(2, "model"))
    connection.close()
    assert heard.drain() == []


def test_a_planner_that_was_asked_nothing_closes(new_planner: NewPlanner) -> None:
    planner, _ = new_planner()
    planner.close()


def test_the_real_process_plans_and_outlives_a_wrong_file(
    new_planner: NewPlanner, tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    planner, heard = new_planner(run_planner)
    path = str(tiny_model(n_ctx_train=512))
    planner.ask(PlanMemory(1, str(tmp_path / "missing.gguf")))
    assert heard.wait(Failed).code is ErrorCode.MODEL_NOT_FOUND
    planner.ask(PlanMemory(2, path, LoadSettings(n_ctx=300, type_v=CacheType.Q8_0, n_gpu_layers=0)))
    plan = heard.wait(MemoryPlanned).plan
    assert plan.n_ctx == 512
    assert (plan.kv_bytes_k, plan.kv_bytes_v) == (2 * 512 * 64 * 2, 2 * 512 * 64 // 32 * 34)
    assert plan.fits
    planner.ask(PlanMemory(3, path, LoadSettings(n_ctx=0)))
    assert heard.wait(Failed).code is ErrorCode.SETTING_INVALID
    assert (tmp_path / "planner.log").exists()

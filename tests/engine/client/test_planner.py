"""The planner's promises: each question has one answer, a process only while it is asked, no death that spreads."""

from __future__ import annotations

import multiprocessing
import os
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil
import pytest

from engine.api.errors import ErrorCode
from engine.api.messages import Failed, MemoryPlanned, PlanAnswer, PlanMemory, PlanQuestion, Superseded
from engine.api.options import EngineOptions
from engine.api.settings import CacheType, LoadSettings
from engine.client import deadlines
from engine.client.machine import Machine, NativeCode
from engine.client.planner import Planner, run_planner
from tests.engine.client.fake_planners import (
    CRASH,
    DIE,
    LAST_WORDS,
    READY,
    run_fake,
    run_leaving,
    run_leaving_always,
    run_on_fast_machine,
    run_talking_nonsense,
    run_telling_code,
    run_with_hanging_gpu,
)
from tests.engine.client.first_short import FirstShort
from tests.engine.client.listener import PATIENCE_S


class Talk:
    """A planner, and what it answers; a question is known by its number, the first is 0."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self.answers: list[tuple[int, PlanAnswer]] = []
        self._queue: queue.SimpleQueue[tuple[int, PlanAnswer]] = queue.SimpleQueue()
        self._n_asked = 0

    def ask(self, question: PlanQuestion | str = "model", *, asker: str = "somebody", is_urgent: bool = False) -> int:
        number, self._n_asked = self._n_asked, self._n_asked + 1
        question = PlanMemory(question) if isinstance(question, str) else question
        self.planner.ask(asker, question, lambda one: self._queue.put((number, one)), is_urgent=is_urgent)
        return number

    def wait(self, number: int) -> PlanAnswer:
        """The answer to a question; those that come before it are taken, too."""
        while number not in dict(self.drain()):
            try:
                self.answers.append(self._queue.get(timeout=PATIENCE_S))
            except queue.Empty:
                raise AssertionError(f"no answer to {number} in {self.answers}") from None
        return dict(self.answers)[number]

    def process_of(self, number: int) -> int:
        """The process that answered a question."""
        answer = self.wait(number)
        assert isinstance(answer, MemoryPlanned)
        return answer.plan.n_ctx

    def failed(self, number: int) -> Failed:
        answer = self.wait(number)
        assert isinstance(answer, Failed)
        return answer

    def drain(self) -> list[tuple[int, PlanAnswer]]:
        while not self._queue.empty():
            self.answers.append(self._queue.get())
        return self.answers


NewTalk = Callable[..., Talk]


@pytest.fixture
def new_talk(tmp_path: Path) -> Iterator[NewTalk]:
    talks: list[Talk] = []

    def make(run: Callable[..., None] = run_fake, idle_s: float = PATIENCE_S, machine: Machine | None = None) -> Talk:
        options = EngineOptions(log_path=str(tmp_path / "engine.log"))
        talks.append(Talk(Planner(options, machine, idle_s=idle_s, run=run)))
        return talks[-1]

    yield make
    for talk in talks:
        talk.planner.close()


@pytest.fixture
def gate() -> Iterator[socket.socket]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(PATIENCE_S)
        yield server


def held(gate: socket.socket) -> str:
    """The path of a question that is answered once the test closes the connection that comes in at the gate."""
    return str(gate.getsockname()[1])


def test_questions_are_answered_by_one_process(new_talk: NewTalk) -> None:
    talk = new_talk()
    assert len({talk.process_of(talk.ask()) for _ in range(3)}) == 1


def test_of_one_asker_the_newest_waits_and_of_all_others_each(new_talk: NewTalk, gate: socket.socket) -> None:
    talk = new_talk()
    first = talk.ask(held(gate), asker="slider")
    connection, _ = gate.accept()
    older, other, newer = talk.ask(asker="slider"), talk.ask(asker="library"), talk.ask(asker="slider")
    assert talk.wait(older) == Superseded()
    connection.close()
    talk.wait(other)
    assert [number for number, _ in talk.answers] == [older, first, newer, other]


def test_what_is_urgent_comes_first(new_talk: NewTalk, gate: socket.socket) -> None:
    talk = new_talk()
    talk.ask(held(gate))
    connection, _ = gate.accept()
    patient, urgent = talk.ask(asker="library"), talk.ask(asker="slider", is_urgent=True)
    connection.close()
    talk.wait(patient)
    assert [number for number, _ in talk.answers] == [0, urgent, patient]


def test_what_is_forgotten_is_answered_at_once_and_holds_nothing_up(new_talk: NewTalk, gate: socket.socket) -> None:
    talk = new_talk()
    forgotten = talk.ask(held(gate), asker="slider")
    connection, _ = gate.accept()
    other = talk.ask(asker="library")
    talk.planner.forget("slider")
    assert talk.wait(forgotten) == Superseded()
    connection.close()
    talk.process_of(other)
    assert [number for number, _ in talk.answers] == [forgotten, other]


def refuse_to_start(_process: BaseProcess) -> None:
    raise BlockingIOError("no more processes")


def test_a_process_that_can_not_be_started_is_told(new_talk: NewTalk, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = new_talk()
    with monkeypatch.context() as full:
        full.setattr(BaseProcess, "start", refuse_to_start)
        assert talk.failed(talk.ask()).code is ErrorCode.ENGINE_START_FAILED
    talk.process_of(talk.ask())


def test_all_that_waited_behind_a_death_is_told_where_no_other_process_starts(
    new_talk: NewTalk, gate: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = new_talk()
    talk.ask(held(gate))
    connection, _ = gate.accept()
    others = [talk.ask(asker=asker) for asker in ("slider", "library")]
    monkeypatch.setattr(BaseProcess, "start", refuse_to_start)
    for child in multiprocessing.active_children():
        child.kill()
    assert talk.failed(0).code is ErrorCode.ENGINE_CRASHED
    assert {talk.failed(number).code for number in others} == {ErrorCode.ENGINE_START_FAILED}
    connection.close()


@pytest.mark.skipif(os.name != "posix", reason="the played process waits for a signal")
def test_a_driver_that_hangs_costs_one_answer(new_talk: NewTalk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "PLAN_TIMEOUT_S", FirstShort())
    talk = new_talk(run_with_hanging_gpu)
    failed = talk.failed(talk.ask())
    assert failed.code is ErrorCode.ENGINE_START_FAILED
    assert "without the GPU" in failed.message
    talk.process_of(talk.ask())


@pytest.mark.skipif(os.name != "posix", reason="the played process waits for a signal")
def test_a_driver_of_which_the_engine_knows_that_it_hangs_costs_none(new_talk: NewTalk) -> None:
    machine = Machine()
    machine.set_without_gpu(True)
    talk = new_talk(run_with_hanging_gpu, machine=machine)
    talk.process_of(talk.ask())


@pytest.mark.skipif(os.name != "posix", reason="the played process waits for a signal")
def test_a_planner_that_hangs_is_closed_at_once(new_talk: NewTalk) -> None:
    talk = new_talk(run_with_hanging_gpu)
    talk.ask()
    talk.planner.close()
    assert talk.drain() == []


def wait_for_the_end_of_the_process() -> None:
    for thread in threading.enumerate():
        if thread.name == "planner-reader":
            thread.join(PATIENCE_S)


def test_an_idle_process_ends_and_the_next_question_starts_another(new_talk: NewTalk) -> None:
    talk = new_talk(idle_s=0.05)
    first = talk.process_of(talk.ask())
    wait_for_the_end_of_the_process()
    assert not psutil.pid_exists(first)
    assert talk.process_of(talk.ask()) != first


def test_a_question_that_meets_an_ending_process_is_asked_again(new_talk: NewTalk) -> None:
    talk = new_talk(run_leaving)
    talk.process_of(talk.ask())


def test_a_process_that_always_ends_is_not_started_for_ever(new_talk: NewTalk) -> None:
    talk = new_talk(run_leaving_always)
    assert talk.failed(talk.ask()).code is ErrorCode.ENGINE_CRASHED


@pytest.mark.expected_log("the planner's answer can't be used")
def test_a_process_that_talks_nonsense_fails_its_question_alone(new_talk: NewTalk, gate: socket.socket) -> None:
    talk = new_talk(run_talking_nonsense)
    assert talk.failed(talk.ask(held(gate))).code is ErrorCode.ENGINE_CRASHED
    talk.process_of(talk.ask())


def test_a_crash_fails_its_question_alone(new_talk: NewTalk, gate: socket.socket) -> None:
    talk = new_talk()
    talk.ask(held(gate))
    connection, _ = gate.accept()
    deadly, other = talk.ask(DIE, asker="slider"), talk.ask(asker="library")
    connection.close()
    failed = talk.failed(deadly)
    assert failed.code is ErrorCode.ENGINE_CRASHED
    assert LAST_WORDS in failed.detail
    talk.process_of(other)
    talk.process_of(talk.ask())


# What was learnt about the CPU code


def code_of(answer: PlanAnswer) -> str:
    """What a process that tells it said it was started with."""
    assert isinstance(answer, Failed)
    return answer.message


def test_a_process_uses_what_the_engine_would_use_now(new_talk: NewTalk) -> None:
    machine = Machine()
    talk = new_talk(run_telling_code, machine=machine)
    assert code_of(talk.wait(talk.ask())) == "() False False"
    assert machine.try_other_code(machine.code, -11, "fast", ("fast", "plain"))
    assert code_of(talk.wait(talk.ask())) == "('fast',) False False"
    machine.set_without_gpu(True)
    assert code_of(talk.wait(talk.ask())) == "('fast',) False True"


def test_a_crash_of_the_cpu_code_is_survived_and_kept_once_a_model_is_loaded_so(
    new_talk: NewTalk, tmp_path: Path
) -> None:
    memory = tmp_path / "machine.json"
    machine = Machine(memory)
    talk = new_talk(run_on_fast_machine, machine=machine)
    assert code_of(talk.wait(talk.ask())) == "('fast',) False False"
    assert not memory.exists()
    assert machine.note_loaded(machine.code, READY)
    assert Machine(memory).code == NativeCode(("fast",))


def test_a_question_that_no_code_survives_is_told_and_teaches_nothing(new_talk: NewTalk) -> None:
    machine = Machine()
    talk = new_talk(run_on_fast_machine, machine=machine)
    assert talk.failed(talk.ask(CRASH)).code is ErrorCode.ENGINE_CRASHED
    assert machine.code == NativeCode()


def test_code_that_a_model_was_loaded_with_is_not_blamed(new_talk: NewTalk) -> None:
    machine = Machine()
    machine.note_loaded(machine.code, READY)
    talk = new_talk(run_on_fast_machine, machine=machine)
    assert talk.failed(talk.ask()).code is ErrorCode.ENGINE_CRASHED
    assert machine.code == NativeCode()


def test_close_ends_a_process_at_work_and_no_answer_follows(new_talk: NewTalk, gate: socket.socket) -> None:
    talk = new_talk()
    talk.ask(held(gate))
    connection, _ = gate.accept()
    talk.planner.close()
    talk.planner.close()
    talk.ask()
    talk.planner.forget("somebody")
    connection.close()
    assert talk.drain() == []


def test_a_planner_that_was_asked_nothing_closes(new_talk: NewTalk) -> None:
    talk = new_talk()
    talk.planner.close()
    talk.ask()
    assert talk.drain() == [], "nobody hears of a planner that is closed"


def test_the_real_process_plans_and_outlives_a_wrong_file(
    new_talk: NewTalk, tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    talk = new_talk(run_planner)
    path = str(tiny_model(n_ctx_train=512))
    assert talk.failed(talk.ask(str(tmp_path / "missing.gguf"))).code is ErrorCode.MODEL_NOT_FOUND
    settings = LoadSettings(n_ctx=300, type_v=CacheType.Q8_0, n_gpu_layers=0)
    answer = talk.wait(talk.ask(PlanMemory(path, settings)))
    assert isinstance(answer, MemoryPlanned)
    plan = answer.plan
    assert plan.n_ctx == 512
    assert (plan.kv_bytes_k, plan.kv_bytes_v) == (2 * 512 * 64 * 2, 2 * 512 * 64 // 32 * 34)
    assert plan.fits
    assert talk.failed(talk.ask(PlanMemory(path, LoadSettings(n_ctx=0)))).code is ErrorCode.SETTING_INVALID
    assert (tmp_path / "planner.log").exists()

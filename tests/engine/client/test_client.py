"""The client's promises, kept against processes that die in every way: answered once, started again, nothing lost."""

from __future__ import annotations

import errno
import random
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import psutil
import pytest

from engine.api.errors import ErrorCode
from engine.api.messages import (
    EngineLost,
    EngineReady,
    Event,
    Failed,
    Finished,
    FinishReason,
    Generate,
    LoadCancelled,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelLoaded,
    ModelUnloaded,
    Notice,
    TextGenerated,
)
from engine.client import deadlines
from engine.client.client import Recovery
from tests.engine.client import fake_workers
from tests.engine.client.client_desk import Desk
from tests.engine.client.fake_workers import message
from tests.engine.client.listener import answered_by


def test_a_request_is_answered_and_close_leaves_no_process(desk: Callable[..., Desk]) -> None:
    one = desk(start=False)
    # What is sent before the start waits for the process.
    load = one.load()
    one.client.start()
    pid = int(one.heard.wait(EngineReady).versions["pid"])
    assert one.heard.wait(ModelLoaded).request_id == load
    assert one.heard.wait_for_answer(one.ask("hello")) == one.heard.of(Finished)[-1]
    one.client.close()
    one.client.close()
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize("name", ["engine-reader", "engine-writer"])
def test_a_thread_that_can_not_be_started_is_told_and_the_next_try_works(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = set(psutil.Process().children())
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == name:
            raise RuntimeError("can't start new thread")
        start(thread)

    one = desk(start=False)
    load = one.load()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        one.client.start()
        lost = one.heard.wait(EngineLost)
    assert (lost.outcome, lost.code, lost.request_ids) == (LossOutcome.GAVE_UP, ErrorCode.ENGINE_START_FAILED, (load,))
    assert "new thread" in lost.log_tail
    left = [child for child in set(psutil.Process().children()) - before if "spawn_main" in " ".join(child.cmdline())]
    assert left == []
    one.client.start()
    one.load()
    assert one.heard.wait_for_answer(one.ask("hello")) == one.heard.of(Finished)[-1]


@pytest.mark.parametrize(("name", "words"), [("kill", "memory"), ("segv", "SIGSEGV"), ("abort", "SIGABRT"), ("3", "3")])
def test_a_death_in_an_answer_is_told_once_and_the_next_message_works(
    desk: Callable[..., Desk], name: str, words: str
) -> None:
    one = desk()
    one.load("models/some.gguf")
    one.heard.wait(ModelLoaded)
    dying, waiting = one.ask(f"die {name}"), one.ask("behind it")
    lost = one.heard.wait(EngineLost)
    assert lost.request_ids == (dying, waiting)
    assert (lost.outcome, lost.code) == (LossOutcome.RESTARTED, ErrorCode.ENGINE_CRASHED)
    assert words in lost.message
    assert "started fast" in lost.log_tail
    # Sent before the new process has loaded anything: the model comes first, unasked.
    after = one.ask("still there?")
    loaded = one.heard.wait(ModelLoaded)
    assert (loaded.request_id, loaded.facts.path) == (lost.reload_id, "models/some.gguf")
    finished = one.heard.wait(Finished)
    assert finished.request_id == after
    assert len(one.heard.of(EngineLost)) == 1
    assert [event for event in one.heard.events if dying in answered_by(event)] == [lost]
    # What was said before the death is still heard.
    assert dying in [event.request_id for event in one.heard.of(TextGenerated)]
    # The machine is the same: its notice is not told again.
    assert len(one.heard.of(Notice)) == 1


@pytest.mark.parametrize("stage", list(LoadStage)[:3])
def test_a_death_while_loading_names_the_load_and_does_not_try_again(
    desk: Callable[..., Desk], stage: LoadStage
) -> None:
    one = desk()
    load = one.load(f"dies-segv-{stage}")
    lost = one.heard.wait(EngineLost)
    assert (lost.request_ids, lost.reload_id) == ((load,), None)
    assert "loading" in lost.message
    answer = one.heard.wait_for_answer(one.ask("anybody?"))
    assert isinstance(answer, Failed)
    assert answer.code is ErrorCode.NO_MODEL


def test_restarts_are_capped_and_the_person_can_start_again(desk: Callable[..., Desk]) -> None:
    one = desk()
    for _ in range(4):
        one.load()
        one.ask("die segv")
    outcomes = [one.heard.wait(EngineLost).outcome]
    while outcomes[-1] is LossOutcome.RESTARTED:
        one.load()
        one.ask("die segv")
        outcomes.append(one.heard.wait(EngineLost).outcome)
    assert outcomes == [LossOutcome.RESTARTED] * 3 + [LossOutcome.GAVE_UP]
    assert one.heard.events[-1].code is ErrorCode.ENGINE_RESTARTS_EXHAUSTED
    late = one.ask("hello?")
    answer = one.heard.wait_for_answer(late)
    assert isinstance(answer, EngineLost)
    assert answer.outcome is LossOutcome.GAVE_UP
    one.client.start()
    # Whoever starts it again gets all its tries again.
    one.load()
    one.ask("die segv")
    assert one.heard.wait(EngineLost).outcome is LossOutcome.RESTARTED
    assert isinstance(one.heard.wait_for_answer(one.ask("hello")), Finished)


def test_deaths_with_answers_between_them_are_no_reason_to_give_up(desk: Callable[..., Desk]) -> None:
    one = desk()
    one.load()
    for _ in range(5):
        assert isinstance(one.heard.wait_for_answer(one.ask("hello")), Finished)
        one.ask("die segv")
        assert one.heard.wait(EngineLost).outcome is LossOutcome.RESTARTED


def test_a_start_that_can_not_work_is_told_once(desk: Callable[..., Desk]) -> None:
    one = desk(fake_workers.run_without_library)
    load = one.load()
    lost = one.heard.wait(EngineLost)
    assert (lost.outcome, lost.code, lost.message) == (
        LossOutcome.GAVE_UP,
        ErrorCode.BACKEND_MISSING,
        "The CPU code is missing.",
    )
    assert lost.request_ids == (load,)
    late = one.ask("hello?")
    answer = one.heard.wait(EngineLost)
    assert (answer.request_ids, answer.message) == ((late,), lost.message)
    one.client.close()
    assert one.heard.drain() == [lost, answer]


# Stop


def test_a_stop_reaches_what_runs_what_waits_and_what_loads(desk: Callable[..., Desk]) -> None:
    one = desk()
    one.load()
    running, waiting, last = one.ask("wait"), one.ask("wait"), one.ask("hello")
    one.stop(waiting)
    one.stop(running)
    reasons = [one.heard.wait(Finished) for _ in range(3)]
    assert [(event.request_id, event.reason) for event in reasons] == [
        (running, FinishReason.CANCELLED),
        (waiting, FinishReason.CANCELLED),
        (last, FinishReason.END_OF_TURN),
    ]
    # Too late, unknown, and before its time.
    one.stop(last)
    one.stop(12345)
    early = one.client.next_request_id()
    one.stop(early)
    one.client.send(Generate(early, "chat", message("wait")))
    assert one.heard.wait(Finished).reason is FinishReason.CANCELLED
    load = one.load("waits")
    one.stop(load)
    assert one.heard.wait(LoadCancelled).request_id == load


# Unload


def test_unload_ends_the_process_and_what_comes_after_it_is_for_the_next(desk: Callable[..., Desk]) -> None:
    one = desk()
    one.load()
    pid = int(one.heard.wait(EngineReady).versions["pid"])
    one.heard.wait(ModelLoaded)
    running, waiting = one.ask("wait"), one.ask("wait")
    one.client.unload()
    load, ask = one.load("another"), one.ask("hello")
    assert [one.heard.wait(Finished).request_id, one.heard.wait(Finished).request_id] == [running, waiting]
    one.heard.wait(ModelUnloaded)
    assert not psutil.pid_exists(pid)
    assert one.heard.wait(ModelLoaded).request_id == load
    assert one.heard.wait(Finished).request_id == ask
    assert one.heard.of(EngineLost) == []


def test_unload_does_not_wait_for_what_never_ends(desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "CLOSE_TIMEOUT_S", 0.3)
    one = desk()
    one.load()
    endless = one.ask("hang")
    one.heard.wait(ModelLoaded)
    one.client.unload()
    lost = one.heard.wait(EngineLost)
    assert (lost.request_ids, lost.code, lost.outcome) == ((endless,), ErrorCode.NO_MODEL, LossOutcome.RESTARTED)
    one.heard.wait(ModelUnloaded)


def test_a_stop_after_an_unload_is_answered_too(desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "CLOSE_TIMEOUT_S", 0.3)
    one = desk()
    one.load()
    endless = one.ask("hang")
    one.heard.wait(TextGenerated)
    one.client.unload()
    one.stop(endless)
    one.heard.wait(ModelUnloaded)
    assert [lost.request_ids for lost in one.heard.of(EngineLost)] == [(endless,)]


def test_loads_and_unloads_in_any_order_end_as_the_last_one_says(desk: Callable[..., Desk]) -> None:
    one = desk(start=False)
    one.load("first")
    one.client.unload()
    one.load("second")
    one.client.unload()
    third = one.load("third")
    one.client.start()
    assert one.heard.wait(ModelLoaded, lambda event: event.request_id == third).facts.path == "third"
    assert len(one.heard.of(ModelUnloaded)) == 2
    assert one.heard.of(EngineLost) == []


# Never waiting


def test_a_busy_process_never_holds_up_who_sends(desk: Callable[..., Desk]) -> None:
    one = desk()
    one.load()
    one.heard.wait(ModelLoaded)
    one.ask("hang")
    started = time.perf_counter()
    for _ in range(4):
        one.ask("x" * 4_000_000)
    assert time.perf_counter() - started < 1.0


@pytest.mark.parametrize("state", ["starting", "loading", "answering", "hanging", "unloading", "dead"])
def test_close_ends_everything_in_every_state(
    desk: Callable[..., Desk], state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "CLOSE_TIMEOUT_S", 0.5)
    one = desk()
    if state == "loading":
        one.load("waits")
        one.heard.wait(LoadProgress)
    elif state != "starting":
        one.load()
        one.heard.wait(ModelLoaded)
        one.ask({"answering": "wait", "hanging": "render", "dead": "die segv"}.get(state, "hello"))
    if state == "unloading":
        one.client.unload()
    if state == "dead":
        one.heard.wait(EngineLost)
    started = time.perf_counter()
    one.client.close()
    assert time.perf_counter() - started < 5.0
    assert not [child for child in psutil.Process().children() if child.name() == "kvasir-engine"]


def test_every_request_ends_once_whatever_happens(desk: Callable[..., Desk]) -> None:
    chance = random.Random(7)
    clock = iter(range(0, 10**9, 1000))
    one = desk(recovery=Recovery(clock=lambda: float(next(clock))))
    asked: list[int] = []
    for _ in range(60):
        action = chance.random()
        if action < 0.06:
            one.client.unload()
        elif action < 0.14:
            asked.append(one.ask(chance.choice(("die kill", "die segv", "die 1"))))
        elif action < 0.4:
            asked.append(one.load(chance.choice(("model", "model", "waits", "dies-abort-weights"))))
        else:
            asked.append(one.ask(chance.choice(("hello", "wait"))))
        if asked and chance.random() < 0.7:
            one.stop(chance.choice(asked[-3:]))
        if chance.random() < 0.2 and asked:
            # Nothing waits for ever.
            for request_id in asked:
                one.stop(request_id)
            done = {answered for event in one.heard.drain() for answered in answered_by(event)}
            if asked[-1] not in done:
                one.heard.wait_for_answer(asked[-1])
    for request_id in asked:
        one.stop(request_id)
    one.heard.wait_for_answer(one.load())
    one.client.close()
    answers = [request_id for event in one.heard.drain() for request_id in answered_by(event)]
    assert [answers.count(request_id) for request_id in asked] == [1] * len(asked)


@pytest.mark.expected_log("an event was not taken")
def test_a_listener_that_makes_a_mistake_still_hears_the_rest(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = desk(start=False)
    hear = one.heard.hear

    def hear_badly(event: Event) -> None:
        hear(event)
        if isinstance(event, EngineReady):
            raise ZeroDivisionError

    monkeypatch.setattr(one.client, "_on_event", hear_badly)
    one.client.start()
    load = one.load()
    assert one.heard.wait(ModelLoaded).request_id == load


class Uncopyable(str):
    """A text for whose copy there is no memory."""

    __slots__ = ()

    def __reduce__(self) -> str:
        raise MemoryError


@pytest.mark.expected_log("Generate could not be sent: MemoryError")
def test_a_request_that_can_not_be_sent_fails_and_the_next_one_works(desk: Callable[..., Desk]) -> None:
    one = desk()
    one.load()
    one.heard.wait(ModelLoaded)
    unsent = one.ask(Uncopyable("long"))
    failed = one.heard.wait(Failed)
    assert (failed.request_id, failed.code) == (unsent, ErrorCode.INTERNAL)
    after = one.ask("short")
    assert one.heard.wait(Finished).request_id == after
    assert not one.heard.of(EngineLost)


@pytest.mark.expected_log("the pipe to the engine is unusable")
def test_a_pipe_that_takes_no_more_costs_the_request_and_a_new_process_does_the_next(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = desk()
    one.load()
    one.heard.wait(ModelLoaded)
    with monkeypatch.context() as patch:
        patch.setattr(Connection, "send_bytes", refuse_to_send)
        unsent = one.ask("hello")
        lost = one.heard.wait(EngineLost)
    assert unsent in lost.request_ids
    after = one.ask("hello again")
    assert one.heard.wait(Finished).request_id == after


def refuse_to_send(_pipe: Connection, _content: bytes) -> None:
    raise OSError(errno.ENOBUFS, "no buffer space")

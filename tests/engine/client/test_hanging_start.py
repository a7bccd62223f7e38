"""An engine process that does not get ready, as where a graphics driver hangs."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.process import BaseProcess

import pytest

from engine.api.errors import ErrorCode
from engine.api.messages import (
    ChatRestored,
    EngineLost,
    EngineReady,
    Finished,
    FinishReason,
    LoadCancelled,
    LossOutcome,
    ModelLoaded,
    Notice,
    NoticeCode,
    RestoreChat,
)
from engine.client import deadlines
from tests.engine.client import fake_workers
from tests.engine.client.client_desk import Desk
from tests.engine.client.first_short import FirstShort

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the played process waits for a signal")


def test_it_is_tried_again_without_the_gpu_and_nothing_is_lost(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "START_TIMEOUT_S", FirstShort())
    one = desk(fake_workers.run_with_hanging_gpu)
    load, ask = one.load(), one.ask("typed while it starts")
    assert one.heard.wait(ModelLoaded).request_id == load
    assert one.heard.wait(Finished).request_id == ask
    told = [notice.message for notice in one.heard.of(Notice) if notice.code is NoticeCode.CPU_FALLBACK]
    assert len(told) == 1
    assert "graphics driver" in told[0]
    assert one.heard.of(EngineLost) == []
    assert len(one.heard.of(EngineReady)) == 1


def test_a_later_process_leaves_the_gpu_alone_and_says_no_more(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "START_TIMEOUT_S", FirstShort())
    one = desk(fake_workers.run_with_hanging_gpu)
    one.load()
    one.heard.wait(ModelLoaded)
    one.ask("die segv")
    one.heard.wait(EngineLost)
    one.heard.wait(ModelLoaded)
    assert sum(notice.code is NoticeCode.CPU_FALLBACK for notice in one.heard.of(Notice)) == 1


def test_it_is_given_up_with_a_sentence_where_that_does_not_help(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = FirstShort(2)
    monkeypatch.setattr(deadlines, "START_TIMEOUT_S", patience)
    one = desk(fake_workers.run_hanging, start=False)
    load = one.load()
    one.client.start()
    lost = one.heard.wait(EngineLost)
    assert (lost.outcome, lost.code, lost.request_ids) == (
        LossOutcome.GAVE_UP,
        ErrorCode.ENGINE_START_FAILED,
        (load,),
    )
    assert "driver" in lost.message
    assert patience.n_short == 0


def test_a_stop_is_answered_meanwhile(desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "CLOSE_TIMEOUT_S", 0.2)
    one = desk(fake_workers.run_hanging)
    load, ask = one.load(), one.ask("hello")
    one.stop(load)
    assert one.heard.wait(LoadCancelled).request_id == load
    one.stop(ask)
    finished = one.heard.wait(Finished)
    assert (finished.request_id, finished.reason) == (ask, FinishReason.CANCELLED)
    reading = one.send(lambda request_id: RestoreChat(request_id, "chat", (), evaluate=True))
    one.stop(reading)
    assert one.heard.wait(ChatRestored).request_id == reading
    one.client.close()


def test_what_was_stopped_meanwhile_is_not_done_later(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "START_TIMEOUT_S", FirstShort())
    one = desk(fake_workers.run_with_hanging_gpu, start=False)
    first = one.load("first")
    one.stop(first)
    second = one.load("second")
    one.client.start()
    assert one.heard.wait(ModelLoaded).request_id == second
    assert [event.request_id for event in one.heard.of(LoadCancelled)] == [first]


def test_what_waited_for_a_process_that_died_is_lost_and_not_done_later(desk: Callable[..., Desk]) -> None:
    one = desk(fake_workers.run_after_a_crash, start=False)
    load, ask = one.load(), one.ask("hello")
    one.client.start()
    lost = one.heard.wait(EngineLost)
    assert (lost.outcome, lost.request_ids) == (LossOutcome.RESTARTED, (load, ask))
    again = one.load()
    assert one.heard.wait(ModelLoaded).request_id == again
    assert one.heard.wait_for_answer(one.ask("hello")).reason is FinishReason.END_OF_TURN
    assert len(one.heard.of(ModelLoaded)) == len(one.heard.of(Finished)) == 1


def test_unload_and_close_wait_for_nothing(desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "CLOSE_TIMEOUT_S", 0.2)
    one = desk(fake_workers.run_hanging)
    load = one.load()
    one.client.unload()
    assert one.heard.wait(EngineLost).request_ids == (load,)
    one.client.close()


def test_a_process_that_gets_ready_when_it_is_given_up_comes_too_late(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "START_TIMEOUT_S", FirstShort())
    monkeypatch.setattr(BaseProcess, "kill", lambda process: os.kill(process.pid, signal.SIGUSR1))
    # Both the client's thread and its process have this from here: the signal waits for who asks for it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        one = desk(fake_workers.run_ready_too_late)
        load, ask = one.load(), one.ask("hello")
        assert one.heard.wait(ModelLoaded).request_id == load
        assert one.heard.wait(Finished).request_id == ask
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert len(one.heard.of(EngineReady)) == 1
    assert one.heard.of(EngineLost) == []


def test_a_start_that_failed_is_told_although_its_process_does_not_end(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "CLOSE_TIMEOUT_S", 0.2)
    one = desk(fake_workers.run_hanging_at_its_end)
    lost = one.heard.wait(EngineLost)
    assert (lost.outcome, lost.code) == (LossOutcome.GAVE_UP, ErrorCode.BACKEND_MISSING)


def test_a_process_that_does_not_even_die_is_left_alone(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one does that waits inside a driver."""
    monkeypatch.setattr(deadlines, "START_TIMEOUT_S", FirstShort())
    monkeypatch.setattr(deadlines, "CLOSE_TIMEOUT_S", 0.2)
    with monkeypatch.context() as undying:
        undying.setattr(BaseProcess, "kill", lambda _self: None)
        one = desk(fake_workers.run_with_hanging_gpu)
        load = one.load()
        assert one.heard.wait(ModelLoaded).request_id == load
        answering = one.heard.of(EngineReady)[0].versions["pid"]
    hanging = [process for process in multiprocessing.active_children() if str(process.pid) != answering]
    for process in hanging:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    assert len(hanging) == 1

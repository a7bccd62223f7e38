"""The engine process's inbox and its last line of defence."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import Cancel, Command, Event, Failed, ForgetChat, Generate, LoadModel, Shutdown
from engine.api.sentences import say
from engine.worker.entry import Inbox, answer, use_quiet_time


@pytest.fixture
def pipe() -> Iterator[tuple[Connection, Connection]]:
    ours, theirs = multiprocessing.Pipe()
    yield ours, theirs
    ours.close()
    theirs.close()


def generate(request_id: int) -> Generate:
    return Generate(request_id, "chat", ())


def test_commands_keep_their_order_and_a_stop_overtakes_them(pipe: tuple[Connection, Connection]) -> None:
    ours, theirs = pipe
    inbox = Inbox(theirs)
    commands = [LoadModel(1, "a"), generate(2), ForgetChat("chat"), generate(3)]
    for command in commands[:2]:
        ours.send(command)
    assert inbox.next() == commands[0]
    assert not inbox.is_cancelled(2)
    for command in (*commands[2:], Cancel(2), Cancel(1)):
        ours.send(command)
    assert inbox.is_cancelled(1)
    assert inbox.is_cancelled(2)
    assert not inbox.is_cancelled(3)
    assert [inbox.next() for _ in commands[1:]] == commands[1:]


def test_a_stop_before_its_request_is_kept_and_one_after_the_answer_is_forgotten(
    pipe: tuple[Connection, Connection],
) -> None:
    ours, theirs = pipe
    inbox = Inbox(theirs)
    ours.send(Cancel(5))
    ours.send(generate(5))
    command = inbox.next()
    assert command == generate(5)
    assert inbox.is_cancelled(5)
    inbox.forget(command)
    assert not inbox.is_cancelled(5)


def test_who_works_for_nobody_sees_that_something_is_asked(pipe: tuple[Connection, Connection]) -> None:
    ours, theirs = pipe
    inbox = Inbox(theirs)
    assert not inbox.has_more()
    ours.send(Cancel(3))
    assert not inbox.has_more()
    ours.send(generate(2))
    assert inbox.has_more()
    assert inbox.next() == generate(2)
    assert not inbox.has_more()
    ours.send(Shutdown())
    assert inbox.has_more()


def test_shutdown_stops_what_runs_and_lets_what_waits_be_answered(pipe: tuple[Connection, Connection]) -> None:
    ours, theirs = pipe
    inbox = Inbox(theirs)
    for command in (generate(1), generate(2), Shutdown(), generate(3)):
        ours.send(command)
    assert inbox.next() == generate(1)
    assert inbox.is_cancelled(1)
    assert inbox.next() == generate(2)
    assert inbox.is_cancelled(2)
    assert inbox.next() is None


class Idler:
    """A session that keeps chats in RAM until it has been idle so many times."""

    def __init__(self, n_looks: int, then: Callable[[], object] = lambda: None) -> None:
        self.n_idle = 0
        self._n_looks = n_looks
        self._then = then

    @property
    def holds_chats_in_ram(self) -> bool:
        return self.n_idle < self._n_looks

    def work_idle(self, is_wanted: Callable[[], bool]) -> None:
        assert not is_wanted()
        self.n_idle += 1
        self._then()


def test_an_idle_engine_looks_again_and_again_while_it_keeps_chats_in_ram(pipe: tuple[Connection, Connection]) -> None:
    inbox = Inbox(pipe[1])
    one, many = Idler(0), Idler(3)
    for idler in (one, many):
        use_quiet_time(inbox, idler, 0.001, 0.001)
    assert (one.n_idle, many.n_idle) == (1, 3)


def test_a_command_ends_the_quiet(pipe: tuple[Connection, Connection]) -> None:
    ours, theirs = pipe
    inbox = Inbox(theirs)
    idler = Idler(100, then=lambda: ours.send(generate(1)))
    use_quiet_time(inbox, idler, 0.001, 0.001)
    assert idler.n_idle == 1
    assert inbox.next() == generate(1)
    ours.close()
    use_quiet_time(inbox, idler, 0.001, 0.001)
    assert idler.n_idle == 1


def test_a_client_that_is_gone_ends_everything(pipe: tuple[Connection, Connection]) -> None:
    ours, theirs = pipe
    inbox = Inbox(theirs)
    ours.send(generate(1))
    ours.close()
    assert inbox.next() == generate(1)
    assert inbox.is_cancelled(1)
    assert inbox.next() is None


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (EngineError(ErrorCode.NO_MODEL, say("No model."), "detail"), ErrorCode.NO_MODEL),
        (MemoryError(), ErrorCode.OUT_OF_MEMORY),
        (ZeroDivisionError("in a formula"), ErrorCode.INTERNAL),
        (RecursionError(), ErrorCode.INTERNAL),
    ],
)
def test_whatever_goes_wrong_is_the_one_answer(error: Exception, code: ErrorCode) -> None:
    events: list[Event] = []

    def carry_out(_command: Command) -> None:
        raise error

    answer(carry_out, generate(7), events.append)
    answer(carry_out, ForgetChat("chat"), events.append)
    failures = [event for event in events if isinstance(event, Failed)]
    assert [(failure.request_id, failure.code) for failure in failures] == [(7, code), (None, code)]
    assert all(failure.message.endswith(".") and "Error" not in failure.message for failure in failures)

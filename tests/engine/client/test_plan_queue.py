"""The line of questions: whatever happens, each is answered once, and the newest of an asker last."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.api.errors import ErrorCode
from engine.api.messages import Failed, FindFit, PlanAnswer, PlanMemory, Superseded
from engine.api.sentences import Sentence
from engine.client.plan_queue import PlanQueue

ASKERS = st.sampled_from(["what-if", "what-if fit", "library"])


class Line:
    """A queue, and what was answered: (asker, number of the question, answer), in order."""

    def __init__(self) -> None:
        self.queue = PlanQueue()
        self.asked: list[tuple[str, int]] = []
        self.answers: list[tuple[str, int, PlanAnswer]] = []

    def ask(self, asker: str, *, is_urgent: bool = False) -> int:
        number = len(self.asked)
        self.asked.append((asker, number))
        question = PlanMemory(str(number))
        self.queue.put(asker, question, lambda one: self.answers.append((asker, number, one)), is_urgent=is_urgent)
        return number

    def take(self) -> int:
        return int(self.queue.take().path)

    def superseded(self) -> list[int]:
        return [number for _, number, answer in self.answers if isinstance(answer, Superseded)]


def said(number: int) -> Failed:
    """An answer that tells what it answers."""
    return Failed(None, ErrorCode.SETTING_INVALID, Sentence(str(number)))


@pytest.fixture
def line() -> Line:
    return Line()


def test_the_newest_of_an_asker_waits_and_the_others_wait_beside_it(line: Line) -> None:
    line.ask("slider")
    line.ask("library")
    line.ask("slider")
    assert line.superseded() == [0]
    assert line.take() == 2, "it keeps the place of the one it replaced"
    line.queue.answer(said(2))
    assert line.take() == 1


def test_urgent_ones_come_first_and_then_in_the_order_of_asking(line: Line) -> None:
    for asker in ("a", "b"):
        line.ask(asker)
    for asker in ("c", "d"):
        line.ask(asker, is_urgent=True)
    order = []
    while line.queue.is_waiting:
        order.append(line.take())
        line.queue.answer(said(order[-1]))
    assert order == [2, 3, 0, 1]


def test_what_the_process_works_on_is_answered_before_what_replaced_it(line: Line) -> None:
    line.ask("slider")
    line.take()
    line.ask("slider")
    line.queue.answer(said(0))
    line.take()
    line.queue.answer(said(1))
    assert line.answers == [("slider", 0, said(0)), ("slider", 1, said(1))]


def test_what_is_forgotten_is_answered_at_once_also_if_the_process_works_on_it(line: Line) -> None:
    line.ask("slider")
    line.take()
    line.ask("slider")
    line.queue.forget("slider")
    assert line.superseded() == [0, 1]
    assert line.queue.asked == PlanMemory("0"), "the process is still busy"
    line.queue.answer(said(0))
    assert len(line.answers) == 2


def test_what_was_lost_with_a_process_comes_first_unless_it_is_out_of_date(line: Line) -> None:
    line.ask("slider")
    line.take()
    line.ask("library", is_urgent=True)
    line.queue.put_back()
    assert line.take() == 0
    assert line.queue.n_lost == 1
    line.ask("slider")
    line.queue.put_back()
    assert line.superseded() == [0]
    assert line.take() == 1, "urgent"


def test_what_was_lost_and_is_wanted_no_more_is_not_asked_again(line: Line) -> None:
    line.ask("slider")
    line.take()
    line.queue.forget("slider")
    line.queue.put_back()
    assert not line.queue.is_waiting


def test_kinds_of_questions_are_kept(line: Line) -> None:
    line.queue.put("fit", FindFit("m"), lambda _answer: None)
    assert line.queue.take() == FindFit("m")


class Interleavings(RuleBasedStateMachine):
    """Askers ask and forget, processes answer and die."""

    def __init__(self) -> None:
        super().__init__()
        self.line = Line()
        self.working_on: int | None = None

    @rule(asker=ASKERS, is_urgent=st.booleans())
    def ask(self, asker: str, is_urgent: bool) -> None:
        self.line.ask(asker, is_urgent=is_urgent)

    @rule(asker=ASKERS)
    def forget(self, asker: str) -> None:
        self.line.queue.forget(asker)
        assert {number for _, number, _ in self.line.answers} >= {n for one, n in self.line.asked if one == asker}

    @precondition(lambda self: self.line.queue.is_waiting)
    @rule()
    def take(self) -> None:
        self.working_on = self.line.take()

    @precondition(lambda self: self.working_on is not None)
    @rule()
    def answer(self) -> None:
        number, self.working_on = self.working_on, None
        assert number is not None
        self.line.queue.answer(said(number))

    @precondition(lambda self: self.working_on is not None)
    @rule()
    def die(self) -> None:
        self.working_on = None
        self.line.queue.put_back()

    @rule()
    def no_process_starts(self) -> None:
        self.working_on = None
        self.line.queue.answer_all(said(-1))

    @invariant()
    def what_is_said_is_said_once_in_order_and_to_the_right_question(self) -> None:
        numbers = [number for _, number, _ in self.line.answers]
        assert len(numbers) == len(set(numbers))
        for asker in {asker for asker, _ in self.line.asked}:
            told = [n for one, n, answer in self.line.answers if one == asker and not isinstance(answer, Superseded)]
            assert told == sorted(told)
        for _, number, answer in self.line.answers:
            assert isinstance(answer, Superseded) or answer.message in (str(number), "-1")

    def teardown(self) -> None:
        queue = self.line.queue
        if self.working_on is not None:
            queue.answer(said(self.working_on))
        while queue.is_waiting:
            queue.answer(said(self.line.take()))
        self.what_is_said_is_said_once_in_order_and_to_the_right_question()
        assert sorted(number for _, number, _ in self.line.answers) == [number for _, number in self.line.asked]
        newest = dict(self.line.asked)
        for asker, number in newest.items():
            assert [n for one, n, _ in self.line.answers if one == asker][-1] == number


Interleavings.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
test_any_interleaving = Interleavings.TestCase

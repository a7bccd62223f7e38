"""The queue of questions for the planner process: one is in progress, at most one per asker is queued."""

from __future__ import annotations

from collections.abc import Callable

from engine.api.messages import PlanAnswer, PlanQuestion, Superseded

OnAnswer = Callable[[PlanAnswer], None]


class _Open:
    """A question that is to be answered exactly once."""

    def __init__(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, is_urgent: bool) -> None:
        self.asker, self.question, self.is_urgent = asker, question, is_urgent
        self.n_lost = 0
        self._on_answer: OnAnswer | None = on_answer

    @property
    def is_wanted(self) -> bool:
        return self._on_answer is not None

    def answer(self, answer: PlanAnswer) -> None:
        """Answer the question, unless it has been answered already."""
        on_answer, self._on_answer = self._on_answer, None
        if on_answer is not None:
            on_answer(answer)


class PlanQueue:
    """Calls each ``on_answer`` exactly once, that of an asker's newest question last.

    A newer question replaces its asker's queued one and keeps its place in the queue.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, _Open] = {}
        self._asked: _Open | None = None

    @property
    def asked(self) -> PlanQuestion | None:
        """The question in progress; None if there is none."""
        return self._asked.question if self._asked is not None else None

    @property
    def n_lost(self) -> int:
        """How often a process died while working on the question in progress."""
        return self._asked.n_lost if self._asked is not None else 0

    @property
    def is_waiting(self) -> bool:
        """Whether a question is queued and none is in progress."""
        return self._asked is None and bool(self._waiting)

    def put(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, *, is_urgent: bool = False) -> None:
        """Queue a question, replacing the one that this asker has queued."""
        older = self._waiting.get(asker)
        self._waiting[asker] = _Open(asker, question, on_answer, is_urgent)
        if older is not None:
            older.answer(Superseded())

    def forget(self, asker: str) -> None:
        """Answer an asker's open questions with Superseded; the process's answer to them is dropped."""
        if self._asked is not None and self._asked.asker == asker:
            self._asked.answer(Superseded())
        waiting = self._waiting.pop(asker, None)
        if waiting is not None:
            waiting.answer(Superseded())

    def take(self) -> PlanQuestion:
        """Take the next question for the process: an urgent one if there is one, else the oldest."""
        self._asked = min(self._waiting.values(), key=lambda one: not one.is_urgent)
        del self._waiting[self._asked.asker]
        return self._asked.question

    def answer(self, answer: PlanAnswer) -> None:
        """Answer the question in progress."""
        asked, self._asked = self._asked, None
        if asked is not None:
            asked.answer(answer)

    def put_back(self) -> None:
        """Queue the question in progress again, before all others, since its process died."""
        asked, self._asked = self._asked, None
        if asked is None or not asked.is_wanted:
            return
        asked.n_lost += 1
        if asked.asker in self._waiting:
            asked.answer(Superseded())
        else:
            asked.is_urgent = True
            self._waiting = {asked.asker: asked, **self._waiting}

    def answer_all(self, answer: PlanAnswer) -> None:
        """Answer all open questions, since no process can be started."""
        self.answer(answer)
        waiting, self._waiting = self._waiting, {}
        for one in waiting.values():
            one.answer(answer)

"""The questions for the planner's process: one is with it, and of each asker at most one waits."""

from __future__ import annotations

from collections.abc import Callable

from engine.api.messages import PlanAnswer, PlanQuestion, Superseded

OnAnswer = Callable[[PlanAnswer], None]


class _Open:
    """A question and its one answer."""

    def __init__(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, is_urgent: bool) -> None:
        self.asker, self.question, self.is_urgent = asker, question, is_urgent
        self.n_lost = 0
        self._on_answer: OnAnswer | None = on_answer

    @property
    def is_wanted(self) -> bool:
        return self._on_answer is not None

    def answer(self, answer: PlanAnswer) -> None:
        """Answer it; what was answered stays so."""
        on_answer, self._on_answer = self._on_answer, None
        if on_answer is not None:
            on_answer(answer)


class PlanQueue:
    """Calls each ``on_answer`` once: the newest question of an asker last, and those before it in their order.

    A newer question takes the place of its asker's older one in the line.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, _Open] = {}
        self._asked: _Open | None = None

    @property
    def asked(self) -> PlanQuestion | None:
        """What the process is working on."""
        return self._asked.question if self._asked is not None else None

    @property
    def n_lost(self) -> int:
        """How often the process was lost with what it is working on."""
        return self._asked.n_lost if self._asked is not None else 0

    @property
    def is_waiting(self) -> bool:
        """Whether there is a question for a process that has none."""
        return self._asked is None and bool(self._waiting)

    def put(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, *, is_urgent: bool = False) -> None:
        """Add a question, in place of the one of this asker that waits."""
        older = self._waiting.get(asker)
        self._waiting[asker] = _Open(asker, question, on_answer, is_urgent)
        if older is not None:
            older.answer(Superseded())

    def forget(self, asker: str) -> None:
        """Answer what is open of an asker; what the process says to it is not wanted any more."""
        if self._asked is not None and self._asked.asker == asker:
            self._asked.answer(Superseded())
        waiting = self._waiting.pop(asker, None)
        if waiting is not None:
            waiting.answer(Superseded())

    def take(self) -> PlanQuestion:
        """The next question for the process: an urgent one if there is one, else the one that waits longest."""
        self._asked = min(self._waiting.values(), key=lambda one: not one.is_urgent)
        del self._waiting[self._asked.asker]
        return self._asked.question

    def answer(self, answer: PlanAnswer) -> None:
        """The process answered what it was working on, or will never do so."""
        asked, self._asked = self._asked, None
        if asked is not None:
            asked.answer(answer)

    def put_back(self) -> None:
        """The process was lost, and another one is to work on the same, before all others."""
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
        """There will be no process."""
        self.answer(answer)
        waiting, self._waiting = self._waiting, {}
        for one in waiting.values():
            one.answer(answer)

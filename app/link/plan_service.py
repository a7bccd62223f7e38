"""Asks the planner for whoever in the window wants to know what a load would take."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal

from engine.api.messages import PlanAnswer, PlanQuestion

OnAnswer = Callable[[PlanAnswer], None]


class Planner(Protocol):
    """What the window asks of a planner; `engine.client.planner.Planner` is one. Answers may come on any thread."""

    def ask(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, *, is_urgent: bool = False) -> None: ...
    def forget(self, asker: str) -> None: ...
    def close(self) -> None: ...


class PlanService(QObject):
    """One planner for the whole window; its answers come on the window's thread, in order, until `close`."""

    _answered = Signal(object, object)

    def __init__(self, planner: Planner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._planner = planner
        self._is_closed = False
        self._answered.connect(self._pass_on, Qt.ConnectionType.QueuedConnection)

    def ask(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, *, is_urgent: bool = False) -> None:
        """Ask; ``on_answer`` is called once, and never from in here.

        The newest question of an asker counts: one that still waits is answered with Superseded. One that the planner
        is working on is answered all the same, before the newer one. Urgent questions come before all others.
        """
        self._planner.ask(asker, question, partial(self._answered.emit, on_answer), is_urgent=is_urgent)

    def forget(self, asker: str) -> None:
        """No answer is wanted any more: what is open is answered with Superseded."""
        self._planner.forget(asker)

    def close(self) -> None:
        """End the planner's process."""
        self._is_closed = True
        self._planner.close()

    def _pass_on(self, on_answer: OnAnswer, answer: PlanAnswer) -> None:
        if not self._is_closed:
            on_answer(answer)

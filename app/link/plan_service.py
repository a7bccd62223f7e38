"""Asks the planner for whoever in the window wants to know what a load would take."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Qt, Signal

from engine.api.messages import PlanAnswer, PlanQuestion, Superseded
from engine.client.plan_queue import OnAnswer
from engine.client.planner import Planner


class PlanService(QObject):
    """One planner for the whole window; its answers come on the window's thread, in order, until `close`."""

    _answered = Signal(object, object, object)

    def __init__(self, planner: Planner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._planner = planner
        # A token for each asker, a new one once it forgets.
        self._wishes: dict[str, object] = {}
        self._is_closed = False
        self._answered.connect(self._pass_on, Qt.ConnectionType.QueuedConnection)

    def ask(self, asker: str, question: PlanQuestion, on_answer: OnAnswer, *, is_urgent: bool = False) -> None:
        """Ask; ``on_answer`` is called once, and never from in here.

        The newest question of an asker counts: one that still waits is answered with Superseded. One that the planner
        is working on is answered all the same, before the newer one. Urgent questions come before all others.
        """
        wish = self._wishes.setdefault(asker, object())
        self._planner.ask(asker, question, partial(self._answered.emit, (asker, wish), on_answer), is_urgent=is_urgent)

    def forget(self, asker: str) -> None:
        """No answer is wanted any more: what is open is answered with Superseded."""
        self._wishes.pop(asker, None)
        self._planner.forget(asker)

    def close(self) -> None:
        """End the planner's process."""
        self._is_closed = True
        self._planner.close()

    def _pass_on(self, origin: tuple[str, object], on_answer: OnAnswer, answer: PlanAnswer) -> None:
        asker, wish = origin
        if not self._is_closed:
            # It may have been on its way here when it was forgotten.
            on_answer(answer if self._wishes.get(asker) is wish else Superseded())

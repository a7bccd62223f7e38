"""Asks what settings would take while somebody changes them, and passes the answers on in order, the newest last."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from app.link.plan_service import PlanService
from app.store.setup import Setup
from engine.api.messages import DeviceMemory, Failed, FindFit, FitFound, MemoryPlanned, PlanAnswer, PlanMemory

PAUSE_MS = 250
"""What would fit is looked for once the changes pause: it takes longer than a plan."""
SLOW_MS = 300
"""A planner that is there answers sooner; one that has to be started first takes seconds."""
PLAN, FIT = "what-if", "what-if fit"
"""The two that ask."""


class WhatIf(QObject):
    """``planned`` carries a MemoryPlan, ``refused`` the Failed of settings that can't be loaded, ``fit_found`` a Fit.

    While questions come faster than answers, those to older ones are passed on too, so that a slider is followed;
    ``is_waiting`` says whether a newer one is on its way, and ``slow`` that it takes long.
    """

    planned = Signal(object)
    refused = Signal(object)
    fit_found = Signal(object)
    slow = Signal()

    def __init__(
        self, plans: PlanService, parent: QObject | None = None, *, pause_ms: int = PAUSE_MS, slow_ms: int = SLOW_MS
    ) -> None:
        super().__init__(parent)
        self._plans = plans
        self._question: PlanMemory | None = None
        self._is_waiting = False
        self._pause = _timer(self, pause_ms)
        self._pause.timeout.connect(self._ask_fit)
        self._slow = _timer(self, slow_ms)
        self._slow.timeout.connect(self.slow)

    def ask(self, path: str, setup: Setup, given_back: tuple[DeviceMemory, ...]) -> None:
        """Ask about a setup; older questions are forgotten. ``given_back``: what the model loaded now holds."""
        if not self._slow.isActive():
            self._slow.start()
        self._put(PlanMemory(path, setup.load, given_back, setup.policy))

    @property
    def is_waiting(self) -> bool:
        """Whether the newest question has no answer yet."""
        return self._is_waiting

    def prepare(self) -> None:
        """Somebody is about to change something: a planner that has ended meanwhile is started before it is needed."""
        if self._question is not None and not self._is_waiting:
            self._put(self._question)

    def forget(self) -> None:
        """No answer is wanted any more."""
        self._question, self._is_waiting = None, False
        self._pause.stop()
        self._slow.stop()
        self._plans.forget(PLAN)
        self._plans.forget(FIT)

    def _put(self, question: PlanMemory) -> None:
        self._question, self._is_waiting = question, True
        self._plans.forget(FIT)
        self._plans.ask(PLAN, question, partial(self._on_plan, question), is_urgent=True)
        self._pause.start()

    def _on_plan(self, question: PlanMemory, answer: PlanAnswer) -> None:
        if question is self._question:
            self._is_waiting = False
        if isinstance(answer, MemoryPlanned):
            self._slow.stop()
            self.planned.emit(answer.plan)
        elif isinstance(answer, Failed):
            self._slow.stop()
            self.refused.emit(answer)

    def _ask_fit(self) -> None:
        if self._question is not None:
            question = FindFit(self._question.path, self._question.settings, self._question.given_back)
            self._plans.ask(FIT, question, self._on_fit, is_urgent=True)

    def _on_fit(self, answer: PlanAnswer) -> None:
        if isinstance(answer, FitFound):
            self.fit_found.emit(answer.fit)


def _timer(parent: QObject, interval_ms: int) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(interval_ms)
    return timer

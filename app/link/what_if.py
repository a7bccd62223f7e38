"""Asks what settings would take while somebody changes them, and passes the answers on in order, the newest last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.link.bridge import EngineBridge
from app.store.setup import Setup
from engine.api.messages import DeviceMemory, Event, Failed, FindFit, FitFound, MemoryPlanned, PlanMemory

PAUSE_MS = 250
"""What would fit is looked for once the changes pause: it takes longer than a plan."""
SLOW_MS = 300
"""A planner that is there answers sooner; one that has to be started first takes seconds."""


class Planner(Protocol):
    """What the window asks of a planner; `engine.client.planner.Planner` is one. It answers through ``bridge``."""

    def ask(self, question: PlanMemory) -> None: ...
    def close(self) -> None: ...


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
        self,
        planner: Planner,
        bridge: EngineBridge,
        ids: Iterator[int],
        parent: QObject | None = None,
        *,
        pause_ms: int = PAUSE_MS,
        slow_ms: int = SLOW_MS,
    ) -> None:
        super().__init__(parent)
        self._planner = planner
        self._ids = ids
        self._question: PlanMemory | None = None
        self._open: set[int] = set()
        self._fit_id: int | None = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(pause_ms)
        self._pause.timeout.connect(self._ask_fit)
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(slow_ms)
        self._slow.timeout.connect(self.slow)
        bridge.received.connect(self._on_answer)

    def ask(self, path: str, setup: Setup, given_back: tuple[DeviceMemory, ...]) -> None:
        """Ask about a setup; older questions are forgotten. ``given_back``: what the model loaded now holds."""
        self._ask(PlanMemory(next(self._ids), path, setup.load, given_back, setup.policy))
        self._pause.start()

    @property
    def is_waiting(self) -> bool:
        """Whether the newest question has no answer yet."""
        return self._question is not None and self._question.request_id in self._open

    def prepare(self) -> None:
        """Somebody is about to change something: a planner that has ended meanwhile is started before it is needed."""
        if self._question is not None and not self.is_waiting:
            self._put(replace(self._question, request_id=next(self._ids)))

    def forget(self) -> None:
        """No answer is wanted any more."""
        self._open.clear()
        self._question, self._fit_id = None, None
        self._pause.stop()
        self._slow.stop()

    def _ask(self, question: PlanMemory) -> None:
        if not self._slow.isActive():
            self._slow.start()
        self._put(question)

    def _put(self, question: PlanMemory) -> None:
        self._question, self._fit_id = question, None
        self._open.add(question.request_id)
        self._planner.ask(question)

    def _ask_fit(self) -> None:
        # A planner forgets a question that waits for a newer one's sake: not this one's.
        question = self._question
        if question is not None and not self.is_waiting and not self._pause.isActive():
            self._fit_id = next(self._ids)
            self._planner.ask(FindFit(self._fit_id, question.path, question.settings, question.given_back))

    def _on_answer(self, event: Event) -> None:
        question = self._question
        if question is None or not isinstance(event, MemoryPlanned | FitFound | Failed) or event.request_id is None:
            return
        if event.request_id in self._open:
            self._open = {number for number in self._open if number > event.request_id}
            self._slow.stop()
            if isinstance(event, MemoryPlanned):
                self.planned.emit(event.plan)
            else:
                self.refused.emit(event)
            self._ask_fit()
        elif event.request_id == self._fit_id:
            self._fit_id = None
            if isinstance(event, FitFound):
                self.fit_found.emit(event.fit)
        elif event.request_id > (self._fit_id or question.request_id):
            self._ask_what_gave_way(question)

    def _ask_what_gave_way(self, question: PlanMemory) -> None:
        """Somebody else's newer question was answered: one of ours that still waited was forgotten for it."""
        if self.is_waiting:
            self._ask(replace(question, request_id=next(self._ids)))
        elif self._fit_id is not None:
            self._ask_fit()

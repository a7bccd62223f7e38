"""Asks the planner for whoever in the window wants to know what a load would take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer

from app.link.fit_queue import FitQueue
from engine.api.messages import Event, Failed, FitFound, MemoryPlanned, PlanMemory, SettingsChosen


@dataclass(frozen=True)
class Superseded(Event):
    """Its asker asked another question."""


PlanAnswer = MemoryPlanned | FitFound | SettingsChosen | Failed | Superseded
OnAnswer = Callable[[PlanAnswer], None]


class PlanService(QObject):
    """Over the queue of the models' window, until there is one planner for all."""

    def __init__(self, fits: FitQueue) -> None:
        super().__init__()
        self._fits = fits
        self._open: dict[tuple[str, str], dict[str, OnAnswer]] = {}
        choose, fit = "ChooseSettings", "FindFit"
        fits.chosen.connect(lambda path, choice: self._answer(choose, path, SettingsChosen(0, choice)))
        fits.refused.connect(lambda path, failed: self._answer(choose, path, failed))
        fits.fit_found.connect(lambda path, found: self._answer(fit, path, FitFound(0, found)))
        fits.fit_refused.connect(lambda path, failed: self._answer(fit, path, failed))

    def ask(self, asker: str, question: PlanMemory, on_answer: OnAnswer, *, is_urgent: bool = False) -> None:
        self.forget(asker)
        self._open.setdefault((type(question).__name__, question.path), {})[asker] = on_answer
        self._fits.put(type(question), question.path, question.settings, is_next=is_urgent)

    def forget(self, asker: str) -> None:
        for askers in self._open.values():
            if asker in askers:
                on_answer = askers.pop(asker)
                QTimer.singleShot(0, self, lambda on_answer=on_answer: on_answer(Superseded()))

    def close(self) -> None:
        pass

    def _answer(self, kind: str, path: str, answer: PlanAnswer) -> None:
        for on_answer in self._open.pop((kind, path), {}).values():
            on_answer(answer)

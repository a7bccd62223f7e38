"""Asks the planner what each option of a full cache would take."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from app.link.plan_service import PlanService
from engine.api.messages import Failed, MemoryPlanned, ModelFacts, PlanAnswer, PlanMemory
from engine.api.plan import MemoryPlan
from engine.api.sentences import Sentence
from engine.plan.full_cache import FullCacheOption, loads_to_plan


class OptionPricer(QObject):
    """``priced`` carries what is known so far: by option, the plan or the sentence it was refused with."""

    priced = Signal(object)

    def __init__(self, plans: PlanService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._plans = plans
        self._known: dict[FullCacheOption, MemoryPlan | Sentence] = {}

    def price(self, facts: ModelFacts) -> None:
        """Ask about everything that a load could change; what was asked before is forgotten."""
        self._known = {}
        for option in FullCacheOption:
            self._plans.forget(_asker(option))
        for option, settings in loads_to_plan(facts).items():
            question = PlanMemory(facts.path, settings, facts.devices)
            self._plans.ask(_asker(option), question, partial(self._on_answer, option), is_urgent=True)

    def _on_answer(self, option: FullCacheOption, answer: PlanAnswer) -> None:
        if isinstance(answer, MemoryPlanned | Failed):
            self._known[option] = answer.plan if isinstance(answer, MemoryPlanned) else answer.sentence
            self.priced.emit(dict(self._known))


def _asker(option: FullCacheOption) -> str:
    return f"way {option}"

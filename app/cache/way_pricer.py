"""Asks the planner what each way on from a full cache would take, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, Signal

from app.link.bridge import EngineBridge
from app.link.what_if import Planner
from engine.api.messages import Event, Failed, FitFound, MemoryPlanned, ModelFacts, PlanMemory
from engine.api.plan import MemoryPlan
from engine.api.sentences import Sentence
from engine.api.settings import LoadSettings
from engine.plan.full_cache import Way, loads_to_plan


class WayPricer(QObject):
    """``priced`` carries what is known so far: by way, the plan or the sentence it was refused with."""

    priced = Signal(object)

    def __init__(
        self, planner: Planner, bridge: EngineBridge, ids: Iterator[int], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._planner = planner
        self._ids = ids
        self._facts: ModelFacts | None = None
        self._open: dict[Way, LoadSettings] = {}
        self._asked: tuple[int, Way] | None = None
        self._known: dict[Way, MemoryPlan | Sentence] = {}
        bridge.received.connect(self._on_answer)

    def price(self, facts: ModelFacts) -> None:
        """Ask about everything that a load could change; what was asked before is forgotten."""
        self._facts, self._known, self._open = facts, {}, loads_to_plan(facts)
        self._ask_next()

    def _ask_next(self) -> None:
        self._asked = None
        if self._facts is None or not self._open:
            return
        way = next(iter(self._open))
        self._asked = (next(self._ids), way)
        # One at a time: a question that waits would give way to the next one.
        self._planner.ask(PlanMemory(self._asked[0], self._facts.path, self._open[way], self._facts.devices))

    def _on_answer(self, event: Event) -> None:
        if self._asked is None or not isinstance(event, MemoryPlanned | FitFound | Failed) or event.request_id is None:
            return
        request_id, way = self._asked
        if event.request_id > request_id:
            # It gave way to a newer question, one about settings that were changed meanwhile.
            self._ask_next()
        elif event.request_id == request_id and not isinstance(event, FitFound):
            del self._open[way]
            self._known[way] = event.plan if isinstance(event, MemoryPlanned) else event.sentence
            self.priced.emit(dict(self._known))
            self._ask_next()

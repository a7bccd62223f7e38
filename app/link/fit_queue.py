"""Asks for many models, one after the other, whether and how they fit the memory that is free."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.link.bridge import EngineBridge
from app.link.what_if import Planner
from engine.api.messages import (
    ChooseSettings,
    DeviceMemory,
    Event,
    Failed,
    FindFit,
    FitFound,
    PlanMemory,
    SettingsChosen,
)
from engine.api.settings import LoadSettings

_Key = tuple[type[PlanMemory], str]


class FitQueue(QObject):
    """``chosen`` carries (path, Choice) and ``refused`` (path, Failed) of what was asked; ``fit_found`` (path, Fit) and
    ``fit_refused`` (path) of what was to be found.

    Its planner is one of its own, since a planner forgets a question that waits when the next one comes.
    """

    chosen = Signal(str, object)
    refused = Signal(str, object)
    fit_found = Signal(str, object)
    fit_refused = Signal(str, object)

    def __init__(
        self, make_planner: Callable[[Callable[[Event], None]], Planner], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        bridge = EngineBridge(self)
        bridge.received.connect(self._on_answer)
        self._planner = make_planner(bridge.post)
        self._ids = itertools.count(1)
        self._waiting: dict[_Key, LoadSettings] = {}
        self._asked: tuple[int, _Key] | None = None
        self._given_back: tuple[DeviceMemory, ...] = ()

    def set_given_back(self, memory: tuple[DeviceMemory, ...]) -> None:
        """What the model loaded now holds: it gives that back before another one is loaded."""
        self._given_back = memory

    def ask(self, path: str, settings: LoadSettings, *, is_next: bool = False) -> None:
        """Which settings suit a model; before all others if ``is_next``."""
        self._add((ChooseSettings, path), settings, is_next=is_next)

    def find(self, path: str, settings: LoadSettings) -> None:
        """What would fit with the fewest changes to these settings; before all others."""
        self._add((FindFit, path), settings, is_next=True)

    def put(self, kind: type[PlanMemory], path: str, settings: LoadSettings, *, is_next: bool) -> None:
        """A question of any kind."""
        self._add((kind, path), settings, is_next=is_next)

    def close(self) -> None:
        """End the planner's process."""
        self._waiting.clear()
        self._planner.close()

    def _add(self, key: _Key, settings: LoadSettings, *, is_next: bool) -> None:
        self._waiting.pop(key, None)
        self._waiting = {key: settings, **self._waiting} if is_next else {**self._waiting, key: settings}
        self._ask_next()

    def _ask_next(self) -> None:
        if self._asked is None and self._waiting:
            key = next(iter(self._waiting))
            settings = self._waiting.pop(key)
            self._asked = (next(self._ids), key)
            kind, path = key
            self._planner.ask(kind(self._asked[0], path, settings, self._given_back))

    def _on_answer(self, event: Event) -> None:
        if self._asked is None or not isinstance(event, SettingsChosen | FitFound | Failed):
            return
        number, (kind, path) = self._asked
        if event.request_id != number:
            return
        self._asked = None
        if isinstance(event, SettingsChosen):
            self.chosen.emit(path, event.choice)
        elif isinstance(event, FitFound):
            self.fit_found.emit(path, event.fit)
        elif kind is FindFit:
            self.fit_refused.emit(path, event)
        else:
            self.refused.emit(path, event)
        self._ask_next()

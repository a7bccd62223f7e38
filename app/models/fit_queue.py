"""Asks for many models, one after the other, whether and how they fit the memory that is free."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.engine_bridge import EngineBridge
from app.settings.what_if import Planner
from engine.messages import ChooseSettings, DeviceMemory, Event, Failed, SettingsChosen
from engine.settings import LoadSettings


class FitQueue(QObject):
    """``chosen`` carries (path, Choice), ``refused`` (path, Failed).

    Its planner is one of its own, since a planner forgets a question that waits when the next one comes.
    """

    chosen = Signal(str, object)
    refused = Signal(str, object)

    def __init__(
        self, make_planner: Callable[[Callable[[Event], None]], Planner], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        bridge = EngineBridge(self)
        bridge.received.connect(self._on_answer)
        self._planner = make_planner(bridge.post)
        self._ids = itertools.count(1)
        self._waiting: dict[str, LoadSettings] = {}
        self._asked: tuple[int, str] | None = None
        self._given_back: tuple[DeviceMemory, ...] = ()

    def set_given_back(self, memory: tuple[DeviceMemory, ...]) -> None:
        """What the model loaded now holds: it gives that back before another one is loaded."""
        self._given_back = memory

    def ask(self, path: str, settings: LoadSettings, *, is_next: bool = False) -> None:
        """Ask about a file; before all others if ``is_next``."""
        if self._asked is not None and self._asked[1] == path:
            return
        self._waiting.pop(path, None)
        self._waiting = {path: settings, **self._waiting} if is_next else {**self._waiting, path: settings}
        self._ask_next()

    def forget(self) -> None:
        """No answers are wanted any more."""
        self._waiting.clear()
        self._asked = None

    def close(self) -> None:
        """End the planner's process."""
        self.forget()
        self._planner.close()

    def _ask_next(self) -> None:
        if self._asked is None and self._waiting:
            path = next(iter(self._waiting))
            settings = self._waiting.pop(path)
            self._asked = (next(self._ids), path)
            self._planner.ask(ChooseSettings(self._asked[0], path, settings, self._given_back))

    def _on_answer(self, event: Event) -> None:
        if self._asked is None or not isinstance(event, SettingsChosen | Failed):
            return
        number, path = self._asked
        if event.request_id != number:
            return
        self._asked = None
        if isinstance(event, SettingsChosen):
            self.chosen.emit(path, event.choice)
        else:
            self.refused.emit(path, event)
        self._ask_next()

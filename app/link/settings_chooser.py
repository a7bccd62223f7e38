"""Chooses what a model that nobody has set is loaded with: what fits the memory that is free now."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.link.fit_queue import FitQueue
from app.link.session import EngineSession
from app.link.status import EngineState, EngineStatus
from engine.api.errors import EngineError
from engine.api.messages import Device, EngineReady
from engine.api.plan import Choice, Defaults
from engine.api.settings import GpuLayers, LoadSettings

if TYPE_CHECKING:
    from engine.models.gguf import ModelInfo

DEADLINE_MS = 8000
"""A person waits for the load meanwhile: a planner that takes longer is not waited for."""
FRESH_S = 30.0
"""What the engine said of a GPU's free memory holds for so long."""


@dataclass(frozen=True)
class Found:
    """Without ``fits`` the settings are the smallest there are."""

    defaults: Defaults
    fits: bool = True


Then = Callable[[Found | None], object]
"""None: it was not found out, for want of a planner or of time."""


def defaults_of(choice: Choice) -> Defaults:
    """How many layers fit is counted again at each load: other programs come and go."""
    return Defaults(replace(choice.settings, n_gpu_layers=GpuLayers.AUTO), choice.reasons)


@dataclass(frozen=True, eq=False)
class _Question:
    """``info`` is there until it was looked at."""

    info: ModelInfo | None
    then: Then


class SettingsChooser(QObject):
    """Of several questions about one file the newest is answered."""

    def __init__(
        self, session: EngineSession, fits: FitQueue, parent: QObject | None = None, *, deadline_ms: int = DEADLINE_MS
    ) -> None:
        super().__init__(parent)
        self._fits, self._deadline_ms = fits, deadline_ms
        self._open: dict[str, _Question] = {}
        self._engine: EngineReady | None = None
        self._engine_since = 0.0
        session.status_changed.connect(self._on_status)
        fits.chosen.connect(lambda path, choice: self._answer(path, Found(defaults_of(choice), choice.fits)))
        fits.refused.connect(lambda path, _failed: self._answer(path, None))

    def read(self, path: Path) -> ModelInfo | None:
        """The header of a file; None for one that no settings will load. Called in a thread."""
        from engine.models.gguf import read_model_info

        try:
            return read_model_info(path)
        except EngineError:
            # The load says what is wrong.
            return None

    def choose(self, path: str, info: ModelInfo, then: Then) -> None:
        """Find out what fits while a person waits for it, and call ``then`` with it, once."""
        self._open[path] = _Question(info, then)
        if self._engine is not None or not _fits_evidently(info, [_ram()]):
            # What RAM alone can't tell at a glance is measured while the engine starts.
            self._look(path, info, then)

    def measure(self, path: str, then: Then) -> None:
        """The same where nobody waits."""
        self._open[path] = _Question(None, then)
        self._fits.ask(path, LoadSettings())

    def _on_status(self, status: EngineStatus) -> None:
        """Which devices there are is known once the engine has started; one that can't start loads nothing."""
        if status.engine is not self._engine:
            self._engine, self._engine_since = status.engine, time.monotonic()
        if status.state is EngineState.STOPPED:
            self._open.clear()
        elif status.engine is not None:
            waiting = [(path, one.info, one.then) for path, one in self._open.items() if one.info is not None]
            for path, info, then in waiting:
                self._look(path, info, then)

    def _look(self, path: str, info: ModelInfo, then: Then) -> None:
        """Tell it at a glance, or have it measured."""
        evident = _fits_evidently(info, self._devices())
        if evident is not None:
            self._answer(path, Found(evident))
            return
        question = self._open[path] = _Question(None, then)
        QTimer.singleShot(self._deadline_ms, self, lambda: self._give_up(path, question))
        self._fits.ask(path, LoadSettings(), is_next=True)

    def _give_up(self, path: str, question: _Question) -> None:
        if self._open.get(path) is question:
            self._answer(path, None)

    def _devices(self) -> list[Device]:
        """As they are now; none where that is not known."""
        devices = list(self._engine.devices) if self._engine is not None else []
        is_fresh = time.monotonic() - self._engine_since < FRESH_S
        if not is_fresh and any(device.kind != "cpu" for device in devices):
            return []
        available = _ram().free_bytes
        return [replace(one, free_bytes=available) if one.kind == "cpu" else one for one in devices]

    def _answer(self, path: str, found: Found | None) -> None:
        question = self._open.pop(path, None)
        if question is not None:
            question.then(found)


def _fits_evidently(info: ModelInfo, devices: list[Device]) -> Defaults | None:
    # Not at the start: the window is to be there first.
    from engine.plan.autofit import evident_defaults

    return evident_defaults(info, LoadSettings(), devices)


def _ram() -> Device:
    """This machine's memory, as the engine would name it."""
    from engine.devices import available_ram_bytes

    available = available_ram_bytes()
    return Device("CPU", "", "cpu", "CPU", available, available)

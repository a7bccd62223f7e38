"""Looks at a model file before it is loaded: whether it is one, and whether it clearly fits the free memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.link.status import EngineStatus
from engine.api.errors import EngineError
from engine.api.messages import Device, DeviceMemory, EngineReady
from engine.api.plan import Defaults
from engine.api.settings import GpuLayers, LoadSettings

if TYPE_CHECKING:
    # Not at the start: the window is to be there first.
    from engine.models.gguf import ModelInfo

SURE_SHARE = 0.7
"""What is guessed to take less than this share of the free memory fits, and is not measured first."""
FRESH_S = 30.0
"""What the engine said of a GPU's free memory holds for so long."""


def check_model_file(path: Path) -> None:
    """Raise EngineError if the file can't be a chat model."""
    from engine.models.gguf import read_model_info, require_chat_model

    require_chat_model(read_model_info(path))


def read_header(path: Path) -> ModelInfo | None:
    """The header of a file; None for one that no settings will load, of which the load says what is wrong."""
    from engine.models.gguf import read_model_info

    try:
        return read_model_info(path)
    except EngineError:
        return None


def surely_fits(path: Path, settings: LoadSettings, status: EngineStatus) -> bool:
    """Whether a load clearly fits, by a guess; called in a thread, since it reads the header."""
    from engine.devices import available_ram_bytes
    from engine.plan.estimate import rough_bytes

    gpus = [one for one in (status.engine.devices if status.engine is not None else ()) if one.is_gpu]
    if gpus and settings.n_gpu_layers is not GpuLayers.AUTO:
        return False
    info = read_header(path)
    free = available_ram_bytes() + sum(one.free_bytes for one in gpus if one.has_own_memory)
    given_back = sum(memory.held_bytes for memory in held(status))
    return info is None or rough_bytes(info, settings) < SURE_SHARE * (free + given_back)


def held(status: EngineStatus) -> tuple[DeviceMemory, ...]:
    """What the model that is there holds, until the next one takes its place."""
    facts = status.facts or status.replaced
    return facts.devices if facts is not None else ()


class FreeMemory:
    """What there is on each device, as far as that is known without asking llama.cpp."""

    def __init__(self) -> None:
        self._engine: EngineReady | None = None
        self._since = 0.0

    def note(self, engine: EngineReady | None) -> None:
        """The engine said, or not yet, which devices there are."""
        if engine is not self._engine:
            self._engine, self._since = engine, time.monotonic()

    def evident_defaults(self, info: ModelInfo) -> Defaults | None:
        """What evidently fits a model; None where it has to be measured."""
        return _evident(info, self._devices())

    def may_be_evident(self, info: ModelInfo) -> bool:
        """Whether it is worth to wait for an engine that is starting: it says which devices there are."""
        return self._engine is None and _evident(info, [_ram()]) is not None

    def _devices(self) -> list[Device]:
        """As they are now; none where that is not known."""
        devices = list(self._engine.devices) if self._engine is not None else []
        is_fresh = time.monotonic() - self._since < FRESH_S
        if not is_fresh and any(not device.is_ram for device in devices):
            return []
        available = _ram().free_bytes
        return [replace(one, free_bytes=available) if one.is_ram else one for one in devices]


def _evident(info: ModelInfo, devices: Sequence[Device]) -> Defaults | None:
    from engine.plan.autofit import evident_defaults

    return evident_defaults(info, LoadSettings(), devices)


def _ram() -> Device:
    """This machine's memory, as the engine would name it."""
    from engine.devices import available_ram_bytes

    available = available_ram_bytes()
    return Device("CPU", "", "cpu", "CPU", available, available)

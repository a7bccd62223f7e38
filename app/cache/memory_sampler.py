"""Samples the memory of devices once a second on a thread of its own, only while it is shown."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from app.link.background import Background
from engine.api.messages import Device
from engine.devices import DeviceSample

PERIOD_S = 1.0
CLOSE_TIMEOUT_S = 2.0
"""A driver that hangs does not hold up the end of the program for longer."""

log = logging.getLogger("kvasir")


class Sampler(Protocol):
    """What the thread asks; `engine.devices.DeviceSampler` is one."""

    def sample(self, devices: Sequence[Device], process_id: int | None) -> tuple[DeviceSample, ...]: ...
    def close(self) -> None: ...


class MemorySampler(QObject):
    """``sampled`` carries the DeviceSamples, on the window's thread. Nothing is sampled until `set_active`."""

    sampled = Signal(object)

    def __init__(self, sampler: Sampler, parent: QObject | None = None, *, period_s: float = PERIOD_S) -> None:
        super().__init__(parent)
        self._sampler = sampler
        self._period_s = period_s
        self._changed = threading.Condition()
        self._devices: tuple[Device, ...] = ()
        self._process_id: int | None = None
        self._is_active = self._is_closing = self._is_asked = self._has_failed = False
        self._is_running = False
        self._background = Background("memory-sampler", self)

    def watch(self, devices: tuple[Device, ...], process_id: int | None) -> None:
        """Sample these devices, and count what this process holds as the engine's; at once, if active."""
        with self._changed:
            self._devices, self._process_id = devices, process_id
            self._is_asked = True
            self._changed.notify()

    def set_active(self, is_active: bool) -> None:
        """Start or stop sampling."""
        with self._changed:
            self._is_active, self._is_asked = is_active, True
            self._changed.notify()
            if is_active and not self._is_running and not self._is_closing:
                self._is_running = True
                self._background.run(self._run)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._background.close(CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_active or self._is_closing)
                if self._is_closing:
                    break
                devices, process_id, self._is_asked = self._devices, self._process_id, False
            self._background.post(self.sampled.emit, self._sample(devices, process_id))
            with self._changed:
                self._changed.wait_for(lambda: self._is_asked or self._is_closing, self._period_s)
        self._sampler.close()

    def _sample(self, devices: tuple[Device, ...], process_id: int | None) -> tuple[DeviceSample, ...]:
        """Nothing is known where a sampler fails, this time; the next one is asked for all the same."""
        try:
            return self._sampler.sample(devices, process_id)
        except Exception:
            if not self._has_failed:
                self._has_failed = True
                log.exception("the memory could not be sampled")
            return ()

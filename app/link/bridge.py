"""Turns engine events into Qt signals on the window's thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal

from engine.api.messages import Event


class EngineBridge(QObject):
    """``post`` may be called on any thread; ``received`` is emitted on the thread that the bridge belongs to."""

    received = Signal(object)
    _posted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._posted.connect(self.received, Qt.ConnectionType.QueuedConnection)

    def post(self, event: Event) -> None:
        """Hand over an event; in order, none is lost."""
        self._posted.emit(event)

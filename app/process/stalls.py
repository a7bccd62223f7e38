"""Writes a log line when the event loop was blocked for so long that a person notices."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

NOTICED_S = 0.1
"""What takes longer between a press and its picture is felt as a delay."""
BEAT_MS = 50

log = logging.getLogger("kvasir")


class StallWatch(QObject):
    """A timer that comes late tells how long something else held the event loop.

    The dispatcher's own signals do not: with GLib, ``awake`` comes after a turn and not before it. The timer runs only
    while the program is in front, so that a window nobody looks at wakes no processor.
    """

    def __init__(
        self, app: QGuiApplication, clock: Callable[[], float] = time.perf_counter, beat_ms: int = BEAT_MS
    ) -> None:
        super().__init__(app)
        self._clock = clock
        self._due = 0.0
        self._beat = QTimer(self)
        self._beat.setTimerType(Qt.TimerType.PreciseTimer)
        self._beat.setInterval(beat_ms)
        self._beat.timeout.connect(self._on_beat)
        app.applicationStateChanged.connect(self._on_state)
        self._on_state(app.applicationState())

    def _on_state(self, state: Qt.ApplicationState) -> None:
        if state is Qt.ApplicationState.ApplicationActive:
            self._expect_next()
            self._beat.start()
        else:
            self._beat.stop()

    def _expect_next(self) -> None:
        self._due = self._clock() + self._beat.interval() / 1000

    def _on_beat(self) -> None:
        late = self._clock() - self._due
        if late > NOTICED_S:
            log.info("The event loop was blocked for %.0f ms", late * 1000)
        self._expect_next()

"""Collects streamed text and hands it on in pieces that the window can lay out without falling behind."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from PySide6.QtCore import QObject, Qt, QTimer

MIN_INTERVAL_MS = 30
REST_FACTOR = 3
MAX_FLUSHED = 6_000
"""Characters handed on at once; what goes beyond waits for the next flush."""


class TextCoalescer(QObject):
    """Calls `flush(turn_id, text, reasoning)`; after a flush of t ms it waits for max(30, 3 t) ms."""

    def __init__(self, flush: Callable[[str, str, str], None], parent: QObject) -> None:
        super().__init__(parent)
        self._flush = flush
        self._waiting: dict[str, tuple[list[str], list[str]]] = {}
        self._last_ms = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_timer)

    def add(self, turn_id: str, text: str = "", reasoning: str = "") -> None:
        """Queue text for a turn."""
        texts, thoughts = self._waiting.setdefault(turn_id, ([], []))
        if text:
            texts.append(text)
        if reasoning:
            thoughts.append(reasoning)
        if not self._timer.isActive():
            self._start()

    def flush_now(self) -> None:
        """Hand on all that waits."""
        self._hand_on(None)

    def _on_timer(self) -> None:
        self._hand_on(MAX_FLUSHED)
        if self._waiting:
            self._start()

    def _start(self) -> None:
        self._timer.start(int(max(MIN_INTERVAL_MS, REST_FACTOR * self._last_ms)))

    def _hand_on(self, most: int | None) -> None:
        self._timer.stop()
        waiting, self._waiting = self._waiting, {}
        began = perf_counter()
        for turn_id, (texts, thoughts) in waiting.items():
            text, reasoning = "".join(texts), "".join(thoughts)
            if most is not None and len(text) + len(reasoning) > most:
                # Thoughts come before what is said.
                cut = min(len(reasoning), most)
                said = most - cut
                self._waiting[turn_id] = ([text[said:]], [reasoning[cut:]])
                text, reasoning = text[:said], reasoning[:cut]
            self._flush(turn_id, text, reasoning)
        self._last_ms = (perf_counter() - began) * 1000

    def forget(self) -> None:
        """Drop all that waits."""
        self._timer.stop()
        self._waiting.clear()

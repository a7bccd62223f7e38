"""Does in this window what starts on its data folder were asked for: its own, and later ones."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.process.one_window import Answer, LaterStart, Request
from app.process.options import ACTIVATION_VARIABLE
from app.window.unattended import Unattended


class Starts(QObject):
    """``make_play`` makes what carries out a request; one is carried out after the other."""

    _heard = Signal(object)

    def __init__(self, window: QWidget, make_play: Callable[[Request], Unattended]) -> None:
        super().__init__(window)
        self._window, self._make_play = window, make_play
        self._waiting: deque[tuple[Request, Callable[[Answer], object]]] = deque()
        self._play: Unattended | None = None
        self._heard.connect(self._on_heard, Qt.ConnectionType.QueuedConnection)

    def hear(self, start: LaterStart) -> None:
        """Called on any thread."""
        self._heard.emit(start)

    def add(self, request: Request, ended: Callable[[Answer], object]) -> None:
        """Carry out a request after those before it."""
        self._waiting.append((request, ended))
        if self._play is None:
            self._play_next()

    def _on_heard(self, start: LaterStart) -> None:
        if not start.accept():
            return
        request = start.request
        self._come_to_front(request.activation)
        if request.screenshot is None:
            # Only a picture is waited for.
            start.end(Answer(0))
        if request != Request(activation=request.activation):
            self.add(request, start.end)

    def _come_to_front(self, activation: str | None) -> None:
        if activation:
            os.environ[ACTIVATION_VARIABLE] = activation
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowMinimized)
        self._window.show()
        self._window.raise_()
        self._window.activateWindow()

    def _play_next(self) -> None:
        self._play = None
        if self._waiting:
            self._play = self._make_play(self._waiting[0][0])
            # Queued: it may end while it is being started.
            self._play.ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)
            self._play.start()

    def _on_ended(self, code: int, sentence: str) -> None:
        _request, ended = self._waiting.popleft()
        self._play_next()
        ended(Answer(code, sentence))

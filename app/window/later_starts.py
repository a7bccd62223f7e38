"""Does in this window what a later start on the same data folder was asked for."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.process.one_window import Answer, LaterStart, Request
from app.window.unattended import Unattended

ACTIVATION_VARIABLE = "XDG_ACTIVATION_TOKEN"
"""Where Qt looks for the desktop's leave to come to the front."""


class LaterStarts(QObject):
    """``make_play`` makes what carries out a request with texts or a picture; one is carried out after the other."""

    _heard = Signal(object)

    def __init__(
        self, window: QWidget, open_model: Callable[[str], object], make_play: Callable[[Request], Unattended]
    ) -> None:
        super().__init__(window)
        self._window, self._open_model, self._make_play = window, open_model, make_play
        self._waiting: deque[LaterStart] = deque()
        self._play: Unattended | None = None
        self._heard.connect(self._on_heard, Qt.ConnectionType.QueuedConnection)

    def hear(self, start: LaterStart) -> None:
        """Called on any thread."""
        self._heard.emit(start)

    def close(self) -> None:
        """The window ends: whoever waits is told so."""
        for start in self._waiting:
            start.end(Answer(1, "The window was closed before this was done."))
        self._waiting.clear()

    def _on_heard(self, start: LaterStart) -> None:
        start.accept()
        self._come_to_front(start.request.activation)
        if start.request.model is not None:
            self._open_model(start.request.model)
        if not start.request.texts and start.request.screenshot is None:
            start.end(Answer(0))
            return
        self._waiting.append(start)
        if start.request.screenshot is None:
            # Only a picture is waited for.
            start.end(Answer(0))
        if self._play is None:
            self._play_next()

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
            self._play = self._make_play(self._waiting[0].request)
            self._play.ended.connect(self._on_ended)
            self._play.start()

    def _on_ended(self, code: int, sentence: str) -> None:
        self._waiting.popleft().end(Answer(code, sentence))
        self._play_next()

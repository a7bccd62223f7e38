"""Plays what the command line asked for: sends texts one after the other, saves a picture, quits."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.chats.chat_session import ChatSession
from app.link.load import Load
from app.link.model_loader import ModelLoader
from app.link.session import EngineSession
from app.link.status import EngineState, EngineStatus

SETTLE_MS = 400
"""Time for the last text to be laid out before the picture is taken."""


class Unattended(QObject):
    """``ended`` carries the exit code and, if it is not 0, a sentence; it comes only where a picture was asked for."""

    ended = Signal(int, str)

    def __init__(
        self,
        session: EngineSession,
        chat: ChatSession,
        loader: ModelLoader,
        texts: list[str],
        picture: tuple[str, Callable[[], QWidget]] | None,
    ) -> None:
        super().__init__()
        self._session = session
        self._chat = chat
        self._texts = list(texts)
        self._picture = picture
        self._was_started = False
        session.status_changed.connect(self._on_status)
        loader.ended.connect(self._on_load_ended)
        chat.answer_ended.connect(self._on_answer_ended)

    def give_up(self, sentence: str) -> None:
        """Nothing can be loaded."""
        self._end(1, sentence)

    def _on_status(self, status: EngineStatus) -> None:
        if status.state is EngineState.STOPPED:
            self._end(1, self.tr("The engine stopped and could not be started again."))
        elif status.can_answer and not self._was_started:
            self._was_started = True
            self._go_on()

    def _on_load_ended(self, load: Load) -> None:
        if load.error is not None:
            self._end(1, load.error.message)

    def _on_answer_ended(self, is_good: bool) -> None:
        if not is_good:
            self._end(1, self.tr("An answer failed; the window says why."))
        elif self._was_started:
            self._go_on()

    def _go_on(self) -> None:
        if self._texts:
            text = self._texts.pop(0)
            # Not from within the event that ended the last answer.
            QTimer.singleShot(0, self, lambda: self._chat.send(text))
        else:
            self._end(0, "")

    def _end(self, code: int, sentence: str) -> None:
        if self._picture is not None:
            QTimer.singleShot(SETTLE_MS, self, lambda: self._take_picture(code, sentence))

    def _take_picture(self, code: int, sentence: str) -> None:
        if self._picture is None:
            return
        path, window = self._picture
        self._picture = None
        if not window().grab().save(path):
            code, sentence = 1, self.tr("The picture could not be saved as {0}.").format(path)
        self.ended.emit(code, sentence)

"""Carries out what a start was asked for: loads a model, sends texts one after the other, saves a picture."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QPixmap

from app.chats.chat_session import ChatSession
from app.link.load import Load, Stage
from app.link.model_loader import ModelLoader
from app.link.session import EngineSession
from app.link.status import EngineState, EngineStatus
from app.process.one_window import Request
from engine.api.errors import EngineError

SETTLE_MS = 400
"""Time for the last text to be laid out before the picture is taken."""


class Unattended(QObject):
    """``ended`` comes once, with the exit code and, if it is not 0, a sentence.

    ``open_model`` has the model loaded that it is given, or any; it returns the one that is on its way, None where it
    is there, and raises EngineError where there is none. ``look`` makes the picture.
    """

    ended = Signal(int, str)

    def __init__(
        self,
        session: EngineSession,
        chat: ChatSession,
        loader: ModelLoader,
        request: Request,
        open_model: Callable[[str | None], str | None],
        look: Callable[[], QPixmap],
    ) -> None:
        super().__init__()
        self._session, self._chat, self._loader = session, chat, loader
        self._request, self._open_model, self._look = request, open_model, look
        # What is blank is never sent.
        self._texts = [text for text in request.texts if text.strip()]
        self._awaited: str | None = None
        self._is_answering = self._is_over = False
        # Not from within the event that ended the last answer, or a load.
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._go_on)

    def start(self) -> None:
        """Begin; the first text goes into the chat that is open."""
        self._loader.ended.connect(self._on_load_ended)
        try:
            self._awaited = self._open_model(self._request.model)
        except EngineError as error:
            self._end(1, error.message)
            return
        if not self._texts and self._request.screenshot is None:
            self._end(0, "")
            return
        self._session.status_changed.connect(self._on_status)
        self._chat.answer_ended.connect(self._on_answer_ended)
        self._chat.opened.connect(self._on_opened)
        self._timer.start()

    def _on_status(self, _status: EngineStatus) -> None:
        self._timer.start()

    def _on_load_ended(self, load: Load) -> None:
        if load.wish.path != self._awaited:
            return
        if load.stage is Stage.LOADED:
            self._awaited = None
            self._timer.start()
        else:
            self._end(1, load.error.message if load.error is not None else self.tr("The model was not loaded."))

    def _on_answer_ended(self, is_good: bool) -> None:
        if self._is_answering:
            self._is_answering = False
            if is_good:
                self._timer.start()
            else:
                self._end(1, self.tr("An answer failed; the window says why."))

    def _on_opened(self) -> None:
        if self._texts or self._is_answering:
            self._end(1, self.tr("Another chat was opened before all was said and answered."))

    def _go_on(self) -> None:
        status = self._session.status
        if self._is_over or self._is_answering:
            return
        if status.state is EngineState.STOPPED:
            self._end(1, self.tr("The engine stopped and could not be started again."))
        elif self._awaited is None and status.state is EngineState.NO_MODEL:
            self._end(1, self.tr("The model was not loaded."))
        elif self._awaited is None and status.can_answer and self._chat.conversation.request_id is None:
            if self._texts:
                self._is_answering = True
                self._chat.send(self._texts.pop(0))
            else:
                self._end(0, "")

    def _end(self, code: int, sentence: str) -> None:
        if self._is_over:
            return
        self._is_over = True
        if self._request.screenshot is None:
            self.ended.emit(code, sentence)
        else:
            QTimer.singleShot(SETTLE_MS, self, lambda: self._take_picture(code, sentence))

    def _take_picture(self, code: int, sentence: str) -> None:
        path = self._request.screenshot
        if path is not None and not self._look().save(path):
            code, sentence = 1, self.tr("The picture could not be saved as {0}.").format(path)
        self.ended.emit(code, sentence)

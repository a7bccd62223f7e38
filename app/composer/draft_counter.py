"""Asks the engine how many tokens the draft has, when typing pauses, and drops answers that came too late."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.link.session import EngineSession
from engine.api.messages import Event, Message, TokensCounted

PAUSE_MS = 150


class DraftCounter(QObject):
    """``counted`` carries (tokens of the draft, tokens there is room for, whether the first is an estimate).

    ``unknown`` when nobody can tell.
    """

    counted = Signal(int, int, bool)
    unknown = Signal()

    def __init__(
        self, session: EngineSession, messages: Callable[[], tuple[Message, ...]], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._messages = messages
        self._draft = ""
        self._asked: int | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self._ask)
        session.event_received.connect(self._on_event)
        session.status_changed.connect(self._on_status)
        self._could_answer = session.status.can_answer

    def set_draft(self, draft: str) -> None:
        """The draft changed."""
        self._draft = draft
        self._asked = None
        if draft:
            self._timer.start()
        else:
            self._timer.stop()
            self.unknown.emit()

    def _ask(self) -> None:
        # The engine does one thing after the other: during an answer it has no time, and asks again after it.
        if self._draft and self._session.status.can_answer:
            self._asked = self._session.count_tokens(self._messages(), self._draft)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, TokensCounted) and event.request_id == self._asked:
            self._asked = None
            self.counted.emit(event.n_draft, event.n_room, event.is_estimate)

    def _on_status(self) -> None:
        can_answer = self._session.status.can_answer
        if can_answer and not self._could_answer and self._draft:
            self._timer.start()
        self._could_answer = can_answer
        if self._session.status.facts is None:
            self._asked = None
            self.unknown.emit()

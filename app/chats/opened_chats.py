"""A chat that is opened and warm comes into the cache at once, not only with its next message."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.chats.chat_session import ChatSession
from app.link.session import EngineSession
from engine.api.messages import ChatTiersChanged, EngineLost, Event, ModelUnloaded


class OpenedChats(QObject):
    """Asks once for each opening: as soon as the engine has nothing else to do and says that the chat is warm."""

    def __init__(self, session: EngineSession, chat: ChatSession) -> None:
        super().__init__()
        self._session = session
        self._chat = chat
        self._warm: frozenset[str] = frozenset()
        self._is_wanted = False
        chat.opened.connect(self._on_opened)
        session.event_received.connect(self._on_event)
        session.status_changed.connect(self._restore_if_wanted)

    def _on_opened(self) -> None:
        self._is_wanted = True
        self._restore_if_wanted()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, ChatTiersChanged):
            self._warm = frozenset(one.chat_id for one in event.tiers)
            self._restore_if_wanted()
        elif isinstance(event, EngineLost | ModelUnloaded):
            self._warm = frozenset()

    def _restore_if_wanted(self) -> None:
        if self._chat.conversation.request_id is not None:
            # Its answer brings it there.
            self._is_wanted = False
        elif self._is_wanted and self._session.status.can_answer and self._chat.open_chat.head.id in self._warm:
            self._is_wanted = False
            self._chat.restore()

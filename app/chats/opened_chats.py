"""The open chat comes into the cache before its next message: from where it is kept, or read again after a reload."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.chats.chat_session import ChatSession
from app.link.load import Load, Stage, Why
from app.link.model_loader import ModelLoader
from app.link.session import EngineSession
from engine.api.messages import CacheChanged, ChatTiersChanged, EngineLost, Event, LoadProgress, ModelUnloaded


class OpenedChats(QObject):
    """Asks once for each opening of a chat: as soon as the engine has nothing else to do and says that it is warm; and
    once after each load with other settings, of the chat that was in the cache before."""

    def __init__(self, session: EngineSession, chat: ChatSession, loader: ModelLoader) -> None:
        super().__init__()
        self._session = session
        self._chat = chat
        self._warm: frozenset[str] = frozenset()
        self._is_wanted = False
        # The chat in the cache, and the one that was in it when a load began.
        self._cached: str | None = None
        self._lost: str | None = None
        chat.opened.connect(self._on_opened)
        session.event_received.connect(self._on_event)
        session.status_changed.connect(self._restore_if_wanted)
        session.noted.connect(self._note)
        loader.ended.connect(self._on_load_ended)

    def _on_opened(self) -> None:
        self._is_wanted = True
        self._restore_if_wanted()

    def _note(self, event: Event) -> None:
        if isinstance(event, CacheChanged):
            self._cached = event.usage.chat_id
        elif isinstance(event, LoadProgress | ModelUnloaded | EngineLost):
            if isinstance(event, LoadProgress):
                self._lost = self._cached or self._lost
            self._cached = None

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

    def _on_load_ended(self, load: Load) -> None:
        if not load.is_there:
            return
        lost, self._lost = self._lost, None
        # What goes on by itself brings the chat along.
        goes_on = load.stage is Stage.LOADED and load.wish.then is not None
        if load.wish.why is Why.APPLIED and not goes_on and lost == self._chat.open_chat.head.id:
            self._chat.read_again()

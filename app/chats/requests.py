"""What is asked of the engine about a chat: an answer, or only that the chat is in the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.chats.open_chat import OpenChat
from app.chats.sent_turns import SentTurns
from app.link.session import EngineSession
from app.store.preferences import Preferences
from engine.api.messages import ChatRestored, EngineLost, Event, Failed, Finished, Generate, Message, RestoreChat
from engine.api.settings import PolicySettings


class Requests:
    """At most one reading is under way, and one restoring; each ends with `take` of the event that ends it.

    ``sent`` knows which turns were sent last.
    """

    def __init__(self, session: EngineSession, preferences: Callable[[], Preferences]) -> None:
        self._session = session
        self._preferences = preferences
        self._reading: int | None = None
        self._restoring: int | None = None
        self.sent = SentTurns()

    def is_reading(self, request_id: int | None = None) -> bool:
        """Whether a chat is only being read; with an id, whether that is this request."""
        return self._reading is not None and request_id in (None, self._reading)

    def messages(self, chat: OpenChat) -> tuple[Message, ...]:
        """A chat as it is now, about to be sent."""
        self.sent.remember(chat.conversation, chat.head.settings.system_prompt)
        return chat.conversation.messages(chat.head.settings.system_prompt)

    def answer(
        self, chat: OpenChat, request_id: int, messages: tuple[Message, ...], *, continue_last: bool = False
    ) -> None:
        """Ask for an answer, by what holds for the chat. A restoring under way is not stopped: it is what comes first
        anyway."""
        self._session.generate(self._request(chat, request_id, messages, continue_last=continue_last))

    def read(self, chat: OpenChat) -> None:
        """Have a chat in the cache before the next message needs it."""
        self._reading = self._session.next_request_id()
        continue_last = chat.conversation.can_continue()
        request = self._request(chat, self._reading, self.messages(chat), continue_last=continue_last)
        # A request always samples: one token, which nobody sees and which takes no cell.
        self._session.generate(replace(request, sampling=replace(request.sampling, max_tokens=1)))

    def restore(self, chat: OpenChat) -> None:
        """Have what is kept of a chat in the cache before the next message needs it."""
        self._restoring = self._session.next_request_id()
        messages, continue_last = self.messages(chat), chat.conversation.can_continue()
        self._session.restore(
            RestoreChat(self._restoring, chat.head.id, messages, self._policy(chat), continue_last=continue_last)
        )

    def stop(self) -> None:
        """Another chat is wanted; what was read or restored so far stays."""
        if self._restoring is not None:
            self._session.cancel_restore(self._restoring)
        self.stop_reading()

    def stop_reading(self) -> None:
        """Something else is wanted; what was read so far stays."""
        if self._reading is not None:
            self._session.stop()

    def take(self, event: Event) -> bool:
        """Note the end of a reading, or of a restoring; whether it was a reading."""
        ended = event.request_ids if isinstance(event, EngineLost) else (getattr(event, "request_id", None),)
        if isinstance(event, ChatRestored | Failed | EngineLost) and self._restoring in ended:
            self._restoring = None
        is_end = isinstance(event, Finished | Failed | EngineLost) and self.is_reading() and self._reading in ended
        if is_end:
            self._reading = None
        return is_end

    def _request(
        self, chat: OpenChat, request_id: int, messages: tuple[Message, ...], *, continue_last: bool
    ) -> Generate:
        sampling = chat.head.settings.sampling
        return Generate(request_id, chat.head.id, messages, sampling, self._policy(chat), continue_last=continue_last)

    def _policy(self, chat: OpenChat) -> PolicySettings:
        return chat.head.settings.policy or self._preferences().setup(chat.conversation.model).policy

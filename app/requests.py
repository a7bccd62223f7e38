"""What is asked of the engine about a chat: an answer, or only that the chat is read into the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.engine_session import EngineSession
from app.open_chat import OpenChat
from app.settings.preferences import Preferences
from engine.messages import EngineLost, Event, Failed, Finished, Generate, Message


class Requests:
    """At most one reading is under way; it ends with `take` of the event that ends it."""

    def __init__(self, session: EngineSession, preferences: Callable[[], Preferences]) -> None:
        self._session = session
        self._preferences = preferences
        self._reading: int | None = None

    def is_reading(self, request_id: int | None = None) -> bool:
        """Whether a chat is only being read; with an id, whether that is this request."""
        return self._reading is not None and request_id in (None, self._reading)

    def answer(
        self, chat: OpenChat, request_id: int, messages: tuple[Message, ...], *, continue_last: bool = False
    ) -> None:
        """Ask for an answer, by what holds for the chat."""
        self._session.generate(self._request(chat, request_id, messages, continue_last=continue_last))

    def read(self, chat: OpenChat, messages: tuple[Message, ...]) -> None:
        """Have a chat in the cache before the next message needs it."""
        self._reading = self._session.next_request_id()
        request = self._request(chat, self._reading, messages, continue_last=chat.conversation.can_continue())
        # A request always samples: one token, which nobody sees and which takes no cell.
        self._session.generate(replace(request, sampling=replace(request.sampling, max_tokens=1)))

    def stop_reading(self) -> None:
        """Something else is wanted; what was read so far stays."""
        if self._reading is not None:
            self._session.stop()

    def take(self, event: Event) -> bool:
        """Note the end of a reading; whether this was it."""
        ended = event.request_ids if isinstance(event, EngineLost) else (getattr(event, "request_id", None),)
        is_end = isinstance(event, Finished | Failed | EngineLost) and self.is_reading() and self._reading in ended
        if is_end:
            self._reading = None
        return is_end

    def _request(
        self, chat: OpenChat, request_id: int, messages: tuple[Message, ...], *, continue_last: bool
    ) -> Generate:
        settings = chat.head.settings
        policy = settings.policy or self._preferences().setup(chat.conversation.model).policy
        return Generate(request_id, chat.head.id, messages, settings.sampling, policy, continue_last=continue_last)

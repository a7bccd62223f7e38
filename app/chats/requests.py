"""What is asked of the engine about a chat: an answer, or only that the chat is in the cache."""

from __future__ import annotations

from collections.abc import Callable

from app.chats.open_chat import OpenChat
from app.chats.sent_turns import SentTurns
from app.link.session import EngineSession
from app.store.preferences import Preferences
from engine.api.messages import ChatRestored, EngineLost, Event, Failed, Generate, Message, RestoreChat
from engine.api.settings import PolicySettings


class Requests:
    """At most one restoring is under way, which `take` of the event that ends it ends; with ``evaluate`` the person
    sees that the chat is being read.

    ``sent`` knows which turns were sent last.
    """

    def __init__(self, session: EngineSession, preferences: Callable[[], Preferences]) -> None:
        self._session = session
        self._preferences = preferences
        self._restoring: RestoreChat | None = None
        self.sent = SentTurns()

    @property
    def is_reading(self) -> bool:
        """Whether a chat is being read, and nothing else."""
        return self._restoring is not None and self._restoring.evaluate

    def messages(self, chat: OpenChat) -> tuple[Message, ...]:
        """A chat as it is now, about to be sent."""
        self.sent.remember(chat.conversation, chat.head.settings.system_prompt)
        return chat.conversation.messages(chat.head.settings.system_prompt)

    def answer(
        self, chat: OpenChat, request_id: int, messages: tuple[Message, ...], *, continue_last: bool = False
    ) -> None:
        """Ask for an answer, by what holds for the chat. A restoring under way is not stopped: it is what comes first
        anyway."""
        settings = chat.head.settings
        self._session.generate(
            Generate(
                request_id,
                chat.head.id,
                messages,
                settings.sampling,
                self.policy(chat),
                continue_last=continue_last,
            )
        )

    def restore(self, chat: OpenChat, *, evaluate: bool = False) -> None:
        """Have a chat in the cache before the next message needs it: what is kept of it, or all."""
        messages, continue_last = self.messages(chat), chat.conversation.can_continue()
        self._restoring = RestoreChat(
            self._session.next_request_id(),
            chat.head.id,
            messages,
            self.policy(chat),
            continue_last=continue_last,
            evaluate=evaluate,
        )
        self._session.restore(self._restoring)

    def stop(self) -> None:
        """Another chat is wanted; what was read or restored so far stays."""
        if self._restoring is not None:
            self._session.cancel(self._restoring.request_id)

    def stop_reading(self) -> None:
        """Something else is wanted of this chat; what was read so far stays."""
        if self.is_reading:
            self.stop()

    def take(self, event: Event) -> bool:
        """Note the end of a restoring; whether the chat was read for it."""
        ended = event.request_ids if isinstance(event, EngineLost) else (getattr(event, "request_id", None),)
        is_end = isinstance(event, ChatRestored | Failed | EngineLost)
        if not is_end or self._restoring is None or self._restoring.request_id not in ended:
            return False
        was_reading, self._restoring = self.is_reading, None
        return was_reading

    def policy(self, chat: OpenChat) -> PolicySettings:
        """What holds for a chat: its own, or else that of its model."""
        return chat.head.settings.policy or self._preferences().setup(chat.conversation.model).policy

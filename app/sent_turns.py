"""Which turn each message of the last request was, so that what the engine tells of messages is told of turns."""

from __future__ import annotations

from app.cache.visibility import visibility
from app.chat.turns import Visibility
from app.conversation import Conversation
from engine.messages import CacheChanged, CacheUsage, EngineLost, Event, ModelLoaded, ModelUnloaded


class SentTurns:
    """Knows one request, of one chat."""

    def __init__(self) -> None:
        self._chat_id = ""
        self._ids: tuple[int | None, ...] = ()
        self._seen_gone = (0, 0)

    def remember(self, conversation: Conversation, system_prompt: str) -> None:
        """What is sent now: the open version of a chat."""
        if conversation.chat_id != self._chat_id:
            self._seen_gone = (0, 0)
        self._chat_id = conversation.chat_id
        self._ids = conversation.turn_ids(system_prompt)

    def turn_id(self, conversation: Conversation, message_index: int | None) -> str | None:
        """The turn of a message (None: the answer); None for the system prompt, and where another chat is open."""
        if conversation.chat_id != self._chat_id:
            return None
        ids = (*self._ids, conversation.last.id if conversation.last else None)
        found = ids[-1 if message_index is None else min(message_index, len(ids) - 1)]
        return None if found is None else str(found)

    def seen_after(self, event: Event, conversation: Conversation) -> dict[str, Visibility]:
        """How much of each turn the model sees, where this event changed it."""
        if isinstance(event, CacheChanged):
            return self._newly_gone(conversation, event.usage)
        return self._forget(conversation) if isinstance(event, ModelLoaded | ModelUnloaded | EngineLost) else {}

    def _forget(self, conversation: Conversation) -> dict[str, Visibility]:
        """The cells are gone with all that was evicted from them: no turn is hidden from the model any more."""
        was_gone, self._seen_gone = self._seen_gone, (0, 0)
        if was_gone == (0, 0) or conversation.chat_id != self._chat_id:
            return {}
        return {str(turn_id): Visibility.ALL for turn_id in self._ids if turn_id is not None}

    def _newly_gone(self, conversation: Conversation, usage: CacheUsage) -> dict[str, Visibility]:
        """How much of each turn the model still sees, if that changed since it was last asked."""
        gone = (usage.n_evicted, usage.n_skipped)
        if usage.chat_id != conversation.chat_id or usage.chat_id != self._chat_id or gone == self._seen_gone:
            return {}
        self._seen_gone = gone
        return {
            str(self._ids[index]): seen
            for index, seen in visibility(usage.spans).items()
            if index < len(self._ids) and self._ids[index] is not None
        }

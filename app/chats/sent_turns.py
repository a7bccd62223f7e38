"""Which turn each message of the last request was, so that the engine's facts about messages can be shown on turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from app.chats.conversation import Conversation
from app.transcript.turns import Visibility
from engine.api.messages import CacheChanged, CacheUsage, EngineLost, Event, ModelLoaded, ModelUnloaded, Span, SpanState


class SentTurns:
    """Knows one request, of one chat, and of every chat what the model last saw of it."""

    def __init__(self) -> None:
        self._chat_id = ""
        self._ids: tuple[int | None, ...] = ()
        self._gone: tuple[int, int] | None = None
        self._seen: dict[str, dict[str, Visibility]] = {}

    def remember(self, conversation: Conversation, system_prompt: str) -> None:
        """What is sent now: the open version of a chat."""
        if conversation.chat_id != self._chat_id:
            self._gone = None
        self._chat_id = conversation.chat_id
        self._ids = conversation.turn_ids(system_prompt)

    def turn_id(self, conversation: Conversation, message_index: int | None) -> str | None:
        """The turn of a message (None: the answer); None for the system prompt, and where another chat is open."""
        if conversation.chat_id != self._chat_id:
            return None
        ids = (*self._ids, conversation.last.id if conversation.last else None)
        found = ids[-1 if message_index is None else min(message_index, len(ids) - 1)]
        return None if found is None else str(found)

    def seen(self, conversation: Conversation) -> dict[str, Visibility]:
        """How much of each turn the model sees, as it was last told of this chat."""
        return self._seen.get(conversation.chat_id, {})

    def seen_after(self, event: Event, conversation: Conversation) -> dict[str, Visibility]:
        """How much of each turn the model sees, where this event changed it."""
        if isinstance(event, CacheChanged):
            return self._newly_gone(conversation, event.usage)
        return self._forget(conversation) if isinstance(event, ModelLoaded | ModelUnloaded | EngineLost) else {}

    def _forget(self, conversation: Conversation) -> dict[str, Visibility]:
        """The cells are gone with all that was evicted from them: no turn is hidden from the model any more."""
        was_seen = self.seen(conversation)
        self._gone, self._seen = None, {}
        return dict.fromkeys(was_seen, Visibility.ALL)

    def _newly_gone(self, conversation: Conversation, usage: CacheUsage) -> dict[str, Visibility]:
        """How much of each turn the model still sees, if that changed since it was last asked."""
        gone = (usage.n_evicted, usage.n_skipped)
        if usage.chat_id != conversation.chat_id or usage.chat_id != self._chat_id or gone == self._gone:
            return {}
        self._gone = gone
        self._seen[usage.chat_id] = visibility(usage.spans, partial(self._turn_of, conversation))
        return self._seen[usage.chat_id]

    def _turn_of(self, conversation: Conversation, span: Span) -> str | None:
        """Marks of the template belong to no turn; the answer under way, or the last one, is in no message sent."""
        last = conversation.last
        is_answer = span.message_index is None and span.role == "assistant"
        if is_answer and last is not None and last.message.role == "assistant":
            return str(last.id)
        is_known = span.message_index is not None and span.message_index < len(self._ids)
        return self.turn_id(conversation, span.message_index) if is_known else None


def visibility(spans: Iterable[Span], turn_of: Callable[[Span], str | None]) -> dict[str, Visibility]:
    """By turn, for every turn that has tokens in the sequence; ``turn_of`` says whose a span is, None: no turn's."""
    cached: Counter[str] = Counter()
    gone: Counter[str] = Counter()
    for span in spans:
        turn_id = turn_of(span)
        if turn_id is not None:
            side = cached if span.state is SpanState.CACHED else gone
            side[turn_id] += span.end - span.start
    return {turn_id: _of(cached[turn_id], gone[turn_id]) for turn_id in {*cached, *gone}}


def _of(n_cached: int, n_gone: int) -> Visibility:
    if n_gone <= 0:
        return Visibility.ALL
    return Visibility.PARTLY if n_cached > 0 else Visibility.NONE

"""Which turns the model still sees."""

from __future__ import annotations

from app.chats.sent_turns import visibility
from app.transcript.turns import Visibility
from engine.api.messages import Span, SpanState
from tests.app.fake_engine import span


def test_a_turn_is_seen_whole_partly_or_not_at_all():
    spans = (
        span(0, 4, 0),
        span(4, 10, 1, SpanState.EVICTED),
        span(10, 14, 2, SpanState.SKIPPED),
        span(14, 20, 2),
        Span(20, 24, SpanState.EVICTED, "assistant", None, False),
    )
    turns = {0: "a", 1: "b", 2: "c", None: None}
    assert visibility(spans, lambda one: turns[one.message_index]) == {
        "a": Visibility.ALL,
        "b": Visibility.NONE,
        "c": Visibility.PARTLY,
    }


def test_spans_of_one_turn_count_together():
    spans = (span(0, 4, 0, SpanState.EVICTED), Span(4, 9, SpanState.CACHED, "assistant", None, False))
    assert visibility(spans, lambda _one: "a") == {"a": Visibility.PARTLY}

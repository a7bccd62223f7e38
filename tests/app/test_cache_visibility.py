"""Which messages the model still sees."""

from __future__ import annotations

from app.cache.visibility import visibility
from app.chat.turns import Visibility
from engine.messages import Span, SpanState
from tests.app.fake_engine import span


def test_a_message_is_seen_whole_partly_or_not_at_all():
    spans = (
        span(0, 4, 0),
        span(4, 10, 1, SpanState.EVICTED),
        span(10, 14, 2, SpanState.SKIPPED),
        span(14, 20, 2),
        Span(20, 24, SpanState.EVICTED, "assistant", None, False),
    )
    assert visibility(spans) == {0: Visibility.ALL, 1: Visibility.NONE, 2: Visibility.PARTLY}

"""Which messages of a chat the model still sees, from the spans of its sequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from app.chat.turns import Visibility
from engine.messages import Span, SpanState


def visibility(spans: Iterable[Span]) -> dict[int, Visibility]:
    """By message index, for every message that has tokens in the sequence."""
    cached: Counter[int] = Counter()
    gone: Counter[int] = Counter()
    for span in spans:
        if span.message_index is not None:
            side = cached if span.state is SpanState.CACHED else gone
            side[span.message_index] += span.end - span.start
    return {index: _of(cached[index], gone[index]) for index in {*cached, *gone}}


def _of(n_cached: int, n_gone: int) -> Visibility:
    if n_gone <= 0:
        return Visibility.ALL
    return Visibility.PARTLY if n_cached > 0 else Visibility.NONE

"""Which turns of a chat the model still sees, from the spans of its sequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from app.transcript.turns import Visibility
from engine.api.messages import Span, SpanState


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

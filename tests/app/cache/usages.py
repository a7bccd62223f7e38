"""Usages of caches for tests: chats of a system prompt and turns, in which the oldest were evicted."""

from __future__ import annotations

import itertools

from engine.api.messages import CacheUsage, Span, SpanState


def usage(
    n_cells: int,
    sizes: tuple[int, ...],
    *,
    n_sink: int = 0,
    n_evicted: int = 0,
    n_reused: int = 0,
    n_recomputed: int = 0,
    tokens_per_second: float | None = None,
    chat_id: str = "chat",
) -> CacheUsage:
    """The first message is the system prompt, then you and the assistant take turns; sizes are in tokens.

    What was evicted lies right behind the sinks.
    """
    spans: list[Span] = []
    start = 0
    gone = range(n_sink, n_sink + n_evicted)
    for index, size in enumerate(sizes):
        role = "system" if index == 0 else ("user", "assistant")[(index - 1) % 2]
        borders = sorted({start, start + size, *(b for b in (n_sink, gone.stop) if start < b < start + size)})
        for a, b in itertools.pairwise(borders):
            is_gone = a in gone
            state = SpanState.EVICTED if is_gone else SpanState.CACHED
            spans.append(Span(a, b, state, role, index, a < n_sink, None if is_gone else a))
        start += size
    n_used = start - n_evicted
    return CacheUsage(
        chat_id, n_cells, n_used, n_sink, n_cells - n_sink, n_evicted, 0, n_reused, n_cells - n_used, 0, n_recomputed,
        start, n_used * 100, n_cells * 100, tuple(spans), tokens_per_second,
    )  # fmt: skip

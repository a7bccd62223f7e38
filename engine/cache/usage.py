"""Cache usage reports: counts of the running request, the sequence as spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.api.chat import PromptTurn
from engine.api.messages import Span, SpanState
from engine.api.settings import Policy
from engine.cache.sequence import TokenSequence
from engine.cache.window import Limits


@dataclass
class CacheCounts:
    """Token counts since the request began (``n_renumbered`` counts renumberings)."""

    n_evicted: int = 0
    n_skipped: int = 0
    n_recomputed: int = 0
    n_renumbered: int = 0


def spans(sequence: TokenSequence, turns: Sequence[PromptTurn], limits: Limits) -> tuple[Span, ...]:
    """The sequence split wherever state, turn or being a sink changes; together the spans cover every token.

    The last turn goes on to the end of the sequence: it is the one being written.
    """
    n_tokens = len(sequence)
    borders = {0, n_tokens, min(limits.n_sink, n_tokens)}
    borders.update(run.start for run in sequence.runs)
    borders.update(min(turn.start, n_tokens) for turn in turns)
    ordered = sorted(borders)
    return tuple(_spans_between(sequence, turns, limits, ordered))


def _spans_between(
    sequence: TokenSequence, turns: Sequence[PromptTurn], limits: Limits, borders: Sequence[int]
) -> Iterator[Span]:
    runs, run_index, turn_index = sequence.runs, 0, 0
    for start, end in pairwise(borders):
        while runs[run_index].end <= start:
            run_index += 1
        while turn_index + 1 < len(turns) and turns[turn_index + 1].start <= start:
            turn_index += 1
        turn = turns[turn_index] if turns else None
        is_sink = start < limits.n_sink and runs[run_index].state is SpanState.CACHED
        role, message_index = (turn.role, turn.message_index) if turn else ("", None)
        run = runs[run_index]
        position = None if run.first_position is None else run.first_position + start - run.start
        yield Span(start, end, run.state, role, message_index, is_sink, position)


def n_until_eviction(sequence: TokenSequence, limits: Limits) -> int | None:
    """Tokens that still fit before something leaves the cache; None if nothing ever does."""
    return None if limits.policy is Policy.STOP else max(0, limits.capacity - sequence.n_cached)

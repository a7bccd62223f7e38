"""The token sequence against a plain list of tokens and positions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from engine.api.messages import SpanState
from engine.cache.sequence import TokenSequence

FEW = st.lists(st.integers(0, 5), max_size=8)
INDEX = st.integers(0, 40)


@dataclass(frozen=True)
class Token:
    token: int
    state: SpanState
    position: int | None = None


class SequenceAsList(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.sequence = TokenSequence()
        self.tokens: list[Token] = []

    def next_position(self) -> int:
        return max((one.position + 1 for one in self.tokens if one.position is not None), default=0)

    @rule(tokens=FEW)
    def feed(self, tokens: list[int]) -> None:
        first = self.next_position()
        self.sequence.append_cached(tokens, first)
        self.tokens += [Token(token, SpanState.CACHED, first + i) for i, token in enumerate(tokens)]

    @rule(tokens=FEW)
    def skip(self, tokens: list[int]) -> None:
        self.sequence.append_skipped(tokens)
        self.tokens += [Token(token, SpanState.SKIPPED) for token in tokens]

    @rule(start=INDEX, length=INDEX)
    def evict(self, start: int, length: int) -> None:
        end = start + length
        evicted = [i for i in range(start, min(end, len(self.tokens))) if self.tokens[i].state is SpanState.CACHED]
        assert self.sequence.evict(start, end) == len(evicted)
        for index in evicted:
            self.tokens[index] = replace(self.tokens[index], state=SpanState.EVICTED, position=None)

    @rule()
    def read_again(self) -> None:
        """The tokens behind the last cached one."""
        cached = [i for i, one in enumerate(self.tokens) if one.state is SpanState.CACHED]
        start, first = (cached[-1] + 1 if cached else 0), self.next_position()
        if start < len(self.tokens):
            self.sequence.recache(start, len(self.tokens), first)
            for index in range(start, len(self.tokens)):
                state, position = SpanState.CACHED, first + index - start
                self.tokens[index] = replace(self.tokens[index], state=state, position=position)

    @rule(length=INDEX)
    def truncate(self, length: int) -> None:
        self.sequence.truncate(length)
        del self.tokens[length:]

    @rule()
    def renumber(self) -> None:
        positions = [one.position for one in self.tokens if one.position is not None]
        moved: dict[int, int] = {}
        for run, delta in self.sequence.renumber():
            assert run.first_position is not None
            moved.update((position, position + delta) for position in range(run.first_position, run.end_position))
        assert [moved.get(position, position) for position in positions] == list(range(len(positions)))
        self.tokens = [
            one if one.position is None else replace(one, position=moved.get(one.position, one.position))
            for one in self.tokens
        ]

    @rule(tokens=FEW, n_same=INDEX)
    def compare(self, tokens: list[int], n_same: int) -> None:
        other = [one.token for one in self.tokens[:n_same]] + tokens
        expected = 0
        while expected < min(len(other), len(self.tokens)) and other[expected] == self.tokens[expected].token:
            expected += 1
        assert self.sequence.common_prefix(other) == expected

    @rule(start=INDEX, length=INDEX)
    def ask(self, start: int, length: int) -> None:
        end = start + length
        part = self.tokens[start:end]
        is_cached = len(part) == length and all(one.state is SpanState.CACHED for one in part)
        assert self.sequence.is_cached(start, end) is is_cached
        assert self.sequence.tokens(start, end) == [one.token for one in part]
        before = [one.position + 1 for one in self.tokens[:start] if one.position is not None]
        assert self.sequence.position_at(start) == max(before, default=0)
        cached = [
            (index, (run.first_position or 0) + index - run.start)
            for run in self.sequence.cached_runs(start, end)
            for index in range(run.start, run.end)
        ]
        assert cached == [(i, one.position) for i, one in enumerate(part, start) if one.position is not None]

    @invariant()
    def both_are_equal(self) -> None:
        runs = self.sequence.runs
        assert [run.start for run in runs] == [0, *(run.end for run in runs[:-1])][: len(runs)]
        assert all(not one.continues(other) for one, other in pairwise(runs)), "not joined"
        states = [run.state for run in runs for _index in range(run.start, run.end)]
        assert states == [one.state for one in self.tokens]
        assert len(self.sequence) == len(self.tokens)
        assert self.sequence.n_cached == self.sequence.count(SpanState.CACHED) == states.count(SpanState.CACHED)
        assert self.sequence.next_position == self.next_position()


class TestSequence(SequenceAsList.TestCase):
    """One operation after another."""

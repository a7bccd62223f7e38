"""The tokens a chat has fed, in order, and which of them still have cells."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.api.messages import SpanState


@dataclass(frozen=True)
class TokenRun:
    """Tokens ``[start, end)`` in one state; cached ones hold positions ``first_position`` and on, others hold none."""

    start: int
    end: int
    state: SpanState
    first_position: int | None = None

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def end_position(self) -> int:
        """The position after the last one of a cached run."""
        assert self.first_position is not None
        return self.first_position + self.length

    def cut(self, start: int, end: int) -> TokenRun:
        """The part of this run inside ``[start, end)``, which must overlap it."""
        start, end = max(start, self.start), min(end, self.end)
        position = None if self.first_position is None else self.first_position + start - self.start
        return replace(self, start=start, end=end, first_position=position)

    def continues(self, other: TokenRun) -> bool:
        """Whether this run and ``other``, which starts where this one ends, can be joined."""
        if self.state is not other.state:
            return False
        return self.first_position is None or self.end_position == other.first_position


class TokenSequence:
    """Every token of a chat, evicted and skipped ones included, with the position of each cached one.

    Kept as runs, of which there are few: sinks, what was evicted, the window. Positions of cached runs rise with the
    index; gaps between them are what was evicted in place::

        index     0    4              700            1200
        state     | cached | evicted    | cached       |
        position  0    4   .            700            1200      before renumbering
        position  0    4   .            4              504       after it
    """

    def __init__(self) -> None:
        self._tokens: array[int] = array("i")
        self._runs: list[TokenRun] = []
        self._n_cached = 0

    def __len__(self) -> int:
        return len(self._tokens)

    @property
    def runs(self) -> tuple[TokenRun, ...]:
        """All runs in order; together they cover every token."""
        return tuple(self._runs)

    @property
    def n_cached(self) -> int:
        return self._n_cached

    @property
    def next_position(self) -> int:
        """The position that the next token gets: one more than the last cached one's."""
        return self.position_at(len(self))

    def position_at(self, index: int) -> int:
        """The position that the next token gets after a truncation to ``index`` tokens."""
        for run in reversed(self._runs):
            if run.state is SpanState.CACHED and run.start < index:
                return run.end_position - max(0, run.end - index)
        return 0

    def count(self, state: SpanState) -> int:
        """The number of tokens in a state."""
        return sum(run.length for run in self._runs if run.state is state)

    def tokens(self, start: int = 0, end: int | None = None) -> list[int]:
        """Token ids of ``[start, end)``, all by default."""
        return self._tokens[start:end].tolist()

    def cached_runs(self, start: int = 0, end: int | None = None) -> Iterator[TokenRun]:
        """The cached parts of ``[start, end)``, in order."""
        end = len(self) if end is None else end
        for run in self._runs:
            if run.state is SpanState.CACHED and run.start < end and run.end > start:
                yield run.cut(start, end)

    def is_cached(self, start: int, end: int) -> bool:
        """Whether every token of ``[start, end)`` has a cell."""
        return sum(run.length for run in self.cached_runs(start, end)) == max(0, end - start)

    def common_prefix(self, tokens: Sequence[int]) -> int:
        """The length of the common prefix with ``tokens``, whatever the tokens' states."""
        other = array("i", tokens)
        low, high = 0, min(len(self._tokens), len(other))
        if self._tokens[:high] == other[:high]:
            return high
        while high - low > 1:
            middle = (low + high) // 2
            if self._tokens[low:middle] == other[low:middle]:
                low = middle
            else:
                high = middle
        return low

    def append_cached(self, tokens: Sequence[int], first_position: int) -> None:
        """Append tokens that were just decoded at ``first_position`` and on."""
        self._append(tokens, SpanState.CACHED, first_position)
        self._n_cached += len(tokens)

    def append_skipped(self, tokens: Sequence[int]) -> None:
        """Append tokens that are part of the chat and were never fed."""
        self._append(tokens, SpanState.SKIPPED, None)

    def append_evicted(self, tokens: Sequence[int]) -> None:
        """Append tokens whose cells have been evicted."""
        self._append(tokens, SpanState.EVICTED, None)

    def _append(self, tokens: Sequence[int], state: SpanState, first_position: int | None) -> None:
        if not len(tokens):
            return
        start = len(self._tokens)
        self._tokens.extend(tokens)
        last = self._runs[-1] if self._runs else None
        # Called for each sampled token: the usual case creates only one run.
        if last is not None and last.state is state and (first_position is None or last.end_position == first_position):
            self._runs[-1] = TokenRun(last.start, start + len(tokens), state, last.first_position)
        else:
            self._runs.append(TokenRun(start, start + len(tokens), state, first_position))

    def evict(self, start: int, end: int) -> int:
        """Mark the cached tokens of ``[start, end)`` as evicted; returns their number."""
        evicted = list(self.cached_runs(start, end))
        for run in evicted:
            self._replace(replace(run, state=SpanState.EVICTED, first_position=None))
            self._n_cached -= run.length
        return sum(run.length for run in evicted)

    def copy(self) -> TokenSequence:
        """An independent copy."""
        other = TokenSequence()
        other._tokens, other._runs, other._n_cached = self._tokens[:], list(self._runs), self._n_cached
        return other

    def recache(self, start: int, end: int, first_position: int) -> None:
        """Mark ``[start, end)``, none of it cached now, as decoded again at ``first_position`` and on."""
        self._replace(TokenRun(start, end, SpanState.CACHED, first_position))
        self._n_cached += end - start

    def truncate(self, length: int) -> None:
        """Forget the tokens from index ``length`` on."""
        del self._tokens[length:]
        self._runs = [run.cut(0, length) for run in self._runs if run.start < length]
        self._n_cached = sum(run.length for run in self.cached_runs())

    def renumber(self) -> list[tuple[TokenRun, int]]:
        """Give all cached tokens the positions 0, 1, 2, …; returns each run as it was, with its position delta."""
        moves: list[tuple[TokenRun, int]] = []
        position = 0
        for run in list(self.cached_runs()):
            assert run.first_position is not None
            if run.first_position != position:
                moves.append((run, position - run.first_position))
            position += run.length
        for run, delta in moves:
            assert run.first_position is not None
            self._replace(replace(run, first_position=run.first_position + delta))
        return moves

    def _replace(self, new: TokenRun) -> None:
        """Replace the range of a run by it, and join it with neighbours that it continues."""
        before = [run.cut(0, new.start) for run in self._runs if run.start < new.start]
        after = [run.cut(new.end, run.end) for run in self._runs if run.end > new.end]
        joined: list[TokenRun] = []
        for run in [*before, new, *after]:
            if joined and joined[-1].continues(run):
                joined[-1] = replace(joined[-1], end=run.end)
            else:
                joined.append(run)
        self._runs = joined

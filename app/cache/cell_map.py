"""Which token lies in which cell, in the order of the sequence, and how many cells hold what."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import IntEnum

from engine.api.messages import CacheUsage, Span, SpanState


class CellKind(IntEnum):
    """Whose token a cell holds; the low bits of a code."""

    FREE = 0
    SYSTEM = 1
    USER = 2
    ASSISTANT = 3
    OTHER = 4


_KINDS = {"system": CellKind.SYSTEM, "user": CellKind.USER, "assistant": CellKind.ASSISTANT}


def kind_of(role: str) -> CellKind:
    """The kind of a role; tools and whatever a template invents are OTHER."""
    return _KINDS.get(role, CellKind.OTHER)


@dataclass(frozen=True)
class CellPlace:
    """A cell in use: its span, the index of its token in the sequence, and its position."""

    cell: int
    span: Span
    index: int
    position: int | None


class CellMap:
    """Finds what lies in a cell."""

    def __init__(self, usage: CacheUsage) -> None:
        self._spans = [span for span in usage.spans if span.state is SpanState.CACHED]
        self._starts: list[int] = []
        self.n_used = 0
        for span in self._spans:
            self._starts.append(self.n_used)
            self.n_used += span.end - span.start

    def at(self, cell: int) -> CellPlace | None:
        """What lies in a cell; None in a free one."""
        if not 0 <= cell < self.n_used:
            return None
        number = bisect_right(self._starts, cell) - 1
        span, offset = self._spans[number], cell - self._starts[number]
        position = None if span.first_position is None else span.first_position + offset
        return CellPlace(cell, span, span.start + offset, position)


@dataclass(frozen=True)
class CellCounts:
    """Cells by CellKind; ``sinks`` and ``reused`` are among them."""

    kinds: tuple[int, ...]
    sinks: int
    reused: int

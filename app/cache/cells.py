"""Which token lies in which cell, in the order of the sequence, as numbers that a picture is made of."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from engine.messages import CacheUsage, Span, SpanState

Codes = npt.NDArray[np.uint8]


class Kind(IntEnum):
    """Whose token a cell holds; the low bits of a code."""

    FREE = 0
    SYSTEM = 1
    USER = 2
    ASSISTANT = 3
    OTHER = 4


N_KINDS = len(Kind)
KIND_BITS = 7
SINK = 8
REUSED = 16
N_CODES = 32
_KINDS = {"system": Kind.SYSTEM, "user": Kind.USER, "assistant": Kind.ASSISTANT}


def kind_of(role: str) -> Kind:
    """The kind of a role; tools and whatever a template invents are OTHER."""
    return _KINDS.get(role, Kind.OTHER)


def cell_codes(usage: CacheUsage) -> Codes:
    """One code for each cell: its kind, with SINK and REUSED added. Evicted tokens have no cell and take no place."""
    codes = np.zeros(usage.n_cells, np.uint8)
    cell = 0
    for span in usage.spans:
        if span.state is SpanState.CACHED:
            n_tokens = span.end - span.start
            codes[cell : cell + n_tokens] = kind_of(span.role) + (SINK if span.is_sink else 0)
            n_reused = min(span.end, usage.n_reused) - span.start
            if n_reused > 0:
                codes[cell : cell + n_reused] += REUSED
            cell += n_tokens
    return codes


def squares(codes: Codes, n_per_square: int) -> Codes:
    """One code for ``n_per_square`` cells at a time: the kind that most of them are, and the flags of any.

    A square with any used cell shows a use, so that a short system prompt is not lost among free cells.
    """
    if n_per_square == 1:
        return codes
    n_squares = -(-len(codes) // n_per_square)
    padded = np.zeros(n_squares * n_per_square, np.uint8)
    padded[: len(codes)] = codes
    blocks = padded.reshape(n_squares, n_per_square)
    rows = np.repeat(np.arange(n_squares, dtype=np.int32) * N_KINDS, n_per_square)
    counts = np.bincount(rows + (padded & KIND_BITS), minlength=n_squares * N_KINDS).reshape(n_squares, N_KINDS)
    used = counts[:, 1:]
    kinds = np.where(used.any(axis=1), used.argmax(axis=1) + 1, Kind.FREE)
    flags = np.bitwise_or.reduce(blocks, axis=1) & (SINK | REUSED)
    return (kinds + flags).astype(np.uint8)


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
    """Cells by what they hold; ``sinks`` and ``reused`` are among the kinds."""

    kinds: tuple[int, ...]
    sinks: int
    reused: int

    @classmethod
    def of(cls, codes: Codes) -> CellCounts:
        """Count the cells of codes that are one cell each."""
        by_code = np.bincount(codes, minlength=N_CODES)
        kinds = by_code.reshape(-1, KIND_BITS + 1).sum(axis=0)
        numbers = np.arange(N_CODES)
        return cls(
            tuple(int(kinds[kind]) for kind in Kind),
            int(by_code[(numbers & SINK) > 0].sum()),
            int(by_code[(numbers & REUSED) > 0].sum()),
        )

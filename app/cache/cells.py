"""Cells as numbers that a picture is made of: one code for each cell, or for a square of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.cache.cell_map import CellCounts, CellKind, kind_of
from engine.api.messages import CacheUsage, SpanState

Codes = npt.NDArray[np.uint8]


N_KINDS = len(CellKind)
KIND_BITS = 7
SINK = 8
REUSED = 16
N_CODES = 32


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
    kinds = np.where(used.any(axis=1), used.argmax(axis=1) + 1, CellKind.FREE)
    flags = np.bitwise_or.reduce(blocks, axis=1) & (SINK | REUSED)
    return (kinds + flags).astype(np.uint8)


def count_cells(codes: Codes) -> CellCounts:
    """Count codes that are one cell each."""
    by_code = np.bincount(codes, minlength=N_CODES)
    kinds = by_code.reshape(-1, KIND_BITS + 1).sum(axis=0)
    numbers = np.arange(N_CODES)
    return CellCounts(
        tuple(int(kinds[kind]) for kind in CellKind),
        int(by_code[(numbers & SINK) > 0].sum()),
        int(by_code[(numbers & REUSED) > 0].sum()),
    )

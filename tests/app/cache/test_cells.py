"""Cells as numbers: every cell in use is told from its spans, squares lose nothing that matters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cache.cell_grid import MAX_ROWS, Grid
from app.cache.cell_map import CellKind, CellMap
from app.cache.cells import REUSED, SINK, cell_codes, count_cells, squares
from tests.app.cache.usages import usage


def test_cells_follow_the_sequence_and_evicted_tokens_take_no_place():
    codes = cell_codes(usage(20, (4, 3, 6, 2), n_sink=4, n_evicted=5, n_reused=11))
    assert codes.tolist() == [
        *[CellKind.SYSTEM + SINK + REUSED] * 4,
        # You and two tokens of the answer are gone; what is left of it was reused up to index 11.
        *[CellKind.ASSISTANT + REUSED] * 2,
        *[CellKind.ASSISTANT] * 2,
        *[CellKind.USER] * 2,
        *[CellKind.FREE] * 10,
    ]


def test_counts_are_those_of_the_usage():
    shown = usage(100, (10, 20, 30, 5), n_sink=10, n_evicted=8, n_reused=40)
    counts = count_cells(cell_codes(shown))
    assert counts.kinds == (100 - shown.n_used, 10, 17, 30, 0)
    assert sum(counts.kinds) == shown.n_cells
    assert (counts.sinks, counts.reused) == (10, 32)


def test_a_cell_knows_its_token_and_position():
    cells = CellMap(usage(20, (4, 3, 6, 2), n_sink=4, n_evicted=5))
    assert cells.n_used == 10
    place = cells.at(4)
    assert (place.span.message_index, place.index, place.position) == (2, 9, 9)
    assert cells.at(3).span.is_sink
    assert cells.at(10) is None
    assert cells.at(-1) is None


def test_a_short_system_prompt_is_not_lost_in_a_square_of_free_cells():
    codes = cell_codes(usage(1000, (3,), n_sink=1))
    assert squares(codes, 100)[0] == CellKind.SYSTEM + SINK


@given(
    n_cells=st.integers(1, 3000),
    n_per_square=st.integers(1, 70),
    seed=st.integers(0, 1000),
)
def test_a_square_shows_the_kind_that_most_of_its_used_cells_are(n_cells, n_per_square, seed):
    codes = np.random.default_rng(seed).integers(0, 5, n_cells).astype(np.uint8)
    found = squares(codes, n_per_square)
    assert len(found) == -(-n_cells // n_per_square)
    for index, code in enumerate(found):
        block = codes[index * n_per_square : (index + 1) * n_per_square].tolist()
        used = [kind for kind in block if kind]
        if not used:
            assert code == CellKind.FREE
        else:
            assert used.count(code) == max(used.count(kind) for kind in used)


@given(n_cells=st.integers(1, 200_000), width=st.integers(60, 4000))
def test_a_grid_has_room_for_every_cell_and_finds_each_again(n_cells, width):
    grid = Grid.fitting(n_cells, width)
    assert grid.n_rows <= MAX_ROWS
    assert grid.n_columns * grid.n_rows >= grid.n_squares
    assert grid.n_columns * 6 - 1 <= max(width, 5)
    for square in {0, grid.n_squares // 2, grid.n_squares - 1}:
        center = grid.rect(square).center()
        assert grid.square_at(center.x(), center.y()) == square
    assert grid.cells(grid.n_squares - 1).stop == n_cells
    assert grid.square_at(-1, 0) is None
    assert grid.square_at(0, grid.height + 10) is None


@pytest.mark.parametrize("n_cells", [256, 2048, 131_072])
def test_squares_are_as_fine_as_the_room_allows(n_cells):
    grid = Grid.fitting(n_cells, 280)
    coarser = grid.n_per_square - 1
    assert coarser == 0 or n_cells > coarser * grid.n_columns * MAX_ROWS

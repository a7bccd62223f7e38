"""The picture of the cells: an update draws what a fresh picture would, and only where something changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cache.cell_grid import Grid
from app.cache.cell_map import CellKind
from app.cache.cell_raster import CellRaster, tiles
from app.cache.cells import N_CODES, REUSED, SINK, cell_codes
from app.look.colours import DARK, LIGHT
from tests.app.cache.usages import usage

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.mark.parametrize("tokens", [LIGHT, DARK])
def test_marks_differ_in_shape_not_only_in_colour(tokens):
    pictures = tiles(tokens, 2.0)
    shapes = set()
    for flags in (0, SINK, REUSED, SINK + REUSED):
        picture = pictures[CellKind.USER + flags]
        _, shape = np.unique(picture, return_inverse=True)
        shapes.add(shape.tobytes())
    assert len(shapes) == 4


def test_every_kind_has_a_colour_of_its_own():
    pictures = tiles(LIGHT, 1.0)
    assert len({int(pictures[kind][2, 2]) for kind in CellKind}) == len(CellKind)
    assert pictures.shape[0] == N_CODES


SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=8)


@given(before=SIZES, after=SIZES, n_sink=st.integers(0, 4), reused=st.integers(0, 200), width=st.integers(30, 400))
def test_an_update_draws_what_a_fresh_picture_would(before, after, n_sink, reused, width):
    grid = Grid.fitting(600, width)
    pictures = tiles(LIGHT, 1.0)
    old, new = (cell_codes(usage(600, tuple(sizes), n_sink=n_sink, n_reused=reused)) for sizes in (before, after))
    updated = CellRaster(grid, pictures, 1.0)
    updated.update(old)
    updated.update(new)
    fresh = CellRaster(grid, pictures, 1.0)
    fresh.update(new)
    assert updated.image == fresh.image


def test_one_more_token_touches_one_row():
    grid = Grid.fitting(131_072, 280)
    raster = CellRaster(grid, tiles(LIGHT, 1.0), 1.0)
    n_full = 50 * grid.n_per_square
    raster.update(cell_codes(usage(131_072, (10, n_full - 10))))
    touched = raster.update(cell_codes(usage(131_072, (10, n_full - 9))))
    assert touched.height() == 6
    assert raster.update(cell_codes(usage(131_072, (10, n_full - 9)))) is None
    assert raster.update(cell_codes(usage(131_072, (10, n_full - 8)))) is None


def test_behind_the_last_cell_there_is_nothing():
    grid = Grid.fitting(130, 280)
    image = CellRaster(grid, tiles(LIGHT, 1.0), 1.0).image
    last = grid.rect(grid.n_squares - 1)
    assert image.pixelColor(int(last.center().x()), int(last.center().y())).alpha() == 255
    assert image.pixelColor(int(last.right()) + 4, int(last.center().y())).alpha() == 0

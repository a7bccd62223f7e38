"""Draws cells into one picture over a NumPy buffer, as a grid of squares; only squares that changed are made again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QImage, QPainter

from app.cache.cell_grid import GAP, SQUARE, Grid
from app.cache.cell_map import CellKind
from app.cache.cells import KIND_BITS, N_CODES, REUSED, SINK, Codes, squares
from app.cache.marks import paint_mark, with_flags
from app.look.colours import Tokens

_COLORS = {
    CellKind.FREE: "cell_free",
    CellKind.SYSTEM: "cell_system",
    CellKind.USER: "cell_user",
    CellKind.ASSISTANT: "cell_assistant",
    CellKind.OTHER: "text_3",
}


def tiles(tokens: Tokens, ratio: float) -> npt.NDArray[np.uint32]:
    """A picture of every code, [code, y, x] in ARGB, in device pixels; the gap is part of it."""
    side = max(2, round((SQUARE + GAP) * ratio))
    inner = max(1, round(SQUARE * ratio))
    result = np.zeros((N_CODES, side, side), np.uint32)
    for code in range(N_CODES):
        kind = code & KIND_BITS
        if kind >= len(CellKind):
            continue
        image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(0)
        painter = QPainter(image)
        mark = with_flags(_COLORS[CellKind(kind)], is_sink=bool(code & SINK), is_reused=bool(code & REUSED))
        paint_mark(painter, QRectF(0, 0, inner, inner), mark, tokens)
        painter.end()
        pixels = np.frombuffer(image.constBits(), np.uint32).reshape(side, image.bytesPerLine() // 4)
        result[code] = pixels[:, :side]
    return result


class CellRaster:
    """``image`` shows the codes of the last `update`."""

    def __init__(self, grid: Grid, tile_pictures: npt.NDArray[np.uint32], ratio: float) -> None:
        self.grid = grid
        self._tiles = tile_pictures
        self._ratio = ratio
        self._side = side = tile_pictures.shape[1]
        self._codes: Codes = np.zeros(grid.n_cells, np.uint8)
        self._squares = squares(self._codes, grid.n_per_square)
        # QImage draws from this array and does not keep it alive.
        self._pixels = np.zeros((grid.n_rows * side, grid.n_columns * side), np.uint32)
        height, width = self._pixels.shape
        self.image = QImage(self._pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
        self.image.setDevicePixelRatio(ratio)
        self._draw(0, grid.n_squares)

    def update(self, codes: Codes) -> QRect | None:
        """Show other codes; the part of the picture that changed, in logical pixels, or None."""
        changed = np.flatnonzero(codes != self._codes)
        self._codes = codes
        if not len(changed):
            return None
        n = self.grid.n_per_square
        first, last = int(changed[0]) // n, int(changed[-1]) // n
        part = squares(codes[first * n : (last + 1) * n], n)
        touched = np.flatnonzero(part != self._squares[first : last + 1])
        self._squares[first : last + 1] = part
        if not len(touched):
            return None
        return self._draw(first + int(touched[0]), first + int(touched[-1]) + 1)

    def _draw(self, start: int, end: int) -> QRect:
        """Make the rows of squares ``[start, end)`` again."""
        columns, side = self.grid.n_columns, self._side
        first_row, last_row = start // columns, (end - 1) // columns
        shown = np.zeros((last_row + 1 - first_row) * columns, np.uint8)
        part = self._squares[first_row * columns : (last_row + 1) * columns]
        shown[: len(part)] = part
        rows = self._tiles[shown].reshape(-1, columns, side, side).swapaxes(1, 2).reshape(-1, columns * side)
        if (n_missing := len(shown) - len(part)) > 0:
            # Behind the last square there are no cells.
            rows[-side:, (columns - n_missing) * side :] = 0
        self._pixels[first_row * side : (last_row + 1) * side] = rows
        step = SQUARE + GAP
        return QRect(0, first_row * step, columns * step, (last_row + 1 - first_row) * step)

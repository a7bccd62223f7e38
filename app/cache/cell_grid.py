"""Where the squares of the cell strip stand."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF

SQUARE = 5
"""Side of a square in logical pixels."""
GAP = 1
MAX_ROWS = 14


@dataclass(frozen=True)
class Grid:
    """How cells are spread over squares; the squares run along rows."""

    n_cells: int
    n_columns: int
    n_rows: int
    n_per_square: int

    @classmethod
    def fitting(cls, n_cells: int, width: int) -> Grid:
        """As few cells to a square as ``width`` logical pixels and MAX_ROWS allow."""
        n_columns = max(1, (width + GAP) // (SQUARE + GAP))
        n_per_square = max(1, -(-n_cells // (n_columns * MAX_ROWS)))
        n_squares = -(-n_cells // n_per_square)
        return cls(n_cells, n_columns, max(1, -(-n_squares // n_columns)), n_per_square)

    @property
    def n_squares(self) -> int:
        return -(-self.n_cells // self.n_per_square)

    @property
    def height(self) -> int:
        """Logical pixels."""
        return self.n_rows * (SQUARE + GAP) - GAP

    def square_at(self, x: float, y: float) -> int | None:
        """The square at a point in logical pixels; the gaps belong to their square."""
        column, row = int(x // (SQUARE + GAP)), int(y // (SQUARE + GAP))
        square = row * self.n_columns + column
        is_inside = 0 <= column < self.n_columns and row >= 0 and 0 <= square < self.n_squares
        return square if is_inside else None

    def rect(self, square: int) -> QRectF:
        """Where a square stands, in logical pixels."""
        row, column = divmod(square, self.n_columns)
        return QRectF(column * (SQUARE + GAP), row * (SQUARE + GAP), SQUARE, SQUARE)

    def cells(self, square: int) -> range:
        """The cells of a square."""
        start = square * self.n_per_square
        return range(start, min(self.n_cells, start + self.n_per_square))

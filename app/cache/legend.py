"""Rows of a mark, a name and a number, in two columns where there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLayout, QSizePolicy, QWidget

from app.cache.marks import Mark, paint_mark
from app.look.theme import Theme

SIDE = 10
GAP = 14


class Swatch(QWidget):
    """A mark by itself."""

    def __init__(self, mark: Mark, theme: Theme) -> None:
        super().__init__()
        self._mark = mark
        self._theme = theme
        self.setFixedSize(QSize(SIDE, SIDE))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the mark."""
        super().paintEvent(event)
        painter = QPainter(self)
        paint_mark(painter, QRectF(0, 0, SIDE, SIDE), self._mark, self._theme.tokens)
        painter.end()


class Legend(QWidget):
    """Entries by name; an entry can be hidden while it says nothing."""

    def __init__(self, marks: Mapping[str, Mark], theme: Theme, prefix: str) -> None:
        super().__init__()
        self._theme = theme
        self._cells: dict[str, QWidget] = {}
        self._names: dict[str, QLabel] = {}
        self._values: dict[str, QLabel] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(3)
        self._grid.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self._arranged: list[tuple[QWidget, int, int]] = []
        # Its width is what it is given: as many columns as fit.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for name, mark in marks.items():
            self._add(name, mark, prefix)
        self._arrange()
        theme.changed.connect(self._restyle)
        self._restyle()

    def _add(self, name: str, mark: Mark, prefix: str) -> None:
        # With its parent from the start: shown without one, it would be a window of its own for a moment.
        cell = QWidget(self)
        row = QHBoxLayout(cell)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(7)
        label, value = QLabel(), QLabel()
        label.setProperty("level", "meta")
        value.setObjectName(f"{prefix}_{name}")
        row.addWidget(Swatch(mark, self._theme))
        row.addWidget(label, 1)
        row.addWidget(value, 0, Qt.AlignmentFlag.AlignRight)
        self._cells[name], self._names[name], self._values[name] = cell, label, value

    def set_words(self, words: Mapping[str, tuple[str, str]]) -> None:
        """Names and tooltips."""
        for name, (text, tip) in words.items():
            self._names[name].setText(text)
            self._cells[name].setToolTip(tip)
        self._arrange()

    def set_values(self, values: Mapping[str, str], hidden: Sequence[str] = ()) -> None:
        """The numbers as they stand; entries in ``hidden`` give their place to others."""
        for name, value in values.items():
            self._values[name].setText(value)
        for name, cell in self._cells.items():
            cell.setVisible(name not in hidden)
        self._arrange()

    def _arrange(self) -> None:
        """Fill the grid from the left and from the top."""
        shown = [cell for cell in self._cells.values() if not cell.isHidden()]
        widths = [cell.sizeHint().width() for cell in shown]
        is_wide = max(widths[::2], default=0) + max(widths[1::2], default=0) + GAP <= self.width()
        n_columns = 2 if is_wide and len(shown) > 1 else 1
        wanted = [(cell, index // n_columns, index % n_columns) for index, cell in enumerate(shown)]
        if wanted == self._arranged:
            return
        self._arranged = wanted
        for cell in self._cells.values():
            self._grid.removeWidget(cell)
        for cell, row, column in wanted:
            self._grid.addWidget(cell, row, column)
        for column in (0, 1):
            self._grid.setColumnStretch(column, 1 if column < n_columns else 0)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One column or two."""
        super().resizeEvent(event)
        self._arrange()

    def _restyle(self) -> None:
        font = self._theme.font(self._theme.sizes.meta, 500, tabular=True)
        for value in self._values.values():
            value.setFont(font)
        self._arrange()

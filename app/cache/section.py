"""A part of the cache panel: a heading, and rows of a name and a value."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.widgets.elided_label import ElidedLabel

NOTHING = "–"


class PanelSection(Retranslating, QWidget):
    """Subclasses add to ``column``, and give words in ``retranslate`` and numbers in ``render_facts``."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.heading = QLabel()
        self.heading.setProperty("level", "heading")
        self.aside = QLabel()
        self.aside.setProperty("level", "meta")
        top = QHBoxLayout()
        top.addWidget(self.heading, 1)
        top.addWidget(self.aside)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(8)
        self.column.addLayout(top)
        self._names: dict[str, ElidedLabel] = {}
        self._values: dict[str, QLabel] = {}

    def add_rows(self, *names: str) -> QGridLayout:
        """Rows with the name at the left and the value at the right."""
        grid = QGridLayout()
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(0, 1)
        for row, name in enumerate(names):
            grid.addWidget(self._add_name(name, "row"), row, 0)
            grid.addWidget(self._add_value(name, "value"), row, 1, Qt.AlignmentFlag.AlignRight)
        self.column.addLayout(grid)
        return grid

    def add_tiles(self, *names: str) -> None:
        """Two columns of a small name with a larger value below."""
        grid = QGridLayout()
        grid.setVerticalSpacing(0)
        for index, name in enumerate(names):
            row, column = divmod(index, 2)
            grid.addWidget(self._add_name(name, "meta"), 3 * row, column)
            value = self._add_value(name, "tile")
            value.setTextFormat(Qt.TextFormat.RichText)
            grid.addWidget(value, 3 * row + 1, column)
            if row:
                grid.setRowMinimumHeight(3 * row - 1, 8)
            grid.setColumnStretch(column, 1)
        self.column.addLayout(grid)

    def _add_name(self, name: str, level: str) -> QLabel:
        label = ElidedLabel()
        label.setProperty("level", level)
        self._names[name] = label
        return label

    def _add_value(self, name: str, level: str) -> QLabel:
        label = QLabel(NOTHING)
        label.setObjectName(f"cache_{name}")
        label.setProperty("level", level)
        self._values[name] = label
        return label

    def set_words(self, words: dict[str, tuple[str, str]]) -> None:
        """Names and tooltips of rows and tiles."""
        for name, (text, tip) in words.items():
            self._names[name].set_line(text, tip)
            self._values[name].setToolTip(tip)

    def set_value(self, name: str, text: str | None) -> None:
        """A value; None is a dash."""
        self._values[name].setText(NOTHING if text is None else text)

    def set_tile(self, name: str, value: str | None, unit: str = "") -> None:
        """A large value with a small unit; None is a dash."""
        if value is None:
            self._values[name].setText(NOTHING)
            return
        tokens, sizes = self._theme.tokens, self._theme.sizes
        style = f"font-size:{sizes.meta}px; font-weight:400; color:{tokens.text_2}"
        self._values[name].setText(f'{value} <span style="{style}">{unit}</span>')

    def restyle(self) -> None:
        """Take the fonts and colours in force."""
        sizes = self._theme.sizes
        for label in self._values.values():
            is_tile = label.property("level") == "tile"
            label.setFont(self._theme.font(sizes.title + 3 if is_tile else sizes.ui, 500, tabular=True))
        self.render_facts()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        raise NotImplementedError

    def render_facts(self) -> None:
        """Show what is known."""
        raise NotImplementedError

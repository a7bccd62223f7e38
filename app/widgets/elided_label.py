"""A line of plain text that ends in an ellipsis where there is no room for all of it; its tooltip has the rest."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.look.foreign_text import JOINERS, elided, visible
from app.look.plain_tip import plain_tip

LONGEST_LINE = 1_000


class ElidedLabel(QLabel):
    """``set_line`` instead of ``setText``; it takes the width it is given."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line = self._tip = ""
        self._shown: tuple[str, str, int, str] | None = None
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def line(self) -> str:
        """The whole text."""
        return self._line

    def set_line(self, line: str, tip: str = "") -> None:
        """Show a text, with more about it in the tooltip."""
        line = elided(visible(line, kept=JOINERS), LONGEST_LINE)
        if (line, tip) != (self._line, self._tip):
            self._line, self._tip = line, tip
            self.setAccessibleName(line)
            self._elide()

    def sizeHint(self) -> QSize:
        """One line, as wide as all of it."""
        metrics = self.fontMetrics()
        # Text is a fraction of a pixel wider than its rounded width now and then, and would be cut.
        return QSize(metrics.horizontalAdvance(self._line) + 1, metrics.height()).grownBy(self.contentsMargins())

    def minimumSizeHint(self) -> QSize:
        """One line of hardly anything."""
        return QSize(10, self.fontMetrics().height()).grownBy(self.contentsMargins())

    def _elide(self) -> None:
        # A style sheet tells of a change many times for one of the font.
        wanted = (self._line, self._tip, self.width(), self.font().key())
        if wanted == self._shown:
            return
        self._shown = wanted
        shown = self.fontMetrics().elidedText(self._line, Qt.TextElideMode.ElideRight, self.width())
        self.setText(shown)
        self.setToolTip(plain_tip("\n".join(filter(None, [self._line if shown != self._line else "", self._tip]))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or less of it."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
            self._elide()

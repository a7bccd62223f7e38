"""A line of plain text that ends in an ellipsis where there is no room for all of it; the tooltip has the rest."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


class ElidedLabel(QLabel):
    """``set_line`` instead of ``setText``; it takes the width it is given."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def line(self) -> str:
        """The whole text."""
        return self._line

    def set_line(self, line: str) -> None:
        """Show a text."""
        if line != self._line:
            self._line = line
            self.setAccessibleName(line)
            self._elide()

    def sizeHint(self) -> QSize:
        """One line, as wide as all of it."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._line), metrics.height())

    def minimumSizeHint(self) -> QSize:
        """One line of hardly anything."""
        return QSize(10, self.fontMetrics().height())

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._line, Qt.TextElideMode.ElideRight, self.width())
        self.setText(shown)
        self.setToolTip(self._line if shown != self._line else "")

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

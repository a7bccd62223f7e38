"""The few strokes that everything painted in the transcript is made of, in the fonts of the theme."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.look.theme import Theme


@dataclass(frozen=True)
class Look:
    """How one line is painted; an empty colour is that of text, size 0 that of controls."""

    color: str = ""
    size: int = 0
    weight: int = 400


class Canvas:
    """Paints lines of text and rounded rectangles; coordinates are in logical pixels."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.tokens = theme.tokens
        self.sizes = theme.sizes

    def width_of(self, text: str, look: Look) -> float:
        """How wide a line would be."""
        return QFontMetricsF(self._font(look)).horizontalAdvance(text)

    def _font(self, look: Look) -> QFont:
        return self.theme.font(look.size or self.sizes.ui, look.weight)

    def text(self, painter: QPainter, text: str, x: float, row: QRectF, look: Look) -> float:
        """Paint one line, vertically centred in `row` and cut at its end, and return where it ends."""
        font = self._font(look)
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, row.right() - x) + 1)
        painter.setFont(font)
        painter.setPen(QColor(look.color or self.tokens.text))
        painter.drawText(QPointF(x, row.center().y() + metrics.capHeight() / 2), shown)
        return x + metrics.horizontalAdvance(shown)

    def fill(self, painter: QPainter, rect: QRectF, color: str, radius: float) -> None:
        """A rounded rectangle without an edge."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(color))
        painter.drawRoundedRect(rect, radius, radius)

    def outline(self, painter: QPainter, rect: QRectF, color: str, radius: float, width: float = 1) -> None:
        """A rounded rectangle's edge."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(color), width))
        painter.drawRoundedRect(rect, radius, radius)

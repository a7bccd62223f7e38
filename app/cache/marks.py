"""The marks of cells and of memory: a colour and a pattern each, so that nobody has to tell them by colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.look.colours import Tokens


class Pattern(Enum):
    """What is drawn in the colour."""

    SOLID = "solid"
    RING = "ring"
    UNDERLINED = "underlined"
    RING_UNDERLINED = "ring_underlined"
    HATCHED = "hatched"


@dataclass(frozen=True)
class Mark:
    """``color`` names a token."""

    color: str
    pattern: Pattern = Pattern.SOLID


def with_flags(color: str, *, is_sink: bool, is_reused: bool) -> Mark:
    """The mark of a cell of this colour: a ring for a sink, a line below for what the last request reused."""
    pattern = {
        (False, False): Pattern.SOLID,
        (True, False): Pattern.RING,
        (False, True): Pattern.UNDERLINED,
        (True, True): Pattern.RING_UNDERLINED,
    }[is_sink, is_reused]
    return Mark(color, pattern)


def paint_mark(painter: QPainter, place: QRectF, mark: Mark, tokens: Tokens) -> None:
    """Fill ``place`` with the mark; lines are as thick as a sixth of it."""
    color = QColor(getattr(tokens, mark.color))
    if mark.pattern is Pattern.HATCHED:
        paint_hatching(painter, place, color)
        return
    painter.fillRect(place, color)
    line = max(1.0, place.height() / 6)
    if mark.pattern in (Pattern.RING, Pattern.RING_UNDERLINED):
        inner = place.adjusted(line, line, -line, -line)
        painter.fillRect(inner, QColor(tokens.side))
    if mark.pattern in (Pattern.UNDERLINED, Pattern.RING_UNDERLINED):
        height = max(1.0, place.height() / 4)
        painter.fillRect(
            QRectF(place.left(), place.bottom() - height, place.width(), height), QColor(tokens.cell_reused)
        )


def paint_hatching(painter: QPainter, place: QRectF, color: QColor, distance: float = 4.0) -> None:
    """Diagonal lines inside of ``place``."""
    painter.save()
    painter.setClipRect(place, Qt.ClipOperation.IntersectClip)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.2))
    x = place.left() - place.height()
    while x < place.right():
        painter.drawLine(QPointF(x, place.bottom()), QPointF(x + place.height(), place.top()))
        x += distance
    painter.restore()

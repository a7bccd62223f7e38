"""Draws the last minutes: an area for the cells in use, a line for the speed, marks for what left or was read again."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QPen, QPolygonF, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.cache.history import SPAN_S, History, MarkKind
from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from engine.api.messages import CacheUsage

HEIGHT = 70
MARK_HEIGHT = 15
REFRESH_MS = 1000


class Timeline(Retranslating, QWidget):
    """``clock`` gives seconds and never goes back."""

    def __init__(self, theme: Theme, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.setObjectName("timeline")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._clock = clock
        self.history = History()
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._on_timer)
        theme.changed.connect(self.update)
        self.retranslate()

    def sizeHint(self) -> QSize:
        """Any width."""
        return QSize(200, HEIGHT)

    def add(self, usage: CacheUsage) -> None:
        """Take a usage; it is drawn within a second, as painting costs more than most of them are worth."""
        self.history.add(usage, self._clock())
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()
            self.update()

    def clear(self) -> None:
        """All cells are gone; what was before stays in sight."""
        self.history.clear(self._clock())
        self.update()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setAccessibleName(self.tr("The last five minutes"))
        self.setToolTip(
            self.tr(
                "Area: cells in use. Line: tokens written per second.\n"
                "Triangle: tokens were evicted. Diamond: tokens were read again."
            )
        )
        self.update()

    def _on_timer(self) -> None:
        now = self._clock()
        self.history.forget(now)
        moments = self.history.moments
        if not moments or now - moments[-1].at > SPAN_S:
            # All is flat: nothing moves until the next usage.
            self._timer.stop()
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        """Resume drawing."""
        super().showEvent(event)
        if self.history.moments:
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop drawing while it is hidden."""
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is remembered."""
        super().paintEvent(event)
        tokens, now = self._theme.tokens, self._clock()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot = QRectF(0, MARK_HEIGHT, self.width(), self.height() - MARK_HEIGHT - 1)
        if self.history.moments:
            painter.setPen(QPen(QColor(tokens.line), 1))
            painter.drawLine(plot.bottomLeft(), plot.bottomRight())

        span_s = self.history.span_s(now)

        def x(at: float) -> float:
            return plot.right() - (now - at) / span_s * plot.width()

        self._paint_cells(painter, plot, x)
        self._paint_speed(painter, plot, x)
        for at, kind in self.history.marks:
            self._paint_mark(painter, x(at), kind)
        painter.end()

    def _paint_cells(self, painter: QPainter, plot: QRectF, x: Callable[[float], float]) -> None:
        moments = self.history.moments
        if not moments:
            return
        points = [QPointF(max(plot.left(), x(m.at)), plot.bottom() - m.share * plot.height()) for m in moments]
        points.append(QPointF(plot.right(), points[-1].y()))
        color = QColor(self._theme.tokens.cell_user)
        soft = QColor(color)
        soft.setAlpha(46)
        area = QPolygonF([QPointF(points[0].x(), plot.bottom()), *points, QPointF(plot.right(), plot.bottom())])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        painter.drawPolygon(area)
        painter.setPen(QPen(color, 1.4))
        painter.drawPolyline(QPolygonF(points))

    def _paint_speed(self, painter: QPainter, plot: QRectF, x: Callable[[float], float]) -> None:
        fastest = self.history.fastest
        if fastest <= 0:
            return
        tokens = self._theme.tokens
        painter.setPen(QPen(QColor(tokens.cell_assistant), 1.6))
        stretch: list[QPointF] = []
        for moment in (*self.history.moments, None):
            if moment is not None and moment.tokens_per_second is not None:
                height = moment.tokens_per_second / fastest * plot.height() * 0.9
                stretch.append(QPointF(x(moment.at), plot.bottom() - height))
                continue
            if len(stretch) == 1:
                painter.setBrush(QColor(tokens.cell_assistant))
                painter.drawEllipse(stretch[0], 1.5, 1.5)
                painter.setBrush(Qt.BrushStyle.NoBrush)
            elif stretch:
                painter.drawPolyline(QPolygonF(stretch))
            stretch = []
        painter.setFont(self._theme.font(self._theme.sizes.micro, tabular=True))
        painter.setPen(QColor(tokens.text_3))
        text = self.tr("{0} tok/s").format(language.number(fastest, 1))
        painter.drawText(QRectF(0, 0, self.width(), 24), Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, text)

    def _paint_mark(self, painter: QPainter, x: float, kind: MarkKind) -> None:
        tokens = self._theme.tokens
        painter.setPen(Qt.PenStyle.NoPen)
        half, top = 3.5, 1.0
        if kind is MarkKind.EVICTED:
            painter.setBrush(QColor(tokens.cell_reused))
            shape = [QPointF(x - half, top), QPointF(x + half, top), QPointF(x, top + 2 * half)]
        else:
            painter.setBrush(QColor(tokens.danger))
            middle = top + half
            shape = [
                QPointF(x, top),
                QPointF(x + half, middle),
                QPointF(x, top + 2 * half),
                QPointF(x - half, middle),
            ]
        painter.drawPolygon(QPolygonF(shape))

"""Paints a block of a turn: its quote bars and markers, its card or table, its text with the selection in it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFontMetricsF,
    QPainter,
    QPalette,
    QPen,
)

from app.look.icons import paint_icon
from app.transcript.blocks import BlockKind
from app.transcript.boxes import CARD_HEADER, QUIET_INDENT, QUOTE_INDENT, Box
from app.transcript.canvas import Canvas, Look
from app.transcript.documents import CELL_PADDING_TOP
from app.transcript.highlight import language_name
from app.transcript.labels import Labels
from app.transcript.turn_view import TurnView


class BoxPainter:
    """Paints boxes in the coordinates of their turn."""

    def __init__(self, canvas: Canvas, labels: Labels) -> None:
        self._canvas = canvas
        self._labels = labels
        self._tokens = canvas.tokens
        self._sizes = canvas.sizes

    def paint(
        self, painter: QPainter, view: TurnView, index: int, selection: tuple[int, int] | None, clip: QRectF
    ) -> None:
        """Paint what of one box of a turn lies in `clip`."""
        box = view.boxes[index]
        previous = view.boxes[index - 1] if index else None
        self._paint_containers(painter, box, previous)
        block, tokens = box.block, self._tokens
        if block.kind is BlockKind.RULE:
            y = box.y + box.height / 2
            painter.setPen(QPen(QColor(tokens.line_strong), 1))
            painter.drawLine(QPointF(box.x, y), QPointF(box.x + box.width, y))
        elif block.kind is BlockKind.CODE:
            self._paint_card(painter, box)
        elif block.table is not None:
            self._paint_table(painter, box)
        if box.built is not None:
            painter.save()
            if block.kind is BlockKind.CODE:
                painter.setClipRect(box.rect.adjusted(1, 0, -1, 0), Qt.ClipOperation.IntersectClip)
            self._paint_chips(painter, box, self._tokens.pressed if view.is_user else self._tokens.code_chip)
            if selection is not None:
                self._paint_selection(painter, box, *selection)
            self._paint_document(painter, box, clip)
            painter.restore()
            if box.overflow and not block.is_continued:
                self._paint_code_bar(painter, box)

    def _paint_containers(self, painter: QPainter, box: Box, previous: Box | None) -> None:
        """Quote bars, joined to the block before in the same quote, and item markers."""
        x = box.x - box.indent
        if box.is_quiet:
            top = previous.y + previous.height if previous is not None else box.y
            self._canvas.fill(painter, QRectF(x, top, 2, box.y + box.height - top), self._tokens.line_strong, 1)
            x += QUIET_INDENT
        for depth, container in enumerate(box.block.containers):
            if container.is_quote:
                is_joined = (
                    previous is not None
                    and previous.block.root == box.block.root
                    and len(previous.block.containers) > depth
                    and previous.block.containers[depth].is_quote
                )
                top = previous.y + previous.height - 3 if is_joined and previous is not None else box.y
                bar = QRectF(x, top, 3, box.y + box.height - top)
                self._canvas.fill(painter, bar, self._tokens.line_strong, 1.5)
                x += QUOTE_INDENT
            else:
                if container.marker:
                    self._paint_marker(painter, container.marker, x, box)
                x += box.item_indent

    def _paint_marker(self, painter: QPainter, marker: str, x: float, box: Box) -> None:
        tokens = self._tokens
        font = self._canvas.theme.font(self._sizes.body, tabular=True)
        cap = QFontMetricsF(font).capHeight()
        baseline = box.first_baseline()
        if box.block.kind in (BlockKind.CODE, BlockKind.TABLE) or baseline is None:
            baseline = box.y + (CARD_HEADER + cap) / 2
        middle = baseline - cap / 2
        if marker in ("☐", "☑"):
            rect = QRectF(x + 4.5, round(middle) - 7.5, 15, 15)
            if marker == "☑":
                self._canvas.fill(painter, rect.adjusted(-0.5, -0.5, 0.5, 0.5), tokens.accent, 4)
                paint_icon(painter, "check", tokens.on_accent, rect.adjusted(1.5, 1.5, -1.5, -1.5))
            else:
                self._canvas.outline(painter, rect, tokens.text_3, 4)
        elif marker == "•":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.text_2))
            painter.drawEllipse(QPointF(x + box.item_indent - 14, middle + 0.5), 2.5, 2.5)
        else:
            painter.setFont(font)
            painter.setPen(QColor(tokens.text_2 if box.is_quiet else tokens.text))
            width = QFontMetricsF(font).horizontalAdvance(marker)
            painter.drawText(QPointF(x + box.item_indent - 8 - width, baseline), marker)

    def _paint_card(self, painter: QPainter, box: Box) -> None:
        """The card of a piece of code; of one in parts, each part paints its share."""
        tokens, radius = self._tokens, float(self._sizes.radius_card)
        rect = box.rect.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.save()
        painter.setClipRect(box.rect, Qt.ClipOperation.IntersectClip)
        if box.block.continues:
            rect.setTop(rect.top() - 2 * radius)
        if box.block.is_continued:
            rect.setBottom(rect.bottom() + 2 * radius)
        self._canvas.fill(painter, rect, tokens.card, radius)
        self._canvas.outline(painter, rect, tokens.line, radius)
        painter.restore()
        if not box.is_card_top:
            return
        y = box.y + CARD_HEADER
        painter.setPen(QPen(QColor(tokens.line), 1))
        painter.drawLine(QPointF(box.x + 1, y + 0.5), QPointF(box.x + box.width - 1, y + 0.5))
        name = language_name(box.block.language) or self._labels.code
        header = QRectF(box.x, box.y, box.width - 100, CARD_HEADER)
        painter.save()
        painter.setClipRect(header, Qt.ClipOperation.IntersectClip)
        self._canvas.text(painter, name, box.x + 16, header, Look(tokens.text_2, self._sizes.meta, 500))
        painter.restore()

    def _paint_code_bar(self, painter: QPainter, box: Box) -> None:
        """Where in its long lines a card is scrolled to."""
        track = box.width - 2 * self._sizes.radius_card
        thumb = track * track / (track + box.overflow)
        x = box.x + self._sizes.radius_card + (track - thumb) * min(1.0, box.scroll_x / box.overflow)
        bar = QRectF(x, box.y + box.height - 7, thumb, 4)
        self._canvas.fill(painter, bar, self._tokens.line_strong, 2)

    def _paint_table(self, painter: QPainter, box: Box) -> None:
        if box.built is None or box.built.table is None:
            return
        table, tokens = box.built.table, self._tokens
        width, height = box.table_size
        rect = QRectF(box.x, box.y, width, height).adjusted(0.5, 0.5, -0.5, -0.5)
        layout = box.built.document.documentLayout()
        tops = []
        for row in range(table.rows()):
            cells = (table.cellAt(row, column) for column in range(table.columns()))
            first = min(layout.blockBoundingRect(cell.firstCursorPosition().block()).top() for cell in cells)
            tops.append(box.y + first - CELL_PADDING_TOP)
        radius = float(self._sizes.radius_card)
        if len(tops) > 1 and not box.block.continues:
            painter.save()
            painter.setClipRect(QRectF(box.x, box.y, width, tops[1] - box.y), Qt.ClipOperation.IntersectClip)
            self._canvas.fill(painter, rect, tokens.card, radius)
            painter.restore()
        painter.setPen(QPen(QColor(tokens.line), 1))
        for top in tops[1:]:
            y = round(top) + 0.5
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
        self._canvas.outline(painter, rect, tokens.line, radius)

    def _paint_chips(self, painter: QPainter, box: Box, color: str) -> None:
        if box.built is None:
            return
        for start, end in box.built.chips:
            for rect in box.range_rects(start, end):
                middle = rect.center().y()
                half = self._sizes.code * 0.73
                chip = QRectF(rect.x(), middle - half + 1, rect.width(), 2 * half)
                self._canvas.fill(painter, chip, color, self._sizes.radius_chip)

    def _paint_selection(self, painter: QPainter, box: Box, start: int, end: int) -> None:
        """The ground of what is selected, as high as the lines, so that they join."""
        line = self._sizes.code_line if box.block.kind is BlockKind.CODE else self._sizes.body_line
        for rect in box.range_rects(start, end):
            height = max(float(line), rect.height())
            ground = QRectF(rect.x(), round(rect.center().y() - height / 2), rect.width(), height)
            painter.fillRect(ground, QColor(self._tokens.selection))

    def _paint_document(self, painter: QPainter, box: Box, clip: QRectF) -> None:
        if box.built is None:
            return
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette.setColor(QPalette.ColorRole.Text, QColor(self._tokens.text))
        origin = QPointF(box.x, box.y) + box.text_origin
        if box.scale == 1:
            context.clip = clip.translated(-origin)
        painter.save()
        painter.translate(origin)
        painter.scale(box.scale, box.scale)
        box.built.document.documentLayout().draw(painter, context)
        painter.restore()

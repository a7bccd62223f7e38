"""Paints a turn: bubble, header, cards, tables, quotes, text with its selection, and the row under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPalette,
    QPen,
    QTextCharFormat,
)

from app.chat.blocks import Kind
from app.chat.boxes import CARD_HEADER, ITEM_INDENT, QUIET_INDENT, QUOTE_INDENT, Box
from app.chat.highlight import language_name
from app.chat.turn_view import BUTTON, HEADER, Hotspot, Spot, TurnView
from app.chat.turns import Action, TurnState, Visibility
from app.icons import paint_icon
from app.theme import Theme

GONE_OPACITY = 0.5

ICON_OF = {
    Action.COPY: "copy",
    Action.EDIT: "edit",
    Action.REGENERATE: "regenerate",
    Action.CONTINUE: "continue",
    Action.BRANCH: "branch",
    Action.PREVIOUS: "chevron-left",
    Action.NEXT: "chevron-right",
}


@dataclass
class Labels:
    """The words that are painted, in the language in force."""

    you: str = ""
    assistant: str = ""
    system: str = ""
    copy: str = ""
    copied: str = ""
    code: str = ""
    thinking: str = ""
    thoughts: str = ""
    gone: str = ""
    partly_gone: str = ""
    stopped: str = ""


@dataclass
class Moment:
    """What is true of a turn at the time of painting it."""

    shows_actions: bool = False
    hovered: Hotspot | None = None
    focused: Hotspot | None = None
    copied: Hotspot | None = None
    selection: Callable[[int], tuple[int, int] | None] = field(default=lambda _: None)


class TurnPainter:
    """Paints turns in the colours of a theme; coordinates are those of the turn, in logical pixels."""

    def __init__(self, theme: Theme, labels: Labels) -> None:
        self._theme = theme
        self._labels = labels
        self._tokens = theme.tokens
        self._sizes = theme.sizes

    def paint(self, painter: QPainter, view: TurnView, clip: QRectF, moment: Moment) -> None:
        """Paint what of the turn lies in `clip`."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_gone = view.turn.visibility is Visibility.NONE
        painter.setOpacity(GONE_OPACITY if is_gone else 1.0)
        if view.is_user:
            self._fill(painter, view.bubble, self._tokens.bubble, self._sizes.radius_bubble)
        else:
            self._paint_header(painter, view)
            if view.has_reasoning:
                self._paint_reasoning_row(painter, view, moment)
        for i, box in enumerate(view.boxes):
            if box.y > clip.bottom():
                break
            if box.y + box.height >= clip.top() - 24:
                previous = view.boxes[i - 1] if i else None
                self._paint_box(painter, box, previous, moment.selection(i))
        painter.setOpacity(1.0)
        self._paint_spots(painter, view, moment)
        if view.turn.note:
            self._paint_note(painter, view)
        self._paint_footer(painter, view, moment)

    def _paint_header(self, painter: QPainter, view: TurnView) -> None:
        turn, tokens = view.turn, self._tokens
        badge = QRectF(0, 1, 22, 22)
        self._fill(painter, badge, tokens.accent_soft, 6)
        if turn.role == "assistant":
            colors = (tokens.cell_assistant, tokens.cell_user, tokens.cell_user, tokens.cell_system)
            for i, color in enumerate(colors):
                cell = QRectF(badge.x() + 5.5 + (i % 2) * 6, badge.y() + 5.5 + (i // 2) * 6, 5, 5)
                self._fill(painter, cell, color, 1.5)
        else:
            paint_icon(painter, "settings", tokens.text_2, badge.adjusted(4, 4, -4, -4))
        default = self._labels.assistant if turn.role == "assistant" else self._labels.system
        x = self._text(painter, turn.author or default, 32, QRectF(0, 0, view.width, HEADER), weight=600)
        if turn.time:
            self._text(
                painter,
                turn.time,
                x + 10,
                QRectF(0, 0, view.width, HEADER),
                color=tokens.text_3,
                size=self._sizes.meta,
            )

    def _paint_reasoning_row(self, painter: QPainter, view: TurnView, moment: Moment) -> None:
        row, tokens = view.reasoning_rect, self._tokens
        is_thinking = view.turn.state is TurnState.STREAMING and not view.turn.text
        label = self._labels.thinking if is_thinking else self._labels.thoughts
        is_hovered = moment.hovered is not None and moment.hovered.spot is Spot.REASONING
        color = tokens.text if is_hovered else tokens.text_2
        icon = "chevron-down" if view.is_unfolded else "chevron-right"
        paint_icon(painter, "thinking", tokens.accent if is_thinking else color, QRectF(0, row.y() + 6, 16, 16))
        end = self._text(painter, label, 24, row, color=color, weight=500)
        paint_icon(painter, icon, color, QRectF(end + 6, row.y() + 7, 14, 14))

    def _paint_box(self, painter: QPainter, box: Box, previous: Box | None, selection: tuple[int, int] | None) -> None:
        self._paint_containers(painter, box, previous)
        block, tokens = box.block, self._tokens
        if block.kind is Kind.RULE:
            y = box.y + box.height / 2
            painter.setPen(QPen(QColor(tokens.line_strong), 1))
            painter.drawLine(QPointF(box.x, y), QPointF(box.x + box.width, y))
        elif block.kind is Kind.CODE:
            self._paint_card(painter, box)
        elif block.table is not None:
            self._paint_table(painter, box)
        if box.built is not None:
            self._paint_chips(painter, box)
            self._paint_document(painter, box, selection)

    def _paint_containers(self, painter: QPainter, box: Box, previous: Box | None) -> None:
        """Quote bars, joined to the block before in the same quote, and item markers."""
        x = box.x - box.indent
        if box.is_quiet:
            top = previous.y + previous.height if previous is not None else box.y
            self._fill(painter, QRectF(x, top, 2, box.y + box.height - top), self._tokens.line_strong, 1)
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
                self._fill(painter, bar, self._tokens.line_strong, 1.5)
                x += QUOTE_INDENT
            else:
                if container.marker:
                    self._paint_marker(painter, container.marker, x, box)
                x += ITEM_INDENT

    def _paint_marker(self, painter: QPainter, marker: str, x: float, box: Box) -> None:
        tokens = self._tokens
        font = self._theme.font(self._sizes.body, tabular=True)
        cap = QFontMetricsF(font).capHeight()
        baseline = box.first_baseline()
        if box.block.kind in (Kind.CODE, Kind.TABLE) or baseline is None:
            baseline = box.y + (CARD_HEADER + cap) / 2
        middle = baseline - cap / 2
        if marker in ("☐", "☑"):
            rect = QRectF(x + 4.5, round(middle) - 7.5, 15, 15)
            if marker == "☑":
                self._fill(painter, rect.adjusted(-0.5, -0.5, 0.5, 0.5), tokens.accent, 4)
                paint_icon(painter, "check", tokens.on_accent, rect.adjusted(1.5, 1.5, -1.5, -1.5))
            else:
                self._outline(painter, rect, tokens.text_3, 4)
        elif marker == "•":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.text_2))
            painter.drawEllipse(QPointF(x + ITEM_INDENT - 14, middle + 0.5), 2.5, 2.5)
        else:
            painter.setFont(font)
            painter.setPen(QColor(tokens.text_2 if box.is_quiet else tokens.text))
            width = QFontMetricsF(font).horizontalAdvance(marker)
            painter.drawText(QPointF(x + ITEM_INDENT - 8 - width, baseline), marker)

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
        self._fill(painter, rect, tokens.card, radius)
        self._outline(painter, rect, tokens.line, radius)
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
        self._text(painter, name, box.x + 16, header, color=tokens.text_2, size=self._sizes.meta, weight=500)
        painter.restore()

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
            tops.append(box.y + first - 5)
        radius = float(self._sizes.radius_card)
        if len(tops) > 1 and not box.block.continues:
            painter.save()
            painter.setClipRect(QRectF(box.x, box.y, width, tops[1] - box.y), Qt.ClipOperation.IntersectClip)
            self._fill(painter, rect, tokens.card, radius)
            painter.restore()
        painter.setPen(QPen(QColor(tokens.line), 1))
        for top in tops[1:]:
            y = round(top) + 0.5
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
        self._outline(painter, rect, tokens.line, radius)

    def _paint_chips(self, painter: QPainter, box: Box) -> None:
        if box.built is None:
            return
        for start, end in box.built.chips:
            for rect in box.range_rects(start, end):
                middle = rect.center().y()
                half = self._sizes.code * 0.73
                chip = QRectF(rect.x(), middle - half + 1, rect.width(), 2 * half)
                self._fill(painter, chip, self._tokens.code_chip, self._sizes.radius_chip)

    def _paint_document(self, painter: QPainter, box: Box, selection: tuple[int, int] | None) -> None:
        if box.built is None:
            return
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette.setColor(QPalette.ColorRole.Text, QColor(self._tokens.text))
        if selection is not None:
            cursor = box.cursor(*selection)
            if cursor is not None:
                selected = QAbstractTextDocumentLayout.Selection()
                selected.cursor = cursor
                look = QTextCharFormat()
                look.setBackground(QColor(self._tokens.selection))
                selected.format = look
                context.selections = [selected]
        origin = QPointF(box.x, box.y) + box.text_origin
        painter.save()
        painter.translate(origin)
        box.built.document.documentLayout().draw(painter, context)
        painter.restore()

    def _paint_spots(self, painter: QPainter, view: TurnView, moment: Moment) -> None:
        tokens = self._tokens
        for spot in view.hotspots(moment.shows_actions):
            is_hovered = moment.hovered is not None and spot.is_same(moment.hovered)
            is_copied = moment.copied is not None and spot.is_same(moment.copied)
            if spot.spot is Spot.COPY_CODE:
                self._paint_copy_button(painter, spot.rect, is_hovered, is_copied)
            elif spot.spot is Spot.ACTION and spot.action is not None:
                if is_hovered:
                    self._fill(painter, spot.rect, tokens.hover, 7)
                icon = "check" if is_copied else ICON_OF[spot.action]
                color = tokens.success if is_copied else tokens.text if is_hovered else tokens.text_2
                paint_icon(painter, icon, color, spot.rect.adjusted(6, 6, -6, -6))
            if moment.focused is not None and spot.is_same(moment.focused):
                ring = spot.rect if spot.spot is not Spot.LINK else spot.rect.adjusted(-2, 1, 2, -1)
                if spot.spot is Spot.REASONING:
                    ring = QRectF(ring.x() - 4, ring.y(), 180, ring.height())
                self._outline(painter, ring, tokens.accent, 6, 2)

    def _paint_copy_button(self, painter: QPainter, rect: QRectF, is_hovered: bool, is_copied: bool) -> None:
        tokens = self._tokens
        label = self._labels.copied if is_copied else self._labels.copy
        color = tokens.success if is_copied else tokens.text if is_hovered else tokens.text_2
        if is_hovered:
            self._fill(painter, rect, tokens.hover, 7)
        font = self._theme.font(self._sizes.meta, 500)
        width = QFontMetricsF(font).horizontalAdvance(label)
        left = rect.right() - 10 - width
        self._text(painter, label, left, rect, color=color, size=self._sizes.meta, weight=500)
        icon = QRectF(left - 21, rect.center().y() - 7.5, 15, 15)
        paint_icon(painter, "check" if is_copied else "copy", color, icon)

    def _paint_note(self, painter: QPainter, view: TurnView) -> None:
        tokens, row = self._tokens, view.note_rect
        is_failure = view.turn.state is TurnState.FAILED
        color = tokens.danger if is_failure else tokens.text_2
        paint_icon(painter, "error" if is_failure else "stop", color, QRectF(0, row.y() + 7, 16, 16))
        self._text(painter, view.turn.note, 24, row, color=color)

    def _paint_footer(self, painter: QPainter, view: TurnView, moment: Moment) -> None:
        turn, tokens = view.turn, self._tokens
        row = view.footer_rect
        label = {Visibility.NONE: self._labels.gone, Visibility.PARTLY: self._labels.partly_gone}.get(turn.visibility)
        n_buttons = len(view.actions) if moment.shows_actions else 0
        buttons = n_buttons * (BUTTON + 2)
        if view.is_user:
            if label:
                width = QFontMetricsF(self._theme.font(self._sizes.micro)).horizontalAdvance(label) + 20
                left = row.right() - buttons - width - (4 if buttons else 0)
                self._paint_gone(painter, label, left, row)
            return
        x = buttons + 4 if buttons else 0.0
        if label:
            x = self._paint_gone(painter, label, x, row) + 14
        if turn.facts and (moment.shows_actions or not label):
            facts = "  ·  ".join(turn.facts)
            self._text(painter, facts, x, row, color=tokens.text_3, size=self._sizes.meta)

    def _paint_gone(self, painter: QPainter, label: str, x: float, row: QRectF) -> float:
        color = self._tokens.text_3
        paint_icon(painter, "eye-off", color, QRectF(x, row.center().y() - 7, 14, 14))
        return self._text(painter, label, x + 20, row, color=color, size=self._sizes.micro)

    def _text(
        self,
        painter: QPainter,
        text: str,
        x: float,
        row: QRectF,
        *,
        color: str = "",
        size: int = 0,
        weight: int = 400,
    ) -> float:
        """Paint one line, vertically centred in `row`, and return where it ends."""
        font = self._theme.font(size or self._sizes.ui, weight, tabular=True)
        metrics = QFontMetricsF(font)
        room = max(0.0, row.right() - x)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room + 1)
        painter.setFont(font)
        painter.setPen(QColor(color or self._tokens.text))
        baseline = row.center().y() + (metrics.capHeight()) / 2
        painter.drawText(QPointF(x, baseline), shown)
        return x + metrics.horizontalAdvance(shown)

    def _fill(self, painter: QPainter, rect: QRectF, color: str, radius: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(color))
        painter.drawRoundedRect(rect, radius, radius)

    def _outline(self, painter: QPainter, rect: QRectF, color: str, radius: float, width: float = 1) -> None:
        path = QPainterPath()
        path.addRoundedRect(rect, radius, radius)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(color), width))
        painter.drawPath(path)

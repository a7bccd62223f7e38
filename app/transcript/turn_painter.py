"""Paints a turn: bubble, header, cards, tables, quotes, text with its selection, and the row under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QPainter,
)

from app.look.icons import paint_icon
from app.look.theme import Theme
from app.transcript.box_painter import BoxPainter
from app.transcript.canvas import Canvas, Look
from app.transcript.labels import Labels
from app.transcript.turn_view import HEADER, Hotspot, Spot, TurnView
from app.transcript.turns import Action, ShownState, Visibility

OPACITIES = {Visibility.NONE: 0.5, Visibility.PARTLY: 0.75, Visibility.ALL: 1.0}
"""What the model no longer sees is dimmed, and what it sees in part is so in part."""
GONE_ICON = 19
"""Pixels of the icon before the words about what the model no longer sees."""
GONE_GAP = 24

ICON_OF = {
    Action.COPY: "copy",
    Action.EDIT: "edit",
    Action.REGENERATE: "regenerate",
    Action.CONTINUE: "continue",
    Action.BRANCH: "branch",
    Action.DELETE: "trash",
    Action.PREVIOUS: "chevron-left",
    Action.NEXT: "chevron-right",
}


@dataclass
class PaintState:
    """What is true of a turn at the time of painting it."""

    shows_actions: bool = False
    hovered: Hotspot | None = None
    focused: Hotspot | None = None
    copied: Hotspot | None = None
    selection: Callable[[int], tuple[int, int] | None] = field(default=lambda _: None)


class TurnPainter:
    """Paints turns in the colours of a theme; coordinates are those of the turn, in logical pixels."""

    def __init__(self, theme: Theme, labels: Labels) -> None:
        self._canvas = Canvas(theme)
        self._boxes = BoxPainter(self._canvas, labels)
        self._labels = labels
        self._tokens = theme.tokens
        self._sizes = theme.sizes

    def paint(self, painter: QPainter, view: TurnView, clip: QRectF, moment: PaintState) -> None:
        """Paint what of the turn lies in `clip`."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(OPACITIES[view.turn.visibility])
        header_end = view.width
        if view.is_user:
            self._canvas.fill(painter, view.bubble, self._tokens.bubble, self._sizes.radius_bubble)
        else:
            header_end = self._paint_header(painter, view)
            if view.has_reasoning:
                self._paint_reasoning_row(painter, view, moment)
        for i in view.boxes_between(clip.top() - 24, clip.bottom()):
            self._boxes.paint(painter, view, i, moment.selection(i), clip.adjusted(0, -24, 0, 24))
        painter.setOpacity(1.0)
        if view.turn.state is ShownState.STREAMING and not view.is_user:
            self._paint_writing_mark(painter, view)
        self._paint_spots(painter, view, clip, moment)
        if view.turn.note:
            self._paint_note(painter, view)
        gone = self._gone_label(view.turn.visibility)
        if gone and header_end + GONE_GAP + self._gone_width(gone) <= view.width:
            self._paint_gone(painter, gone, QRectF(0, 0, view.width, HEADER))
            gone = ""
        self._paint_footer(painter, view, moment, gone)

    def _paint_header(self, painter: QPainter, view: TurnView) -> float:
        """The mark, the name and the time; returns where they end."""
        turn, tokens = view.turn, self._tokens
        badge = QRectF(0, 1, 22, 22)
        self._canvas.fill(painter, badge, tokens.accent_soft, 6)
        if turn.role == "assistant":
            colors = (tokens.cell_assistant, tokens.cell_user, tokens.cell_user, tokens.cell_system)
            for i, color in enumerate(colors):
                cell = QRectF(badge.x() + 5.5 + (i % 2) * 6, badge.y() + 5.5 + (i // 2) * 6, 5, 5)
                self._canvas.fill(painter, cell, color, 1.5)
        else:
            paint_icon(painter, "settings", tokens.text_2, badge.adjusted(4, 4, -4, -4))
        default = self._labels.assistant if turn.role == "assistant" else self._labels.system
        row = QRectF(0, 0, view.width, HEADER)
        x = self._canvas.text(painter, turn.author or default, 32, row, Look(weight=600))
        if turn.time:
            x = self._canvas.text(painter, turn.time, x + 10, row, Look(tokens.text_3, self._sizes.meta))
        return x

    def _paint_reasoning_row(self, painter: QPainter, view: TurnView, moment: PaintState) -> None:
        row, tokens = view.reasoning_rect, self._tokens
        is_thinking = view.turn.state is ShownState.STREAMING and not view.turn.text
        label = self._labels.thinking if is_thinking else self._labels.thoughts
        is_hovered = moment.hovered is not None and moment.hovered.spot is Spot.REASONING
        color = tokens.text if is_hovered else tokens.text_2
        icon = "chevron-down" if view.is_unfolded else "chevron-right"
        paint_icon(painter, "thinking", tokens.accent if is_thinking else color, QRectF(0, row.y() + 6, 16, 16))
        end = self._canvas.text(painter, label, 24, row, Look(color, weight=500))
        paint_icon(painter, icon, color, QRectF(end + 6, row.y() + 7, 14, 14))

    def _paint_writing_mark(self, painter: QPainter, view: TurnView) -> None:
        """A dot where the next words will come."""
        if view.boxes:
            at = view.boxes[-1].end_of_text()
        elif view.has_reasoning:
            return
        else:
            at = QPointF(-5, view.footer_rect.top() - self._sizes.body_line)
        if at is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._tokens.accent))
            painter.drawEllipse(at + QPointF(9, -self._sizes.body * 0.36), 4, 4)

    def _paint_spots(self, painter: QPainter, view: TurnView, clip: QRectF, moment: PaintState) -> None:
        tokens = self._tokens
        for spot in view.hotspots(clip.top() - 8, clip.bottom() + 8, moment.shows_actions):
            is_hovered = moment.hovered is not None and spot.is_same(moment.hovered)
            is_copied = moment.copied is not None and spot.is_same(moment.copied)
            if spot.spot is Spot.COPY_CODE:
                self._paint_copy_button(painter, spot.rect, is_hovered, is_copied)
            elif spot.spot is Spot.ACTION and spot.action is not None:
                if is_hovered:
                    self._canvas.fill(painter, spot.rect, tokens.hover, 7)
                icon = "check" if is_copied else ICON_OF[spot.action]
                color = tokens.success if is_copied else tokens.text if is_hovered else tokens.text_2
                paint_icon(painter, icon, color, spot.rect.adjusted(6, 6, -6, -6))
            if moment.focused is not None and spot.is_same(moment.focused):
                ring = spot.rect if spot.spot is not Spot.LINK else spot.rect.adjusted(-2, 1, 2, -1)
                if spot.spot is Spot.REASONING:
                    ring = QRectF(ring.x() - 4, ring.y(), 180, ring.height())
                self._canvas.outline(painter, ring, tokens.accent, 6, 2)

    def _paint_copy_button(self, painter: QPainter, rect: QRectF, is_hovered: bool, is_copied: bool) -> None:
        tokens = self._tokens
        label = self._labels.copied if is_copied else self._labels.copy
        color = tokens.success if is_copied else tokens.text if is_hovered else tokens.text_2
        if is_hovered:
            self._canvas.fill(painter, rect, tokens.hover, 7)
        look = Look(color, self._sizes.meta, 500)
        left = rect.right() - 10 - self._canvas.width_of(label, look)
        self._canvas.text(painter, label, left, rect, look)
        icon = QRectF(left - 21, rect.center().y() - 7.5, 15, 15)
        paint_icon(painter, "check" if is_copied else "copy", color, icon)

    def _paint_note(self, painter: QPainter, view: TurnView) -> None:
        tokens, row = self._tokens, view.note_rect
        color = tokens.danger if view.turn.state is ShownState.FAILED else tokens.text_2
        icon = {ShownState.FAILED: "error", ShownState.STOPPED: "stop"}.get(view.turn.state, "memory")
        paint_icon(painter, icon, color, QRectF(0, row.y() + 7, 16, 16))
        self._canvas.text(painter, view.turn.note, 24, row, Look(color))

    def _gone_label(self, visibility: Visibility) -> str:
        return {Visibility.NONE: self._labels.gone, Visibility.PARTLY: self._labels.partly_gone}.get(visibility, "")

    def _paint_footer(self, painter: QPainter, view: TurnView, moment: PaintState, label: str) -> None:
        """The row under a turn; ``label`` says what the model no longer sees, where the header has no room for it."""
        turn, row = view.turn, view.footer_rect
        right = row.right()
        # Under a bubble there is room for the words or the buttons; neither moves when the other appears.
        if label and not (view.is_user and moment.shows_actions):
            right = self._paint_gone(painter, label, row) - 12
        if moment.shows_actions and view.has_versions and turn.variant is not None:
            look = Look(self._tokens.text_2, self._sizes.meta)
            words = f"{turn.variant[0]} / {turn.variant[1]}"
            x = view.version_rect.center().x() - self._canvas.width_of(words, look) / 2
            self._canvas.text(painter, words, x, row, look)
        if moment.shows_actions and turn.facts and not view.is_user:
            facts = QRectF(row.left(), row.top(), right - row.left(), row.height())
            x = view.row_width + 4.0
            look = Look(self._tokens.text_3, self._sizes.meta)
            self._canvas.text(painter, "  ·  ".join(turn.facts), x, facts, look)

    def _paint_gone(self, painter: QPainter, label: str, row: QRectF) -> float:
        """The words at the right end of the row, where no button moves them; returns where they begin."""
        look = Look(self._tokens.text_3, self._sizes.micro)
        begin = row.right() - self._gone_width(label)
        paint_icon(painter, "eye-off", look.color, QRectF(begin, row.center().y() - 7, 14, 14))
        self._canvas.text(painter, label, begin + GONE_ICON, row, look)
        return begin

    def _gone_width(self, label: str) -> float:
        return GONE_ICON + self._canvas.width_of(label, Look(self._tokens.text_3, self._sizes.micro)) + 1

"""Paints the rows of the list of chats."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPen, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.chats.chat_list import ROW, Badge, ChatListModel, Index, Row, title_of
from app.look.icons import paint_icon
from app.look.theme import Theme
from app.store.records import MAX_TITLE
from app.store.words import hits

SIDE = 8
INSET = 10
MORE = 24
ROOM_FOR_MORE = 24
"""Pixels of a snippet that are wanted behind what was found."""
ROOM_FOR_WORDS = 200
"""Pixels of a row from which on there is room for the word of a tier beside its size."""


class ChatRows(QStyledItemDelegate):
    """``menu_wanted`` carries the index whose menu was asked for with the mouse, and where.

    ``opened`` is the id of the open chat, and ``wanted`` what is searched for.
    """

    menu_wanted = Signal(object, object)

    def __init__(self, theme: Theme, badge_of: Callable[[str], Badge | None], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._badge_of = badge_of
        self.opened = ""
        self.wanted = ""
        self.take_theme()

    def take_theme(self) -> None:
        """Fonts and heights of the theme in force."""
        sizes = self._theme.sizes
        self._title_font = self._theme.font(sizes.ui, 400)
        self._open_font = self._theme.font(sizes.ui, 500)
        self._heading_font = self._theme.font(sizes.micro, 600)
        self._small_font = self._theme.font(sizes.micro, tabular=True)
        self._row = QSize(0, sizes.ui + 23)
        self._hit_row = QSize(0, sizes.ui + sizes.micro + 34)
        self._heading_row = QSize(0, sizes.micro + 23)

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        """By the kind of row alone."""
        row: Row = index.data(ROW)
        if row.chat is None:
            return self._heading_row
        return self._hit_row if row.hit is not None and row.hit.snippet else self._row

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """A heading or a chat."""
        row: Row = index.data(ROW)
        rect = option.rect.adjusted(SIDE, 0, -SIDE, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.chat is None:
            painter.setFont(self._heading_font)
            painter.setPen(QColor(self._theme.tokens.text_2))
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
            painter.drawText(rect.adjusted(INSET, 0, 0, -5), flags, row.heading)
        else:
            self._paint_chat(painter, rect, row, option.state)
        painter.restore()

    def _paint_chat(self, painter: QPainter, rect: QRect, row: Row, state: QStyle.StateFlag) -> None:
        tokens, chat = self._theme.tokens, row.chat
        if chat is None:
            return
        is_open = chat.id == self.opened
        is_hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        body = QRectF(rect.adjusted(0, 1, 0, -1))
        if is_open or is_hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selected if is_open else tokens.hover))
            painter.drawRoundedRect(body, self._theme.sizes.radius_control, self._theme.sizes.radius_control)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(tokens.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(body.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        has_snippet = row.hit is not None and bool(row.hit.snippet)
        line = QRect(rect.left() + INSET, rect.top(), rect.width() - 2 * INSET, self._row.height())
        right = self._paint_right(painter, line, row, is_hovered=is_hovered)
        title = QRect(line.left(), line.top(), right - line.left(), line.height())
        color = tokens.text if is_open else tokens.text_2
        self._paint_line(painter, title, title_of(chat), self._open_font if is_open else self._title_font, color)
        if has_snippet and row.hit is not None:
            top = rect.top() + self._row.height() - 7
            below = QRect(line.left(), top, line.width(), self._theme.sizes.micro + 8)
            text = self._with_hit(row.hit.snippet, below.width())
            self._paint_line(painter, below, text, self._small_font, tokens.text_3)

    def _with_hit(self, snippet: str, width: int) -> str:
        """The snippet from so far on that its first hit is seen in this width."""
        start, end = next(iter(hits(snippet, self.wanted)), (0, 0))
        if QFontMetrics(self._small_font).horizontalAdvance(snippet[:end]) < width - ROOM_FOR_MORE:
            return snippet
        # With the word before it, if that is no longer than words are.
        space = snippet.rfind(" ", max(0, start - 14), max(0, start - 1))
        return "…" + snippet[space + 1 if space >= 0 else start :]

    def _paint_right(self, painter: QPainter, line: QRect, row: Row, *, is_hovered: bool) -> int:
        """The menu's dots, the pin, and where the cache is; the x that is left for the title."""
        tokens, chat = self._theme.tokens, row.chat
        right = line.right() + 1
        if chat is None:
            return right
        middle = line.center().y()
        if is_hovered:
            paint_icon(painter, "more", tokens.text_2, QRectF(right - 16, middle - 8, 17, 17))
            return right - MORE
        if chat.is_pinned:
            paint_icon(painter, "pin", tokens.text_3, QRectF(right - 13, middle - 6, 13, 13))
            right -= 19
        if (badge := self._badge_of(chat.id)) is not None:
            text = f"{badge.word} {badge.size}" if line.width() >= ROOM_FOR_WORDS else badge.size
            right -= self._paint_badge(painter, QPoint(right, middle), badge, text)
        return right - 4

    def _paint_badge(self, painter: QPainter, end: QPoint, badge: Badge, text: str) -> int:
        """The mark of a tier and a text, up to ``end``; how wide they are with the gap before them."""
        painter.setFont(self._small_font)
        metrics = QFontMetrics(self._small_font)
        width, height = metrics.horizontalAdvance(text), metrics.height()
        painter.setPen(QColor(self._theme.tokens.text_3))
        place = QRect(end.x() - width, end.y() - height // 2, width, height)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        color = QColor(getattr(self._theme.tokens, badge.color))
        mark = QRectF(end.x() - width - 11, end.y() - 2.5, 6, 6)
        if badge.is_hollow:
            painter.setPen(QPen(color, 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            mark.adjust(0.75, 0.75, -0.75, -0.75)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
        painter.drawEllipse(mark)
        return width + 18

    def _paint_line(self, painter: QPainter, rect: QRect, text: str, font: QFont, color: str) -> None:
        """One line, with what was searched for in the colour of text and heavier."""
        painter.setFont(font)
        painter.setPen(QColor(color))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if not self.wanted:
            painter.drawText(rect, flags, shown)
            return
        layout = QTextLayout(shown, painter.font())
        mark = QTextCharFormat()
        mark.setForeground(QColor(self._theme.tokens.text))
        mark.setFontWeight(600)
        ranges = []
        for start, end in hits(shown, self.wanted):
            one = QTextLayout.FormatRange()
            one.start, one.length, one.format = start, end - start, mark
            ranges.append(one)
        layout.setFormats(ranges)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(10_000)
        layout.endLayout()
        painter.setClipRect(rect)
        layout.draw(painter, QPoint(rect.left(), round(rect.center().y() - line.height() / 2)).toPointF())
        painter.setClipping(False)

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """A press on the dots asks for the menu."""
        if isinstance(event, QMouseEvent) and isinstance(model, ChatListModel):
            rect: QRect = option.rect
            at = event.position().toPoint()
            is_on_dots = at.x() > rect.right() - SIDE - INSET - MORE and at.y() < rect.top() + self._row.height()
            if index.data(ROW).chat is not None and is_on_dots:
                if event.type() == QEvent.Type.MouseButtonRelease:
                    self.menu_wanted.emit(model.index(index.row()), at)
                return True
        return super().editorEvent(event, model, option, index)

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, _index: Index) -> QWidget:
        """A field for the title."""
        field = QLineEdit(parent)
        field.setObjectName("chatTitle")
        field.setMaxLength(MAX_TITLE)
        field.setAccessibleName(self.tr("Title of the chat"))
        return field

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, _index: Index) -> None:
        """Over the title."""
        rect: QRect = option.rect
        editor.setGeometry(rect.adjusted(SIDE, 0, -SIDE, 0))

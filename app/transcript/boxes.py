"""A block in its place: where it stands in a turn, how high it is, and its document while it is near the screen."""

from __future__ import annotations

import math
from typing import cast

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QTextCursor, QTextLine

from app.look.colours import Sizes
from app.transcript.blocks import Block, BlockKind
from app.transcript.documents import Built, DocumentFactory

ITEM_INDENT_EM = 1.87
QUOTE_INDENT = 18.0
QUIET_INDENT = 16.0
CARD_HEADER = 38.0
CARD_PADDING_X = 16.0
CARD_PADDING_Y = 12.0
RULE_HEIGHT = 17.0


class Box:
    """One block laid out in a column.

    `x`, `y` are in the turn; `height` is an estimate until `lay_out`; `indent` is how far the containers of the block
    push it to the right and `scroll_x` how far long lines of code are scrolled.
    """

    def __init__(self, block: Block, is_quiet: bool, n_unread_breaks: int = 0) -> None:
        self.block = block
        self.is_quiet = is_quiet
        self.x = 0.0
        self.indent = 0.0
        self.item_indent = 0
        self.y = 0.0
        self.width = 0.0
        self.height = 0.0
        self.scroll_x = 0.0
        self.is_laid_out = False
        self.n_unread_breaks = n_unread_breaks
        self.built: Built | None = None
        self._table_size = (0.0, 0.0)

    @property
    def rect(self) -> QRectF:
        """The place of the block in its turn."""
        return QRectF(self.x, self.y, self.width, self.height)

    @property
    def is_ready(self) -> bool:
        """Whether there is nothing left to lay out."""
        kind = self.block.kind
        return kind is BlockKind.UNREAD or (self.is_laid_out and (self.built is not None or kind is BlockKind.RULE))

    @property
    def cost(self) -> int:
        """What laying it out takes, in characters of plain text."""
        table = self.block.table
        n_cells = len(table.rows) * len(table.align) if table is not None else 0
        n_characters = len(self.block.text())
        return 60 + n_characters * (2 if self.block.kind is BlockKind.CODE else 1) + 60 * n_cells

    @property
    def is_card_top(self) -> bool:
        """Whether a code card begins with this block."""
        return not self.block.continues

    @property
    def text_origin(self) -> QPointF:
        """Where the document's corner lies, relative to the box."""
        if self.block.kind is BlockKind.CODE:
            top = CARD_HEADER + CARD_PADDING_Y if self.is_card_top else 0.0
            return QPointF(CARD_PADDING_X - self.scroll_x, top)
        if self.block.kind is BlockKind.MATH and self.built is not None:
            return QPointF(max(0.0, (self.width - self.built.document.idealWidth()) / 2), 0.0)
        return QPointF(0.0, 0.0)

    @property
    def scale(self) -> float:
        """How much smaller a formula that is too wide is painted; 1 for all else."""
        if self.block.kind is not BlockKind.MATH or self.built is None:
            return 1.0
        return min(1.0, self.width / max(1.0, self.built.document.idealWidth()))

    @property
    def overflow(self) -> float:
        """By how much a line of code is longer than its card is wide."""
        if self.block.kind is not BlockKind.CODE or self.built is None:
            return 0.0
        return max(0.0, math.ceil(self.built.document.idealWidth()) - (self.width - 2 * CARD_PADDING_X))

    @property
    def table_size(self) -> tuple[float, float]:
        """Width and height of the table in a laid out table block."""
        return self._table_size

    def place(self, column: float, sizes: Sizes) -> None:
        """Take the width that is left in a column; a new width makes the height an estimate again."""
        self.item_indent = round(sizes.body * ITEM_INDENT_EM)
        self.indent = (QUIET_INDENT if self.is_quiet else 0.0) + sum(
            QUOTE_INDENT if container.is_quote else self.item_indent for container in self.block.containers
        )
        width = max(60.0, column - self.indent)
        if width == self.width and self.height:
            return
        self.x = self.indent
        self.width = width
        self.is_laid_out = False
        self.height = self._estimate(sizes)

    def take_block(self, block: Block, factory: DocumentFactory) -> None:
        """Show `block`, a newer state of the same block, keeping as much of the document as can be kept."""
        if self.built is not None and factory.can_grow(self.block, block):
            factory.grow(self.built, self.block, block)
        else:
            self.built = None
        self.block = block
        self.is_laid_out = False

    def lay_out(self, factory: DocumentFactory) -> bool:
        """Make the document if need be and find the true height; True if the height changed."""
        if self.is_ready:
            return False
        before = self.height
        self.is_laid_out = True
        if self.block.kind is BlockKind.RULE:
            self.height = RULE_HEIGHT
            return before != self.height
        if self.built is None:
            self.built = factory.build(self.block, self.is_quiet)
        document = self.built.document
        if self.block.kind is BlockKind.CODE:
            document.setTextWidth(-1)
            bottom = 0.0 if self.block.is_continued else CARD_PADDING_Y
            self.height = self.text_origin.y() + document.size().height() + bottom
        elif self.built.table is not None:
            document.setTextWidth(self.width)
            frame = document.documentLayout().frameBoundingRect(self.built.table)
            self._table_size = (min(frame.width(), self.width), frame.height())
            self.height = math.ceil(frame.height())
        elif self.block.kind is BlockKind.MATH:
            document.setTextWidth(-1)
            self.height = math.ceil(document.size().height() * self.scale)
        else:
            document.setTextWidth(self.width)
            self.height = math.ceil(document.size().height())
        return before != self.height

    def drop_document(self) -> None:
        """Forget the document; the height stays known."""
        self.built = None

    def natural_width(self, factory: DocumentFactory) -> float:
        """The width that the block would like to have, laid out at its present width."""
        self.lay_out(factory)
        if self.built is None or self.block.kind is BlockKind.CODE:
            return self.width
        if self.built.table is not None:
            return self._table_size[0]
        return math.ceil(self.built.document.idealWidth()) + 1.0

    def position_at(self, point: QPointF) -> int:
        """The document position nearest to a point in the turn."""
        if self.built is None:
            return 0
        inside = point - QPointF(self.x, self.y) - self.text_origin
        layout = self.built.document.documentLayout()
        return max(0, layout.hitTest(inside, Qt.HitTestAccuracy.FuzzyHit))

    def link_at(self, point: QPointF) -> str | None:
        """The address of the link under a point in the turn."""
        if self.built is None or not self.built.links:
            return None
        inside = point - QPointF(self.x, self.y) - self.text_origin
        at = self.built.document.documentLayout().hitTest(inside, Qt.HitTestAccuracy.ExactHit)
        return next((href for start, end, href in self.built.links if start <= at < end), None)

    def range_rects(self, start: int, end: int) -> list[QRectF]:
        """The rectangles in the turn, one per line, of a range of the document."""
        rects: list[QRectF] = []
        if self.built is None:
            return rects
        document = self.built.document
        origin = QPointF(self.x, self.y) + self.text_origin
        text_block = document.findBlock(start)
        while text_block.isValid() and text_block.position() < end:
            top_left = document.documentLayout().blockBoundingRect(text_block).topLeft()
            layout = text_block.layout()
            first = max(0, start - text_block.position())
            last = min(text_block.length() - 1, end - text_block.position())
            for i in range(layout.lineCount()):
                line = layout.lineAt(i)
                line_end = line.textStart() + line.textLength()
                if line_end <= first or line.textStart() >= last:
                    continue
                left = _x_of(line, max(first, line.textStart()))
                right = _x_of(line, min(last, line_end))
                rect = QRectF(left, line.y(), right - left, line.height())
                rects.append(rect.translated(origin + top_left))
            text_block = text_block.next()
        return rects

    def first_baseline(self) -> float | None:
        """The baseline of the first line of text, in the turn."""
        if self.built is None:
            return None
        layout = self.built.document.firstBlock().layout()
        if layout.lineCount() == 0:
            return None
        line = layout.lineAt(0)
        return self.y + self.text_origin.y() + line.y() + line.ascent()

    def end_of_text(self) -> QPointF | None:
        """Where the next character would stand, on the baseline, in the turn; None in a table or undrawn block."""
        if self.built is None or self.built.table is not None:
            return None
        last = self.built.document.lastBlock()
        layout = last.layout()
        if layout.lineCount() == 0:
            return None
        line = layout.lineAt(layout.lineCount() - 1)
        x = _x_of(line, last.length() - 1)
        corner = QPointF(self.x, self.y) + self.text_origin + layout.position()
        return corner + QPointF(x, line.y() + line.ascent())

    def text_length(self) -> int:
        """The last position of the document."""
        if self.built is None:
            return len(self.block.text())
        return max(0, self.built.document.characterCount() - 1)

    def cursor(self, start: int, end: int) -> QTextCursor | None:
        """A cursor over a range of the document, clipped to it."""
        if self.built is None:
            return None
        last = self.text_length()
        if self.built.table is not None:
            start = max(start, self.built.table.firstPosition())
        cursor = QTextCursor(self.built.document)
        cursor.setPosition(min(max(0, start), last))
        cursor.setPosition(min(max(0, end), last), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _estimate(self, sizes: Sizes) -> float:
        block = self.block
        if block.kind is BlockKind.RULE:
            return RULE_HEIGHT
        if block.kind is BlockKind.UNREAD:
            n_lines = estimated_lines(block.end - block.start, self.n_unread_breaks, self.width, sizes)
            return n_lines * sizes.body_line
        if block.table is not None:
            return len(block.table.rows) * (sizes.body_line + 9.0)
        text = block.text()
        if block.kind is BlockKind.CODE:
            edges = (CARD_HEADER + CARD_PADDING_Y if self.is_card_top else 0.0) + CARD_PADDING_Y
            return (text.count("\n") + 1) * sizes.code_line + edges
        return estimated_lines(len(text), text.count("\n"), self.width, sizes) * sizes.body_line


def _x_of(line: QTextLine, position: int) -> float:
    return cast("tuple[float, int]", line.cursorToX(position))[0]


def estimated_lines(n_chars: int, n_breaks: int, width: float, sizes: Sizes) -> int:
    """About how many lines a text takes; good enough for a scroll bar."""
    per_line = max(8.0, width / (sizes.body * 0.5))
    return max(n_breaks + 1, math.ceil(n_chars / per_line + n_breaks * 0.5))

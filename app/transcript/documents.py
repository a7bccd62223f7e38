"""Blocks as text documents, built format by format: no HTML is made, so none can be understood or fetched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextLength,
    QTextOption,
    QTextTable,
    QTextTableFormat,
)

from app.look.theme import Theme
from app.transcript.blocks import Block, BlockKind, Style, Table, TextSpan
from app.transcript.formula import FORMULA_TYPE, FormulaPainter, drawing, formula_format, formula_height
from app.transcript.highlight import highlight

CELL_PADDING_X = 14
TAB_COLUMNS = 4
MIN_GROWN = 1_500
CELL_PADDING_TOP = 4
CELL_PADDING_BOTTOM = 7
_HEADING_SIZES = {1: 1.45, 2: 1.25, 3: 1.1, 4: 1.0, 5: 1.0, 6: 1.0}
_LINE_BREAK = "\u2028"
# Narrow and without a break, so that the end of a line never parts it from its code.
_CHIP_PAD = "\u202f"


class TextLook(NamedTuple):
    """How a block's text looks apart from the styles of its spans; the size is in pixels."""

    size: int
    is_strong: bool
    is_quiet: bool
    is_tabular: bool = False


class SafeDocument(QTextDocument):
    """A document that loads nothing, whatever it is asked for."""

    def loadResource(self, kind: int, name: QUrl | str) -> QImage:  # noqa: ARG002
        return QImage()


@dataclass
class TextRun:
    """`[start, end)` in a document and where its text begins in the message (None: not there as it is)."""

    start: int
    end: int
    source: int | None


@dataclass
class Built:
    """A document with what is painted around it and what it came from; positions are the document's.

    `is_grown`: it was added to line by line, so its colours may be worse than those of a new one.
    """

    document: QTextDocument
    runs: list[TextRun] = field(default_factory=list)
    chips: list[tuple[int, int]] = field(default_factory=list)
    links: list[tuple[int, int, str]] = field(default_factory=list)
    table: QTextTable | None = None
    is_grown: bool = False


class DocumentFactory:
    """Builds documents in the colours and sizes of the theme; make a new one when the theme changes."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        self._theme = theme
        self._tokens = theme.tokens
        self._sizes = theme.sizes
        self._formulas = FormulaPainter(parent)
        self._formats: dict[tuple[Style, bool, TextLook], QTextCharFormat] = {}
        self._body = theme.font(self._sizes.body)
        self._code = theme.code_font()
        self._code_format = QTextCharFormat()
        self._code_format.setFont(self._code)
        self._code_format.setForeground(QColor(self._tokens.text))
        self._syntax: dict[str, QTextCharFormat] = {}
        for category in ("keyword", "name", "type", "string", "number", "comment"):
            text_format = QTextCharFormat(self._code_format)
            text_format.setForeground(QColor(getattr(self._tokens, f"syntax_{category}")))
            text_format.setFontItalic(category == "comment")
            self._syntax[category] = text_format

    def build(self, block: Block, is_quiet: bool) -> Built:
        """The document of one block, not yet laid out; `is_quiet` for reasoning."""
        built = Built(SafeDocument())
        document = built.document
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        document.setDefaultFont(self._code if block.kind is BlockKind.CODE else self._body)
        option = QTextOption()
        if block.kind is BlockKind.CODE:
            option.setWrapMode(QTextOption.WrapMode.NoWrap)
            option.setTabStopDistance(QFontMetricsF(self._code).horizontalAdvance(" " * TAB_COLUMNS))
        else:
            option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        document.documentLayout().registerHandler(FORMULA_TYPE, self._formulas)
        cursor = QTextCursor(document)
        if block.kind is BlockKind.CODE:
            self._write_code(cursor, built, block)
        elif block.table is not None:
            self._write_table(cursor, built, block.table, is_quiet)
        else:
            self._write_text(cursor, built, block, is_quiet)
        return built

    def can_grow(self, old: Block, new: Block) -> bool:
        """Whether `grow` can turn the document of `old` into that of `new`: long code that is still being written.

        Short or finished code is better built again, since strings and comments over several lines are then coloured
        as such.
        """
        if old.kind is not BlockKind.CODE or new.kind is not BlockKind.CODE or old.language != new.language:
            return False
        if new.is_closed or not old.spans or not new.spans or len(old.spans[0].text) < MIN_GROWN:
            return False
        return new.spans[0].text.startswith(old.spans[0].text)

    def grow(self, built: Built, old: Block, new: Block) -> None:
        """Add the new end of a piece of code; only lines that changed are coloured again."""
        old_text, new_text = old.spans[0].text, new.spans[0].text
        line_start = old_text.rfind("\n") + 1
        cursor = QTextCursor(built.document)
        cursor.beginEditBlock()
        cursor.setPosition(line_start)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._write_colored(cursor, new_text[line_start:], new.language)
        cursor.endEditBlock()
        built.runs = [TextRun(0, len(new_text), new.spans[0].source)]
        built.is_grown = True

    def _write_code(self, cursor: QTextCursor, built: Built, block: Block) -> None:
        text = block.spans[0].text if block.spans else ""
        cursor.beginEditBlock()
        cursor.setBlockFormat(self._line_format(self._sizes.code_line))
        self._write_colored(cursor, text, block.language)
        cursor.endEditBlock()
        built.runs.append(TextRun(0, len(text), block.spans[0].source if block.spans else None))

    def _write_colored(self, cursor: QTextCursor, text: str, language: str) -> None:
        done = 0
        for start, length, category in highlight(text, language):
            if start > done:
                cursor.insertText(text[done:start], self._code_format)
            cursor.insertText(text[start : start + length], self._syntax[category])
            done = start + length
        cursor.insertText(text[done:], self._code_format)

    def _write_text(self, cursor: QTextCursor, built: Built, block: Block, is_quiet: bool) -> None:
        size, line, is_strong = self._sizes.body, self._sizes.body_line, False
        if block.kind is BlockKind.HEADING:
            factor = _HEADING_SIZES.get(block.level, 1.0)
            size, line, is_strong = round(size * factor), round(line * (1 + (factor - 1) * 0.8)), True
        is_display = block.kind is BlockKind.MATH
        cursor.setBlockFormat(QTextBlockFormat() if is_display else self._line_format(line, size, block.spans))
        look = TextLook(size, is_strong, is_quiet)
        self._write_spans(cursor, built, block.spans, look, is_display)

    def _write_table(self, cursor: QTextCursor, built: Built, table: Table, is_quiet: bool) -> None:
        n_columns = max(1, len(table.align))
        table_format = QTextTableFormat()
        table_format.setBorder(0)
        table_format.setCellPadding(0)
        table_format.setCellSpacing(0)
        table_format.setTopMargin(0)
        table_format.setColumnWidthConstraints([QTextLength()] * n_columns)
        rows = [row for row in table.rows if any(row)] or [((),) * n_columns]
        has_header = bool(table.rows) and any(table.rows[0])
        cursor.beginEditBlock()
        built.table = cursor.insertTable(len(rows), n_columns, table_format)
        size = self._sizes.body - 1
        for r, row in enumerate(rows):
            is_header = r == 0 and has_header
            for c in range(n_columns):
                cell = built.table.cellAt(r, c)
                cell_format = cell.format().toTableCellFormat()
                cell_format.setTopPadding(CELL_PADDING_TOP)
                cell_format.setBottomPadding(CELL_PADDING_BOTTOM)
                cell_format.setLeftPadding(CELL_PADDING_X)
                cell_format.setRightPadding(CELL_PADDING_X)
                cell.setFormat(cell_format)
                cell_cursor = cell.firstCursorPosition()
                spans = row[c] if c < len(row) else ()
                line_format = self._line_format(self._sizes.body_line - 2, size, spans)
                line_format.setAlignment(_alignment(table.align[c] if c < len(table.align) else "left"))
                cell_cursor.setBlockFormat(line_format)
                look = TextLook(self._sizes.ui if is_header else size, is_header, is_quiet or is_header, True)
                self._write_spans(cell_cursor, built, spans, look, False)
        cursor.endEditBlock()

    def _write_spans(
        self,
        cursor: QTextCursor,
        built: Built,
        spans: tuple[TextSpan, ...],
        look: TextLook,
        is_display: bool,
    ) -> None:
        for span in spans:
            text_format = self._format(span, look)
            start = cursor.position()
            if span.style & Style.MATH and self._write_formula(cursor, span, text_format, is_display):
                built.runs.append(TextRun(start, start + 1, span.source))
                continue
            text = span.text.replace("\n", _LINE_BREAK)
            if span.style & Style.CODE:
                # The pads keep the rounded ground off the neighbouring words.
                pad_format = self._format(TextSpan("", span.style & ~Style.CODE, span.href), look)
                cursor.insertText(_CHIP_PAD, pad_format)
                cursor.insertText(text, text_format)
                cursor.insertText(_CHIP_PAD, pad_format)
                built.chips.append((start, cursor.position()))
                built.runs.append(TextRun(start + 1, cursor.position() - 1, span.source))
            else:
                cursor.insertText(text, text_format)
                built.runs.append(TextRun(start, cursor.position(), span.source))
            if span.href is not None:
                built.links.append((start, cursor.position(), span.href))

    def _write_formula(
        self, cursor: QTextCursor, span: TextSpan, text_format: QTextCharFormat, is_display: bool
    ) -> bool:
        color = text_format.foreground().color().name()
        if drawing(span.text, is_display, color) is None:
            return False
        cursor.insertText("\ufffc", formula_format(text_format, span.text, is_display))
        return True

    def _line_format(self, height: int, size: int = 0, spans: tuple[TextSpan, ...] = ()) -> QTextBlockFormat:
        """Lines of one height; lines that hold formulas taller than that are as high as they need to be."""
        line_format = QTextBlockFormat()
        types = QTextBlockFormat.LineHeightTypes
        if any(span.style & Style.MATH and formula_height(span.text, size) > height for span in spans):
            distance = height - QFontMetricsF(self._body).height()
            line_format.setTopMargin(distance / 2)
            line_format.setLineHeight(distance, types.LineDistanceHeight.value)
        else:
            line_format.setLineHeight(height, types.FixedHeight.value)
        return line_format

    def _format(self, span: TextSpan, look: TextLook) -> QTextCharFormat:
        style = span.style
        is_link = span.href is not None
        key = (style, is_link, look)
        found = self._formats.get(key)
        if found is not None:
            return found
        weight = 600 if look.is_strong or style & Style.BOLD else 400
        font = self._theme.font(look.size, weight, tabular=look.is_tabular)
        if style & Style.CODE:
            font = self._theme.code_font(round(look.size * self._sizes.code / self._sizes.body))
            font.setWeight(QFont.Weight(weight))
        font.setItalic(bool(style & Style.ITALIC))
        font.setStrikeOut(bool(style & Style.STRIKE))
        font.setUnderline(is_link and not style & Style.QUIET)
        tokens = self._tokens
        color = tokens.text_2 if look.is_quiet or style & Style.QUIET else tokens.text
        text_format = QTextCharFormat()
        text_format.setFont(font)
        text_format.setForeground(QColor(tokens.accent if is_link else color))
        self._formats[key] = text_format
        return text_format


def _alignment(name: str) -> Qt.AlignmentFlag:
    return {"right": Qt.AlignmentFlag.AlignRight, "center": Qt.AlignmentFlag.AlignHCenter}.get(
        name, Qt.AlignmentFlag.AlignLeft
    )

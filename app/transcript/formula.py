"""Formulas drawn inside a text document as vector graphics, with their source as text where drawing fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import mathra
from PySide6.QtCore import QByteArray, QRect, QRectF, QSizeF
from PySide6.QtGui import QFontMetricsF, QPainter, QPyTextObject, QTextCharFormat, QTextDocument, QTextFormat
from PySide6.QtSvg import QSvgRenderer

FORMULA_TYPE = QTextFormat.ObjectTypes.UserObject + 1
_TEX = QTextFormat.Property.UserProperty + 1
_DISPLAY = QTextFormat.Property.UserProperty + 2
MAX_TEX = 4000
# The formulas' font has a smaller x-height than the text's.
_ENLARGED = 1.06
_HEADER = re.compile(r'viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"')


@dataclass(frozen=True)
class Drawing:
    """A formula in units of 1/1000 of the font size; `ascent` is above the baseline."""

    renderer: QSvgRenderer
    width: float
    height: float
    ascent: float
    text: str


@lru_cache(maxsize=256)
def drawing(tex: str, is_display: bool, color: str) -> Drawing | None:
    """The drawing of a formula, or None if it cannot be drawn and is to be shown as text."""
    if len(tex) > MAX_TEX:
        return None
    try:
        result = mathra.render(tex, display=is_display)
    except Exception:  # noqa: BLE001  a library's failure on odd input must not hide the formula's text
        return None
    svg = result["svg"]
    match = _HEADER.search(svg)
    if match is None or result["warnings"]:
        return None
    # The library states its colour in a style sheet and draws the text once more, unseen: Qt needs neither.
    svg = re.sub(r"<(metadata|style|title)\b.*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<text\b[^>]*aria-hidden.*?</text>", "", svg, flags=re.DOTALL).replace("currentColor", color)
    _, top, width, height = (float(part) for part in match.groups())
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    if not renderer.isValid() or width <= 0 or height <= 0:
        return None
    return Drawing(renderer, width, height, -top, result["text"])


def formula_height(tex: str, pixel_size: int) -> float:
    """About how high a formula in a line of text is, in pixels; 0 if it cannot be drawn."""
    found = drawing(tex, False, "#000000")
    return 0.0 if found is None else found.height * pixel_size * _ENLARGED / 1000


def formula_format(base: QTextCharFormat, tex: str, is_display: bool) -> QTextCharFormat:
    """The format of the one character that stands for a formula."""
    result = QTextCharFormat(base)
    result.setObjectType(FORMULA_TYPE)
    result.setProperty(_TEX, tex)
    result.setProperty(_DISPLAY, is_display)
    # Middle is the one alignment for which Qt lets an object reach below the baseline.
    result.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    return result


class FormulaPainter(QPyTextObject):
    """Draws the formulas of a document."""

    def intrinsicSize(self, doc: QTextDocument, posInDocument: int, format: QTextFormat) -> QSizeF:  # noqa: A002, ARG002
        found = self._drawing(format)
        if found is None:
            return QSizeF(0, 0)
        size = self._size(format)
        return QSizeF(found.width * size / 1000 + 2, self._height(found, format))

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF | QRect,
        doc: QTextDocument,
        posInDocument: int,
        format: QTextFormat,  # noqa: A002
    ) -> None:
        found = self._drawing(format)
        if found is None:
            return
        size = self._size(format)
        top = self._baseline(doc, posInDocument, rect) - found.ascent * size / 1000
        target = QRectF(rect.left() + 1, top, found.width * size / 1000, found.height * size / 1000)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        found.renderer.render(painter, target)
        painter.restore()

    def _drawing(self, text_format: QTextFormat) -> Drawing | None:
        char_format = text_format.toCharFormat()
        color = char_format.foreground().color().name()
        return drawing(str(char_format.property(_TEX)), bool(char_format.property(_DISPLAY)), color)

    def _baseline(self, doc: QTextDocument, position: int, rect: QRectF | QRect) -> float:
        """Where the text of the line stands: Qt draws middle-aligned objects in the middle of the line's height."""
        block = doc.findBlock(position)
        line = block.layout().lineForTextPosition(position - block.position())
        if not line.isValid():
            return float(rect.bottom())
        return doc.documentLayout().blockBoundingRect(block).top() + line.y() + line.ascent()

    def _size(self, text_format: QTextFormat) -> float:
        return text_format.toCharFormat().font().pixelSize() * _ENLARGED

    def _height(self, found: Drawing, text_format: QTextFormat) -> float:
        """Enough for both sides: Qt counts (height + x)/2 of a middle-aligned object as above the baseline.

        Here x is half the x-height of the text.
        """
        size = self._size(text_format)
        x = QFontMetricsF(text_format.toCharFormat().font()).xHeight() / 2
        above = found.ascent * size / 1000
        below = (found.height - found.ascent) * size / 1000
        return max(2 * above - x, 2 * below + x)

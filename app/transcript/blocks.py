"""What a message is made of once its Markdown is read: blocks of styled spans that know where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, Flag, auto

from app.transcript.sections import Section


class BlockKind(Enum):
    """What a block is; UNREAD is a section of a message that no one has looked at yet."""

    PARAGRAPH = auto()
    HEADING = auto()
    CODE = auto()
    TABLE = auto()
    RULE = auto()
    MATH = auto()
    UNREAD = auto()


class Style(Flag):
    """How a span looks; MATH spans hold TeX."""

    PLAIN = 0
    BOLD = auto()
    ITALIC = auto()
    STRIKE = auto()
    CODE = auto()
    MATH = auto()
    QUIET = auto()


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A run of text in one style; `source` is the offset of its first character in the message, if it is known."""

    text: str
    style: Style = Style.PLAIN
    href: str | None = None
    source: int | None = None


@dataclass(frozen=True, slots=True)
class Container:
    """A quote or list item around a block; `marker` is set only on the first block of the item."""

    is_quote: bool
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells of spans, header first; `align` has "left", "center" or "right" per column."""

    align: tuple[str, ...]
    rows: tuple[tuple[tuple[TextSpan, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One leaf of a message: it is laid out and painted on its own.

    `[start, end)` is its range in the message; `root` is the start of the outermost block around it, and
    `section` what it was read with. `is_tight` means little space above;
    `continues` that it goes on from the block before it without any space (a giant paragraph, table or piece of code
    is cut into parts). An UNREAD block stands for its section, and is `is_closed` where that is Markdown.
    """

    kind: BlockKind
    start: int
    end: int
    root: int
    spans: tuple[TextSpan, ...] = ()
    level: int = 0
    language: str = ""
    containers: tuple[Container, ...] = ()
    table: Table | None = None
    is_tight: bool = False
    is_closed: bool = True
    continues: bool = False
    is_continued: bool = False
    section: Section | None = field(default=None, compare=False)

    def text(self) -> str:
        """The visible text, without the words of links."""
        if self.table is not None:
            return "\n".join("\t".join("".join(s.text for s in cell) for cell in row) for row in self.table.rows)
        return "".join(span.text for span in self.spans)

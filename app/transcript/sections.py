"""Cuts a message into sections that can be read one by one: each begins where Markdown may begin anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SECTION_CHARS = 8_000
SECTION_LINES = 160
SECTION_BARS = 300
"""What fills a section: characters, lines and the bars of tables, each by itself, or a part of each."""
MAX_FORMULA_LINES = 200

_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_LIST = re.compile(r"(?:[-*+]|(\d{1,9})([.)]))(?:[ \t]|$)")
_EMPTY_QUOTE = re.compile(r"[> \t]+$")
_TABLE_LINE = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_FORMULA_ENDS = {"$$": "$$", "\\[": "\\]"}


@dataclass(frozen=True)
class Section:
    """`[start, end)` of a message. In the middle of a table `header` are the lines that it began with, and in that of
    a list `number` is that of its first item."""

    start: int
    end: int
    header: str = ""
    number: int | None = None


def sections(source: str, begin: Section, end: int) -> list[Section]:
    """The sections of a text from one on; a longer text has the same first ones."""
    return list(_Cutter(source, begin, end).sections())


class _Cutter:
    """One walk over lines. A section ends where a block does once it is half full, and within one once it is full."""

    def __init__(self, source: str, begin: Section, end: int) -> None:
        self._source = source
        self._begin = begin
        self._at = begin.start
        self._end = end
        self._size = 0.0
        self._fence = ""
        self._formula = ""
        self._n_formula_lines = 0
        self._table = begin.header
        self._list: tuple[str, int] | None = None
        self._before = ""

    def sections(self) -> Iterator[Section]:
        first, header, number = self._begin.start, self._begin.header, self._begin.number
        while self._at < self._end:
            line_end = self._source.find("\n", self._at, self._end)
            line_end = self._end if line_end < 0 else line_end
            line = self._source[self._at : line_end]
            is_new, next_header, next_number = self._take(line)
            if is_new and self._at > first:
                yield Section(first, self._at, header, number)
                first, header, number = self._at, next_header, next_number
                self._size = 0.0
            self._size += len(line) / SECTION_CHARS + 1 / SECTION_LINES + line.count("|") / SECTION_BARS
            self._before = line
            self._at = line_end + 1
        if first < self._end or first == 0:
            yield Section(first, self._end, header, number)

    def _take(self, line: str) -> tuple[bool, str, int | None]:
        """Whether a section may begin with a line, with what it then needs to know."""
        if self._is_inside(line):
            return False, "", None
        header, number = self._table, self._count(line)
        self._look_for_table(line)
        header = header and self._table
        size = self._size
        is_indented = not line.strip() or line[0] in " \t"
        if size < 0.5 or is_indented:
            return False, "", None
        is_after_gap = not self._before.strip()
        item = _LIST.match(line)
        if is_after_gap and item is None:
            return True, "", None
        if size >= 1:
            if header:
                return "|" in line, header, None
            if item is not None:
                return True, "", number
            if line[0] == ">":
                return size >= 2 or bool(_EMPTY_QUOTE.match(self._before)), "", None
        return size >= 2 and not _TABLE_LINE.match(line) and set(line.strip()) - set("=-") != set(), "", None

    def _is_inside(self, line: str) -> bool:
        """Whether a line belongs to a fence or a formula that began before it; keeps account of both."""
        if self._fence:
            close = line.strip()
            if close.startswith(self._fence) and not close.strip(self._fence[0]):
                self._fence = ""
            return True
        if self._formula:
            self._n_formula_lines += 1
            if line.rstrip().endswith(self._formula) or self._n_formula_lines > MAX_FORMULA_LINES:
                self._formula = ""
            return True
        opening = line.lstrip(" ")
        fence = _FENCE.match(line)
        if fence is not None and (fence[1][0] == "~" or "`" not in line[fence.end() :]):
            self._fence = fence[1]
        elif opening[:2] in _FORMULA_ENDS and not opening[2:].rstrip().endswith(_FORMULA_ENDS[opening[:2]]):
            self._formula, self._n_formula_lines = _FORMULA_ENDS[opening[:2]], 0
        return False

    def _look_for_table(self, line: str) -> None:
        if self._table:
            if not line.strip() or line[0] in ">#" or _LIST.match(line):
                self._table = ""
        elif "|" in self._before and "-" in line and _TABLE_LINE.match(line):
            self._table = f"{self._before}\n{line}\n"

    def _count(self, line: str) -> int | None:
        """The number that an item of an ordered list has, which need not be the one written."""
        item = _LIST.match(line)
        if item is None:
            if line.strip() and line[0] not in " \t" and (line[0] in "#>`~|" or not self._before.strip()):
                self._list = None
            return None
        if item[1] is None:
            self._list = None
            return None
        mark = item[2]
        if self._list is None or self._list[0] != mark:
            is_first = self._at == self._begin.start and self._begin.number is not None
            self._list = (mark, self._begin.number if is_first and self._begin.number is not None else int(item[1]))
        else:
            self._list = (mark, self._list[1] + 1)
        return self._list[1]

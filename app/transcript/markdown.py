"""Markdown into blocks: nothing of the text is lost, no HTML is understood, nothing is ever fetched."""

from __future__ import annotations

import re
from dataclasses import replace

from app.transcript.block_parts import code_parts, plain_parts
from app.transcript.block_walk import BlockWalk
from app.transcript.blocks import Block, BlockKind, TextSpan
from app.transcript.sections import Section, sections

# Beyond these a text is still shown whole, but plain: reading it as Markdown could take seconds.
MAX_FORMATTED = 100_000
MAX_LINES = 4_000
MAX_LINE = 12_000
FORMULA_LOOK_BACK = 20
MAX_READ_AT_ONCE = 2
PLAIN_SECTION = 48_000

_OPEN_FORMULA = re.compile(r"^[ \t>]*(\$\$|\\\[)", re.MULTILINE)


def parse(source: str) -> list[Block]:
    """Read `source` (line ends as "\n") into blocks in its order; ranges are offsets into it."""
    return [part for block in parse_lazily(source) for part in read(source, block)]


def parse_lazily(source: str, begin: Section | None = None) -> list[Block]:
    """As `parse`, from a section on, but of a long text no section is read: an UNREAD block stands for each."""
    begin = begin or Section(0, 0)
    limit = _formatted_length(source)
    cut = sections(source, begin, limit) if begin.start < limit else []
    plain_start = max(begin.start, limit)
    cut += [Section(at, min(at + PLAIN_SECTION, len(source))) for at in range(plain_start, len(source), PLAIN_SECTION)]
    unread = [
        Block(BlockKind.UNREAD, one.start, one.end, one.start, section=one, is_closed=one.start < limit) for one in cut
    ]
    return read(source, unread[0]) if len(unread) == 1 else unread


def read(source: str, block: Block) -> list[Block]:
    """The blocks of an UNREAD one; any other is itself."""
    section = block.section
    if section is None or block.kind is not BlockKind.UNREAD:
        return [block]
    if not block.is_closed:
        return [replace(part, section=section) for part in _plain_of(source, section)]
    walk = BlockWalk(section.header + source[section.start : section.end], section.number)
    return [_moved(part, section) for part in walk.blocks() if part.end > len(section.header)]


def _plain_of(source: str, section: Section) -> list[Block]:
    parts = plain_parts(source, section.start, section.end, root=section.start)
    is_first = section.start == _formatted_length(source)
    return parts if is_first else [replace(parts[0], continues=True), *parts[1:]]


def parse_more(source: str, blocks: list[Block]) -> list[Block]:
    """The blocks of `source`, given those of a beginning of it: only its end is read again."""
    if not blocks:
        return parse_lazily(source)
    last = blocks[-1]
    can_grow = _formatted_length(source) == len(source) and not _has_open_formula(source, blocks)
    grown = _grown_code(source, last) if can_grow else None
    if grown is not None:
        return blocks[:-1] + grown
    begin = last.section or Section(0, 0)
    kept = len(blocks)
    while kept and blocks[kept - 1].start >= begin.start:
        kept -= 1
    return blocks[:kept] + _all_but_long(source, parse_lazily(source, begin))


def _has_open_formula(source: str, blocks: list[Block]) -> bool:
    """Whether a formula may yet end that began before the last block, and would take that in."""
    return any(
        block.kind is BlockKind.PARAGRAPH and _OPEN_FORMULA.search(source, block.start, block.end) is not None
        for block in blocks[-FORMULA_LOOK_BACK:]
    )


def _all_but_long(source: str, unread: list[Block]) -> list[Block]:
    """What was added is read at once unless it is more than a section or two."""
    return [part for block in unread for part in read(source, block)] if len(unread) <= MAX_READ_AT_ONCE else unread


def _grown_code(source: str, last: Block) -> list[Block] | None:
    """An open fence that has only grown, without reading it from its first line again; None if it may have ended."""
    if last.kind is not BlockKind.CODE or last.is_closed or last.containers:
        return None
    mark = source[last.root : last.root + 3]
    line_start = source.rfind("\n", 0, last.end) + 1
    added = source[line_start:]
    if mark not in ("```", "~~~") or mark in added or len(added) > 4 * MAX_LINE:
        return None
    code_start = last.spans[0].source if last.spans else None
    if code_start is None:
        return None
    return code_parts(last, source[code_start:].removesuffix("\n"), code_start)


def _moved(block: Block, section: Section) -> Block:
    offset = section.start - len(section.header)

    def moved(span: TextSpan) -> TextSpan:
        return span if span.source is None else replace(span, source=span.source + offset)

    table = block.table
    is_rest_of_table = bool(section.header) and block.root == 0 and table is not None
    if table is not None:
        rows = tuple(tuple(tuple(moved(span) for span in cell) for cell in row) for row in table.rows)
        if is_rest_of_table and not block.continues:
            rows = (((),) * len(table.align), *rows[1:])
        table = replace(table, rows=rows)
    return replace(
        block,
        start=max(block.start + offset, section.start),
        end=block.end + offset,
        root=max(block.root + offset, section.start),
        spans=tuple(moved(span) for span in block.spans),
        table=table,
        continues=block.continues or is_rest_of_table,
        section=section,
    )


def _formatted_length(source: str) -> int:
    """How much of the beginning is read as Markdown: whole lines, not too many, up to the first giant one."""
    limit = len(source)
    if limit > MAX_FORMATTED:
        limit = source.rfind("\n", 0, MAX_FORMATTED) + 1
    start = 0
    for _ in range(MAX_LINES):
        if start >= limit:
            return limit
        end = source.find("\n", start)
        end = limit if end < 0 else end
        if end - start > MAX_LINE:
            return start
        start = end + 1
    return min(start, limit)

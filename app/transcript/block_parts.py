"""A long block in parts of the same look, each of which lays out quickly."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from app.transcript.blocks import Block, BlockKind, Container, Style, TextSpan

PLAIN_PART = 2_000
CODE_PART_LINES = 120
CODE_PART_CHARS = 6_000


def plain_parts(source: str, start: int, end: int, root: int, containers: tuple[Container, ...] = ()) -> list[Block]:
    """A range shown as it is, cut into pieces that lay out quickly, at spaces where there are some."""
    parts: list[Block] = []
    position = start
    while position < end:
        cut = min(position + PLAIN_PART, end)
        if cut < end:
            space = max(source.rfind(" ", position + PLAIN_PART // 2, cut), source.rfind("\n", position, cut))
            cut = space + 1 if space > position else cut
        span = TextSpan(source[position:cut].rstrip("\n"), source=position)
        parts.append(
            Block(
                BlockKind.PARAGRAPH,
                position,
                cut,
                root,
                (span,),
                containers=containers,
                continues=position > start,
            )
        )
        position = cut
    return parts


def code_parts(block: Block, code: str, code_start: int) -> list[Block]:
    """A code block as one or, if it is long, several parts of the same card; spans hold the code."""
    lines = code.split("\n")
    pieces: list[str] = []
    current: list[str] = []
    size = 0
    for line in lines:
        if current and (len(current) >= CODE_PART_LINES or size + len(line) > CODE_PART_CHARS):
            pieces.append("\n".join(current))
            current, size = [], 0
        current.append(line)
        size += len(line) + 1
    pieces.append("\n".join(current))
    starts = list(accumulate((len(piece) + 1 for piece in pieces), initial=code_start))
    last = len(pieces) - 1
    return [
        replace(
            block,
            start=block.start if i == 0 else starts[i],
            end=block.end if i == last and block.is_closed else min(starts[i + 1], code_start + len(code)),
            spans=(TextSpan(piece, Style.CODE, source=starts[i]),),
            containers=block.containers if i == 0 else without_markers(block.containers),
            continues=block.continues or i > 0,
            is_continued=i < last,
        )
        for i, piece in enumerate(pieces)
    ]


def without_markers(containers: tuple[Container, ...]) -> tuple[Container, ...]:
    """The containers of a further part of a block, whose first part has shown the markers."""
    return tuple(Container(container.is_quote) for container in containers)

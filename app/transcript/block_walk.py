"""One walk over the tokens of a Markdown text, which makes blocks of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_cjk_friendly import cjk_friendly

from app.transcript import markdown_rules
from app.transcript.block_parts import code_parts, plain_parts, without_markers
from app.transcript.blocks import Block, BlockKind, Container, Style, Table, TextSpan
from app.transcript.inline import spans_of

# Beyond it a paragraph is still shown whole, but plain: reading it as Markdown could take seconds.
MAX_INLINE = 6_000
PARAGRAPH_LINES = 40
TABLE_PART_ROWS = 15
MAX_COLUMNS = 50

_CONTAINER_MARKS = re.compile(r"[\s>*+\-.)0-9\[\]xX]*")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 40})
    md.enable(["table", "strikethrough"])
    # A definition of a link reference would vanish from the text; as a paragraph it stays.
    md.disable(["reference"])
    md.use(cjk_friendly)
    markdown_rules.install(md)
    return md


@dataclass
class _Item:
    """An open container of the walk; `marker` is taken by the first leaf in it."""

    opening: Token
    marker: str = ""
    is_tight: bool = False
    n_leaves: int = 0

    @property
    def is_quote(self) -> bool:
        return self.opening.type == "blockquote_open"


class BlockWalk:
    """``number`` is that of the first item of a list the text begins with, if it is not the one written there."""

    def __init__(self, source: str, number: int | None = None) -> None:
        self._source = source
        self._number = number
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", source))]
        self._items: list[_Item] = []
        self._lists: list[tuple[int | None, int, bool]] = []
        self._blocks: list[Block] = []
        self._root = 0

    def blocks(self) -> list[Block]:
        """The blocks of the text, in its order."""
        tokens = _parser().parse(self._source)
        for i, token in enumerate(tokens):
            if token.level == 0 and token.map and token.nesting >= 0:
                self._root = self._offset(token.map[0])
            self._take(tokens, i, token)
        return self._blocks

    def _take(self, tokens: list[Token], i: int, token: Token) -> None:
        kind = token.type
        if kind == "blockquote_open":
            self._items.append(_Item(token))
        elif kind in ("bullet_list_open", "ordered_list_open"):
            first = int(token.attrs.get("start", 1)) if kind == "ordered_list_open" else None
            if first is not None and self._number is not None and i == 0:
                first = self._number
            self._lists.append((first, 0, _is_tight(tokens, i)))
        elif kind == "list_item_open":
            first, n_items, is_tight = self._lists[-1]
            self._lists[-1] = (first, n_items + 1, is_tight)
            marker = "•" if first is None else f"{first + n_items}{token.markup or '.'}"
            self._items.append(_Item(token, marker, is_tight))
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
        elif kind in ("blockquote_close", "list_item_close"):
            self._close_item()
        elif kind in ("paragraph_open", "heading_open"):
            self._add_text(token, tokens[i + 1])
        elif kind in ("fence", "code_block"):
            self._add_code(token)
        elif kind == "math_block":
            self._add_leaf(token, BlockKind.MATH, (TextSpan(token.content, Style.MATH, source=self._find(token)),))
        elif kind == "hr":
            self._add_leaf(token, BlockKind.RULE, ())
        elif kind == "table_open":
            self._add_table(tokens, i)

    def _offset(self, line: int) -> int:
        return self._line_starts[line] if line < len(self._line_starts) else len(self._source)

    def _range(self, token: Token) -> tuple[int, int]:
        """Where the lines of a block begin and end, without the last line break."""
        first, last = token.map or (0, 0)
        start, end = self._offset(first), self._offset(last)
        return start, end - 1 if end > start and self._source[end - 1] == "\n" else end

    def _find(self, token: Token) -> int | None:
        start, end = self._range(token)
        found = self._source.find(token.content, start, end)
        return found if found >= 0 else None

    def _containers(self) -> tuple[tuple[Container, ...], bool]:
        """The containers for the next leaf, whose markers it takes, and whether it follows tightly."""
        containers = tuple(Container(item.is_quote, item.marker) for item in self._items)
        is_tight = bool(self._items) and self._items[-1].is_tight and bool(self._blocks)
        for item in self._items:
            item.marker = ""
            item.n_leaves += 1
        return containers, is_tight

    def _add_leaf(self, token: Token, kind: BlockKind, spans: tuple[TextSpan, ...], level: int = 0) -> None:
        start, end = self._range(token)
        containers, is_tight = self._containers()
        is_tight = is_tight and start != self._root
        self._blocks.append(Block(kind, start, end, self._root, spans, level, containers=containers, is_tight=is_tight))

    def _add_text(self, token: Token, inline: Token) -> None:
        start, end = self._range(token)
        content, skipped = inline.content, 0
        if self._items and not self._items[-1].is_quote and self._items[-1].n_leaves == 0:
            mark = markdown_rules.task_mark(content)
            if mark is not None:
                self._items[-1].marker, skipped = mark
        if len(content) > MAX_INLINE:
            containers, _ = self._containers()
            self._blocks += plain_parts(self._source, start, end, self._root, containers)
            return
        spans = spans_of(inline.children or [], self._source, start, end, skipped)
        if token.type == "heading_open":
            self._add_leaf(token, BlockKind.HEADING, spans, int(token.tag[1:]))
        elif content.count("\n") > PARAGRAPH_LINES:
            self._add_many_lines(token, spans)
        else:
            self._add_leaf(token, BlockKind.PARAGRAPH, spans)

    def _add_many_lines(self, token: Token, spans: tuple[TextSpan, ...]) -> None:
        """A paragraph of very many lines, in parts that are laid out one by one."""
        parts: list[list[TextSpan]] = [[]]
        n_lines = 0
        for span in spans:
            n_lines += span.text == "\n"
            if n_lines == PARAGRAPH_LINES:
                parts.append([])
                n_lines = 0
            else:
                parts[-1].append(span)
        self._add_leaf(token, BlockKind.PARAGRAPH, tuple(parts[0]))
        whole = self._blocks.pop()
        starts = [next((span.source for span in part if span.source is not None), whole.end) for part in parts]
        ends = [*starts[1:], whole.end]
        for at, (part, end) in enumerate(zip(parts, ends, strict=True)):
            containers = without_markers(whole.containers) if at else whole.containers
            start = starts[at] if at else whole.start
            self._blocks.append(
                replace(whole, start=start, end=end, spans=tuple(part), containers=containers, continues=at > 0)
            )

    def _add_code(self, token: Token) -> None:
        start, end = self._range(token)
        containers, _ = self._containers()
        code = token.content.removesuffix("\n")
        code_start = start
        is_closed = True
        if token.type == "fence":
            code_start = min(self._offset((token.map or [0])[0] + 1), end)
            is_closed = self._is_fence_closed(token, end)
        block = Block(
            BlockKind.CODE,
            start,
            end,
            self._root,
            language=token.info.strip(),
            containers=containers,
            is_closed=is_closed,
        )
        self._blocks += code_parts(block, code, code_start)

    def _is_fence_closed(self, token: Token, end: int) -> bool:
        last_line = self._source[self._source.rfind("\n", 0, end) + 1 : end]
        first, last = token.map or (0, 0)
        return last - first > 1 and last_line.strip(" \t>").startswith(token.markup)

    def _add_table(self, tokens: list[Token], i: int) -> None:
        start, end = self._range(tokens[i])
        align: list[str] = []
        rows: list[tuple[tuple[TextSpan, ...], ...]] = []
        cells: list[tuple[TextSpan, ...]] = []
        row_range, begin = (start, end), start
        for j in range(i + 1, len(tokens)):
            token = tokens[j]
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                cells, row_range = [], self._range(token) if token.map else (start, end)
                begin = row_range[0]
            elif token.type in ("th_open", "td_open"):
                if token.type == "th_open":
                    align.append(str(token.attrGet("style") or "text-align:left").rpartition(":")[2])
                cells.append(spans_of(tokens[j + 1].children or [], self._source, begin, row_range[1]))
                begin = max([begin, *(span.source or 0 for span in cells[-1])])
            elif token.type == "tr_close":
                rows.append(tuple(cells))
                extra = self._extra_cells(row_range, len(align)) if len(rows) > 1 else ""
                if extra and cells:
                    rows[-1] = (*cells[:-1], (*cells[-1], TextSpan(f" | {extra}")))
        containers, is_tight = self._containers()
        if len(align) > MAX_COLUMNS:
            self._blocks += plain_parts(self._source, start, end, self._root, containers)
            return
        header = rows[:1]
        for at in range(0, max(1, len(rows)), TABLE_PART_ROWS):
            part = (
                rows[at : at + TABLE_PART_ROWS] if at == 0 else [((),) * len(align), *rows[at : at + TABLE_PART_ROWS]]
            )
            self._blocks.append(
                Block(
                    BlockKind.TABLE,
                    start,
                    end,
                    self._root,
                    containers=containers,
                    is_tight=is_tight,
                    table=Table(tuple(align), tuple(part or header)),
                    continues=at > 0,
                )
            )
            containers = without_markers(containers)

    def _extra_cells(self, row_range: tuple[int, int], n_columns: int) -> str:
        """What a row has beyond the columns of its header; tables drop it, a reader should not miss it."""
        line = self._source[slice(*row_range)].strip(" \t>").strip("|")
        cells = re.split(r"(?<!\\)\|", line)
        return " | ".join(cell.strip() for cell in cells[n_columns:])

    def _close_item(self) -> None:
        item = self._items[-1]
        if item.n_leaves == 0:
            start, end = self._range(item.opening)
            text = self._source[start:end]
            # Nothing came of the item: it is empty, or nested more deeply than is read.
            spans = () if _CONTAINER_MARKS.fullmatch(text) else (TextSpan(text, source=start),)
            self._add_leaf(item.opening, BlockKind.PARAGRAPH, spans)
        self._items.pop()


def _is_tight(tokens: list[Token], i: int) -> bool:
    """Whether the list opening at `i` has its paragraphs hidden, as a list without blank lines does."""
    for j in range(i + 1, len(tokens)):
        token = tokens[j]
        if token.type == "paragraph_open" and token.level == tokens[i].level + 2:
            return token.hidden
        if token.level == tokens[i].level:
            break
    return True

"""Markdown-it rules of our own: mathematics between dollars or TeX brackets, and task list marks."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_TASK = re.compile(r"\[([ xX])\](?:[ \t]+|$)")
_MAX_FORMULA = 4000
# The longer marks first: "$$" would be read as an empty "$" formula.
_CLOSERS = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}


def task_mark(content: str) -> tuple[str, int] | None:
    """The box for an item that begins with `[ ]` or `[x]`, with the length of that beginning, or None."""
    match = _TASK.match(content)
    if match is None:
        return None
    return ("☐" if match[1] == " " else "☑"), match.end()


def _inline_math(state: StateInline, silent: bool) -> bool:
    """`$x$` (not next to spaces inside, not before a digit: prices stay prices), `$$x$$`, `\\(x\\)` and `\\[x\\]`."""
    source, start = state.src, state.pos
    opener = next((mark for mark in _CLOSERS if source.startswith(mark, start)), None)
    if opener is None:
        return False
    closer = _CLOSERS[opener]
    begin = start + len(opener)
    end = source.find(closer, begin, min(state.posMax, begin + _MAX_FORMULA))
    if end <= begin or (opener == "$" and not _is_dollar_pair(source, begin, end)):
        return False
    if not source[begin:end].strip():
        return False
    if not silent:
        token = state.push("math_inline", "", 0)
        token.content = source[begin:end]
        token.meta = {"raw": source[start : end + len(closer)]}
    state.pos = end + len(closer)
    return True


def _is_dollar_pair(source: str, begin: int, end: int) -> bool:
    if source[begin].isspace() or source[end - 1].isspace() or source[end - 1] == "\\":
        return False
    follower = source[end + 1 : end + 2]
    return not follower.isdigit() and "\n\n" not in source[begin:end]


def _block_math(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A formula on lines of its own between `$$` or between `\\[` and `\\]`; an open one is left as text."""
    if state.is_code_block(start_line):
        return False
    begin = state.bMarks[start_line] + state.tShift[start_line]
    line = state.src[begin : state.eMarks[start_line]]
    closer = {"$$": "$$", "\\[": "\\]"}.get(line[:2])
    if closer is None:
        return False
    content, last = [line[2:]], start_line
    while not content[-1].rstrip().endswith(closer):
        last += 1
        if last >= end_line or state.sCount[last] < state.blkIndent or last - start_line > 200:
            return False
        content.append(state.src[state.bMarks[last] + state.tShift[last] : state.eMarks[last]])
    formula = "\n".join(content).rstrip()[:-2].strip()
    if not formula or len(formula) > _MAX_FORMULA or closer in formula:
        return False
    if not silent:
        state.line = last + 1
        token = state.push("math_block", "", 0)
        token.block = True
        token.content = formula
        token.map = [start_line, last + 1]
    return True


def install(md: MarkdownIt) -> None:
    """Add the rules to a parser."""
    md.inline.ruler.before("escape", "math_inline", _inline_math)
    md.block.ruler.before("fence", "math_block", _block_math, {"alt": ["paragraph", "reference", "blockquote", "list"]})

"""Colours for code: Pygments tokens as ranges of a few categories."""

from __future__ import annotations

from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    String,
    _TokenType,
)
from pygments.util import ClassNotFound

MAX_LEXED = 20_000

Range = tuple[int, int, str]

# The more special first: a token belongs to the first of these that holds it.
_CATEGORIES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "comment"),
    (Keyword.Type, "type"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (String, "string"),
    (Number, "number"),
    (Literal, "string"),
    (Name.Function, "name"),
    (Name.Class, "type"),
    (Name.Builtin, "type"),
    (Name.Exception, "type"),
    (Name.Decorator, "name"),
    (Name.Tag, "keyword"),
    (Name.Attribute, "name"),
    (Name.Namespace, "name"),
    (Generic.Inserted, "string"),
    (Generic.Deleted, "keyword"),
    (Generic.Heading, "name"),
    (Generic.Subheading, "name"),
)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except (ClassNotFound, ImportError, ValueError):
        return None


@lru_cache(maxsize=512)
def _category(token_type: _TokenType) -> str | None:
    for parent, category in _CATEGORIES:
        if token_type in parent:
            return category
    return None


def language_name(info: str) -> str:
    """How a fence's info string is shown: the language's own name where it is known, the text itself otherwise."""
    name, _, rest = info.partition(" ")
    lexer = _lexer(name.lower()) if name else None
    shown = str(lexer.name) if lexer is not None and not rest else info
    return shown[:80]


@lru_cache(maxsize=16)
def highlight(code: str, info: str) -> tuple[Range, ...]:
    """Ranges (start, length, category) of `code`; none for unknown languages and for very long code."""
    name = info.partition(" ")[0].lower()
    lexer = _lexer(name) if name else None
    if lexer is None or len(code) > MAX_LEXED:
        return ()
    ranges: list[Range] = []
    for start, token_type, text in lexer.get_tokens_unprocessed(code):
        category = _category(token_type)
        if category is not None and text:
            if ranges and ranges[-1][2] == category and sum(ranges[-1][:2]) == start:
                ranges[-1] = (ranges[-1][0], ranges[-1][1] + len(text), category)
            else:
                ranges.append((start, len(text), category))
    return tuple(ranges)

"""Finds the spellings of control tokens in text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from engine.text.reasoning import REASONING_TAGS

_REASONING = frozenset(tag for tags in REASONING_TAGS for tag in (tags.opener, tags.closer))
_MARKUP = re.compile(r"[<\[｜|].*[>\]｜|]", re.DOTALL)


class ControlSpellings:
    """The spellings that must not become tokens when a person types them."""

    def __init__(self, spellings: Iterable[str]) -> None:
        self._spellings = frozenset(spelling for spelling in spellings if spelling)
        lengths: dict[str, set[int]] = {}
        for spelling in self._spellings:
            lengths.setdefault(spelling[0], set()).add(len(spelling))
        self._lengths = {first: sorted(own) for first, own in lengths.items()}
        self._firsts = re.compile("[" + re.escape("".join(self._lengths)) + "]") if self._lengths else None
        self.longest = max(map(len, self._spellings), default=0)

    def __contains__(self, spelling: str) -> bool:
        return spelling in self._spellings

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Every `[start, end)` in that part of `text` that spells a control token, overlapping ones too."""
        if self._firsts is None:
            return
        for match in self._firsts.finditer(text, start, end):
            position = match.start()
            for length in self._lengths[match[0]]:
                if position + length <= end and text[position : position + length] in self._spellings:
                    yield position, position + length

    def escape(self, text: str) -> str:
        """`text` with a zero-width space in every control spelling, and at ends that could complete one."""
        # Two that begin at one place get a space each.
        cuts = [0, *(start + 1 for start, _ in self.find(text, 0, len(text))), len(text)]
        escaped = "\u200b".join(text[start:end] for start, end in pairwise(cuts))
        could_end = any(text.startswith(spelling[n:]) for spelling in self._spellings for n in range(1, len(spelling)))
        could_begin = any(text.endswith(spelling[:n]) for spelling in self._spellings for n in range(1, len(spelling)))
        return "\u200b" * could_end + escaped + "\u200b" * could_begin


def steering(user_defined: Iterable[str], template_source: str) -> Iterator[str]:
    """The user-defined spellings that control the model, such as `<think>`, but not line breaks or HTML.

    These are the ones that its template writes, and the tags around reasoning.
    """
    for spelling in user_defined:
        is_written = _MARKUP.fullmatch(spelling) is not None and spelling in template_source
        if is_written or spelling in _REASONING:
            yield spelling

"""Inline Markdown tokens into spans that know where in the message their text stands."""

from __future__ import annotations

import re

from markdown_it.token import Token

from app.transcript.blocks import Style, TextSpan

_BARE_LINK = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]}*_，。；：！？）】」]")
_OPEN = {"strong_open": Style.BOLD, "em_open": Style.ITALIC, "s_open": Style.STRIKE}
_CLOSE = {"strong_close": Style.BOLD, "em_close": Style.ITALIC, "s_close": Style.STRIKE}


def spans_of(tokens: list[Token], source: str, start: int, end: int, skipped: int = 0) -> tuple[TextSpan, ...]:
    """The spans of inline tokens whose text lies in `source[start:end]`; without the first `skipped` characters."""
    walk = _InlineWalk(source, start, end)
    for token in tokens:
        walk.take(token)
    return walk.result(skipped)


class _InlineWalk:
    """Keeps the style, the link and the place in the source while tokens go by."""

    def __init__(self, source: str, start: int, end: int) -> None:
        self._source = source
        self._position = start
        self._end = end
        self._style = Style.PLAIN
        self._href: str | None = None
        self._spans: list[TextSpan] = []

    def result(self, skipped: int) -> tuple[TextSpan, ...]:
        spans = self._spans
        while skipped and spans:
            first = spans.pop(0)
            if len(first.text) > skipped:
                at = None if first.source is None else first.source + skipped
                spans.insert(0, TextSpan(first.text[skipped:], first.style, first.href, at))
            skipped -= min(skipped, len(first.text))
        return tuple(spans)

    def take(self, token: Token) -> None:
        kind = token.type
        if kind in _OPEN:
            self._style |= _OPEN[kind]
        elif kind in _CLOSE:
            self._style &= ~_CLOSE[kind]
        elif kind == "link_open":
            self._href = str(token.attrGet("href") or "")
        elif kind == "link_close":
            self._close_link()
        elif kind in ("softbreak", "hardbreak"):
            self._add("\n", self._style)
        elif kind == "code_inline":
            self._add(token.content, self._style | Style.CODE)
        elif kind == "math_inline":
            self._add(token.content, self._style | Style.MATH)
        elif kind == "image":
            self._add_image(token)
        else:
            self._add_text(token.content)

    def _close_link(self) -> None:
        """Step over the hidden address, so that a later word is not found inside it."""
        if self._source[self._position : self._position + 1] not in ("]", "*", "_", "`", "~"):
            self._href = None
            return
        close = self._source.find("](", self._position, self._end)
        if close >= 0:
            after = self._source.find(")", close, self._end)
            self._position = after + 1 if after >= 0 else self._position
        self._href = None

    def _add_image(self, token: Token) -> None:
        """Pictures in a message are never fetched: the words for it and its address are shown instead."""
        address = str(token.attrGet("src") or "")
        title = str(token.attrGet("title") or "")
        words = token.content or title
        href = self._href or address
        if words:
            self._spans.append(TextSpan(words, self._style, href, self._find(words)))
        self._spans.append(TextSpan(f" ({address})" if words else address, self._style | Style.QUIET, href))

    def _add_text(self, text: str) -> None:
        if self._href is not None or "://" not in text:
            self._add(text, self._style)
            return
        done = 0
        for match in _BARE_LINK.finditer(text):
            self._add(text[done : match.start()], self._style)
            self._add(match[0], self._style, match[0])
            done = match.end()
        self._add(text[done:], self._style)

    def _add(self, text: str, style: Style, href: str | None = None) -> None:
        if text:
            self._spans.append(TextSpan(text, style, href or self._href, self._find(text)))

    def _find(self, text: str) -> int | None:
        found = self._source.find(text, self._position, self._end)
        if found < 0:
            return None
        self._position = found + len(text)
        return found

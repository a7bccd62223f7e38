"""Words for the full-text search: Chinese, Japanese and Korean text has no spaces, so each character is a word."""

from __future__ import annotations

import re
import unicodedata

from engine.api.valid import valid_text

_IDEOGRAPH = (
    "[\u1100-\u11ff\u2e80-\u2fdf\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_EACH = re.compile(f"({_IDEOGRAPH})")
_TOKEN = re.compile(f"{_IDEOGRAPH}|(?:(?!{_IDEOGRAPH})\\w)+")
_MAY_GO_ON = re.compile(r"\w$")
_MARKUP = re.compile(r"\*\*|`+|^#+ |(?<=\s)#+ ")
BEFORE, AFTER = 30, 140


def indexed(text: str) -> str:
    """The text as the index takes it."""
    return _EACH.sub(r" \1 ", text)


def query(wanted: str, *, are_whole: bool = False) -> str | None:
    """What was typed as an FTS5 expression: every word is found, the last letters of each may be missing unless they
    ``are_whole``; None for no words. What stands between double quotes is found as a phrase."""
    phrases = []
    for quoted, plain in re.findall(r'"([^"]*)"?|([^\s"]+)', valid_text(wanted[:500])):
        tokens = _TOKEN.findall(quoted or plain)
        tokens = [token for token in tokens if any(map(str.isalnum, token))]
        if tokens:
            phrases.append('"' + " ".join(tokens) + '"' + ("*" if _MAY_GO_ON.search(plain) and not are_whole else ""))
    return " ".join(phrases) or None


def snippet(text: str, wanted: str) -> str:
    """One line around the first place in the text where a wanted word begins."""
    folded = fold(text)
    places = [place for token in _TOKEN.findall(fold(wanted)) if (place := _place(folded, token)) >= 0]
    start = max(0, min(places, default=0) - BEFORE)
    if start:
        space = text.find(" ", start, start + BEFORE)
        start = space + 1 if space >= 0 else start
    line = " ".join(_MARKUP.sub("", text[start : start + BEFORE + AFTER]).split())
    return ("…" if start else "") + line


def _place(folded: str, token: str) -> int:
    match = re.search(rf"(?<!\w){re.escape(token)}", folded)
    return match.start() if match else folded.find(token)


def fold(text: str) -> str:
    """Lower case without accents, each character in its place."""
    if text.isascii():
        return text.lower()
    return "".join(_folded(character) for character in text)


def _folded(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0].lower()
    return base if len(base) == 1 else character


def hits(line: str, wanted: str) -> list[tuple[int, int]]:
    """The half-open ranges of a line that the wanted words begin."""
    folded = fold(line)
    found = []
    for token in set(_TOKEN.findall(fold(wanted[:500]))):
        found += [match.span() for match in re.finditer(rf"{_boundary(token)}{re.escape(token)}", folded)]
    return sorted(found)


def _boundary(token: str) -> str:
    return "" if _EACH.match(token) else r"(?<!\w)"

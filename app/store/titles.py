"""Makes the title of a chat from its first message, without asking a model."""

from __future__ import annotations

import re

MAX_LENGTH = 60
_MARKUP = re.compile(
    r"(?<!\w)[`*_~]{1,3}(?=\S)|(?<=\S)[`*_~]{1,3}(?!\w)|^\s*(?:#{1,6}|>|[-+*]|\d+[.)])\s+|!?\[([^\]]*)\]\([^)]*\)"
)
_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")
_OPENING = 400


def title_of(text: str) -> str:
    """The first sentence of the first line that says something, without Markdown, cut at a word; "" for no words."""
    line = ""
    in_code = False
    for candidate in text[:100_000].splitlines():
        if candidate.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
        elif any(character.isalnum() for character in candidate):
            if not in_code:
                line = candidate
                break
            line = line or candidate
    line = _MARKUP.sub(lambda match: match[1] or "", line[:_OPENING])
    line = " ".join("".join(c for c in line if c.isprintable()).split())
    sentence = _END.split(line, maxsplit=1)[0].rstrip(" .。:：,，;；")
    return _cut(sentence if any(character.isalnum() for character in sentence) else line)


def _cut(text: str) -> str:
    if len(text) <= MAX_LENGTH:
        return text
    cut = text[: MAX_LENGTH - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > MAX_LENGTH // 2 else cut).rstrip(" ,;:.，、") + "…"

"""Text of others on a line of ours: nothing in it is invisible or turns what stands beside it around."""

from __future__ import annotations

import unicodedata

LONGEST = 200
ELLIPSIS = "…"
# They join letters and emoji, and change no order: without them Persian and families of emoji fall apart.
JOINERS = "\u200c\u200d"
_INVISIBLE = ("Cc", "Cf", "Zl", "Zp", "Cs", "Cn")


def visible(text: str, kept: str = "\n\t" + JOINERS) -> str:
    """Marks for direction and other characters that can't be seen, written as their numbers."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if character in kept or unicodedata.category(character) not in _INVISIBLE else _number(character)
        for character in text
    )


def elided(text: str, longest: int = LONGEST) -> str:
    """At most so many characters, cut in the middle: what an address or a file is called often stands at its end."""
    if len(text) <= longest:
        return text
    end = longest // 3
    return f"{text[: longest - end - 1]}{ELLIPSIS}{text[-end:]}"


def _number(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"

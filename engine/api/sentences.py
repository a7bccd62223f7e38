"""Translatable sentences for the person: an English text, also the key of its translations, with arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

MAX_NAME = 300
"""Longer names (of files or models) are shortened in the middle."""


@dataclass(frozen=True)
class Bytes:
    """A number of bytes, formatted for the person."""

    n: int

    def __str__(self) -> str:
        """In the largest binary unit that keeps the number above 1, such as "45.0 MiB"."""
        amount = float(self.n)
        for unit in ("bytes", "KiB", "MiB", "GiB"):
            if amount < 1024 or unit == "GiB":
                break
            amount /= 1024
        return f"{self.n} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"


@dataclass(frozen=True)
class Sentence:
    """``text`` has {0}, {1} … where the arguments stand; `str` is the English that a command line prints.

    `say` makes it; only a word that a setting declares, as its label, is made a Sentence directly. A str among the
    arguments is a name, the same in every language; words are a Sentence themselves, which is translated too.
    """

    text: str
    arguments: tuple[Value, ...] = ()

    def __str__(self) -> str:
        return fill(self.text, map(_english, self.arguments))


Value = str | int | Bytes | Sentence


def say(text: str, *arguments: Value) -> Sentence:
    """A sentence. ``text`` is written out where `say` is called: tools/translations.py collects it there."""
    return Sentence(text, arguments)


def listed(values: Sequence[Value]) -> Value:
    """One or more values as an enumeration with "and"."""
    return say("{0} and {1}", _in_a_row(values[:-1]), values[-1]) if len(values) > 1 else values[0]


def either(values: Sequence[Value]) -> Value:
    """One or more values as an enumeration with "or"."""
    return say("{0} or {1}", _in_a_row(values[:-1]), values[-1]) if len(values) > 1 else values[0]


def _in_a_row(values: Sequence[Value]) -> Value:
    return reduce(lambda first, value: say("{0}, {1}", first, value), values)


def bounded(name: str) -> str:
    """A name, shortened to a displayable length."""
    half = MAX_NAME // 2
    return name if len(name) <= MAX_NAME else f"{name[:half]}…{name[-half:]}"


def fill(template: str, values: Iterable[str]) -> str:
    """Put values in place of {0}, {1} …; braces in the values stay as they are."""
    given = list(values)

    def value(match: re.Match[str]) -> str:
        index = int(match[1])
        return given[index] if index < len(given) else match[0]

    return re.sub(r"\{(\d)\}", value, template)


def _english(value: Value) -> str:
    if isinstance(value, str):
        return bounded(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


class Said:
    """Base class of what carries a sentence for the person."""

    sentence: Sentence

    def __post_init__(self) -> None:
        require_sentence(self.sentence)

    @property
    def message(self) -> str:
        """The sentence in English: for logs, the command line and JSON."""
        return str(self.sentence)


def require_sentence(sentence: object) -> None:
    """Raise TypeError for text that could not be translated."""
    if not isinstance(sentence, Sentence):
        raise TypeError(f"say(…) makes sentences; this is {sentence!r}")

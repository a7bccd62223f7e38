"""Streaming detokenization of sampled tokens to visible text."""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.text.reasoning import CHANNEL_TAGS, REASONING_TAGS
from engine.text.vocabulary import Vocabulary

_PIECE = 1024  # characters that are searched for tags at once


class PartKind(StrEnum):
    """The kind of a piece of generated text; markup is not shown."""

    ANSWER = "answer"
    REASONING = "reasoning"
    MARKUP = "markup"


@dataclass(frozen=True)
class Part:
    """A piece of generated text; never empty."""

    kind: PartKind
    text: str


class PieceDecoder:
    """An incremental UTF-8 decoder: a character is held back until all its bytes have arrived."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, piece: bytes) -> str:
        """The text that is complete by now; invalid bytes become U+FFFD."""
        return self._decoder.decode(piece)

    def flush(self) -> str:
        """The rest at the end: U+FFFD for an incomplete character."""
        text = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return text


class StopStrings:
    """Cuts a text before its first stop string, holding back text that may become one."""

    def __init__(self, stop_strings: Iterable[str]) -> None:
        self._stop_strings = tuple(stop for stop in stop_strings if stop)
        self._held = ""
        self.found: str | None = None

    def feed(self, text: str) -> str:
        """The text that is certain not to belong to a stop string; nothing more once one was `found`."""
        if self.found is not None:
            return ""
        held = self._held + text
        hits = [(held.find(stop), -len(stop), stop) for stop in self._stop_strings if stop in held]
        if hits:
            # Of two matches at one place, report the longer one; the text is the same.
            start, _, self.found = min(hits)
            self._held = ""
            return held[:start]
        n_held = longest_beginning(held, self._stop_strings)
        self._held = held[len(held) - n_held :]
        return held[: len(held) - n_held]

    def flush(self) -> str:
        """What was held back and did not become a stop string after all."""
        held, self._held = self._held, ""
        return held


class ReasoningSplitter:
    """Separates reasoning from the answer by tags, however the text is split into pieces.

    A block opens only before the answer has begun, so that an answer may mention tags. White space after a tag
    belongs to it. The parts joined are the text that was fed.
    """

    def __init__(self, *, opened: bool = False) -> None:
        """`opened`: the prompt ended inside a block, so only its closing tag will come."""
        # None while the next text may still be either: at the start and after a tag.
        self._kind: PartKind | None = PartKind.REASONING if opened else None
        self._closers = tuple({tags.closer for tags in REASONING_TAGS}) if opened else ()
        self._follows_tag = opened
        self._held = ""

    @property
    def is_reasoning(self) -> bool:
        """Whether what was fed ends inside a block."""
        return self._kind is PartKind.REASONING

    def feed(self, text: str) -> list[Part]:
        """The parts that are certain by now."""
        parts: list[Part] = []
        # Every tag search scans all held text, so a long text is fed in pieces.
        for start in range(0, len(text), _PIECE):
            self._held += text[start : start + _PIECE]
            while self._held and self._step(parts):
                pass
        return _joined(parts)

    def flush(self) -> list[Part]:
        """What was held back; a block that never closed was reasoning to the end."""
        parts: list[Part] = []
        self._take(parts, self._kind or PartKind.ANSWER, len(self._held))
        return parts

    def _step(self, parts: list[Part]) -> bool:
        """Take one piece off the held text; False if more text is needed to classify it."""
        n_blank = len(self._held) - len(self._held.lstrip())
        if self._follows_tag:
            self._take(parts, PartKind.MARKUP, n_blank)
            self._follows_tag = not self._held
            return bool(self._held)
        if self._kind is None:
            return self._begin(parts, n_blank)
        tags = self._closers if self._kind is PartKind.REASONING else _LATER_TAGS
        hits = [(self._held.find(tag), tag) for tag in tags if tag in self._held]
        if not hits:
            self._take(parts, self._kind, len(self._held) - longest_beginning(self._held, tags))
            return False
        start, tag = min(hits)
        self._take(parts, self._kind, start)
        self._pass(parts, tag, len(tag))
        return True

    def _begin(self, parts: list[Part], n_blank: int) -> bool:
        begun = self._held[n_blank:]
        tag = next((tag for tag in _FIRST_TAGS if begun.startswith(tag)), None)
        if tag is not None:
            self._pass(parts, tag, n_blank + len(tag))
        elif any(tag.startswith(begun) for tag in _FIRST_TAGS):
            return False
        else:
            self._kind = PartKind.ANSWER
        return True

    def _pass(self, parts: list[Part], tag: str, n_characters: int) -> None:
        self._take(parts, PartKind.MARKUP, n_characters)
        self._follows_tag = True
        closer = next((tags.closer for tags in REASONING_TAGS if tags.opener == tag), None)
        self._kind = None if closer is None else PartKind.REASONING
        self._closers = () if closer is None else (closer,)

    def _take(self, parts: list[Part], kind: PartKind, n_characters: int) -> None:
        if n_characters:
            parts.append(Part(kind, self._held[:n_characters]))
            self._held = self._held[n_characters:]


class AnswerStream:
    """Sampled tokens in, parts of valid text out, up to the first stop string.

    A token that ends the generation adds nothing.
    """

    def __init__(
        self, vocabulary: Vocabulary, *, stop_strings: Sequence[str] = (), reasoning_opened: bool = False
    ) -> None:
        self._vocabulary = vocabulary
        self._decoder = PieceDecoder()
        self._stop_strings = StopStrings(stop_strings)
        self._splitter = ReasoningSplitter(opened=reasoning_opened)

    @property
    def stop_string(self) -> str | None:
        """The stop string that ended the text, once one did; the generation is over then."""
        return self._stop_strings.found

    def feed(self, token: int) -> list[Part]:
        """The parts completed by `token`; none after a stop string."""
        text = self._decoder.feed(visible_piece(self._vocabulary, token))
        return self._splitter.feed(self._stop_strings.feed(text))

    def finish(self) -> list[Part]:
        """What was held back, once no more tokens come."""
        text = self._stop_strings.feed(self._decoder.flush()) + self._stop_strings.flush()
        return _joined([*self._splitter.feed(text), *self._splitter.flush()])


_FIRST_TAGS = (*(tags.opener for tags in REASONING_TAGS), *CHANNEL_TAGS)
_LATER_TAGS = tuple(tag for tag in _FIRST_TAGS if tag.startswith("<|"))
_CONTROL_TAGS = frozenset(
    part
    for tag in (*_FIRST_TAGS, *(tags.closer for tags in REASONING_TAGS))
    for part in (tag, *re.findall(r"<\|[^|]*\|>", tag))
)


def visible_piece(vocabulary: Vocabulary, token: int) -> bytes:
    """The bytes that a sampled token adds to an answer's text, its tags for reasoning included."""
    if vocabulary.is_end_of_generation(token):
        return b""
    piece = vocabulary.piece(token)
    if piece:
        return piece
    # Some models have control tokens for the tags around reasoning.
    spelling = vocabulary.spelling(token)
    return spelling.encode() if spelling in _CONTROL_TAGS else b""


def longest_beginning(text: str, strings: Iterable[str]) -> int:
    """How many characters at the end of `text` are the beginning, but not the whole, of one of `strings`."""
    longest = 0
    for string in strings:
        for length in range(min(len(string) - 1, len(text)), longest, -1):
            if text.endswith(string[:length]):
                longest = length
                break
    return longest


def _joined(parts: Iterable[Part]) -> list[Part]:
    groups = itertools.groupby(parts, key=lambda part: part.kind)
    return [Part(kind, "".join(part.text for part in group)) for kind, group in groups]

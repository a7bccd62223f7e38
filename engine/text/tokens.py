"""Tokenizes text segments with the text offset of each token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from engine.text.look import Look, look_nowhere
from engine.text.spellings import ControlSpellings
from engine.text.vocabulary import Vocabulary

_ANCHORS = ("\ue0a2", "\uf8d0", "\x01")
_LOOKAHEAD = 64  # bytes within which a token must be found again after one whose spelling differs from its text
PIECE_CHARACTERS = 32_768
"""What is tokenized at once, in some hundredths of a second."""
_LINE_END = re.compile(r"(?<=\S)\n(?=\S)")

_N_SAMPLES = 16
_SAMPLE = 2048
"""Samples of so many characters tell about how many tokens a long text is."""


@dataclass(frozen=True)
class Segment:
    """A piece of text with one way to tokenize it.

    `ids` are its tokens, if known already. Else control spellings become control tokens, unless it `is_literal`.
    """

    text: str
    is_literal: bool = False
    ids: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Tokenized:
    """Tokens with their start offsets in bytes of the whole text (UTF-8), in non-decreasing order."""

    tokens: list[int]
    starts: list[int]


class SegmentTokenizer:
    """Tokenizes segments so that the result reads as one continuous text."""

    def __init__(self, vocabulary: Vocabulary, control: ControlSpellings) -> None:
        self._vocabulary = vocabulary
        self._control = control
        self._spelled: dict[int, bytes] = {}
        self._anchor = self._choose_anchor()

    def tokenize(self, segments: Iterable[Segment], look: Look = look_nowhere) -> Tokenized:
        """All segments' tokens, in order."""
        tokens: list[int] = []
        starts: list[int] = []
        n_bytes = 0
        for segment in chain.from_iterable(map(self._pieces, segments)):
            look()
            raw = segment.text.encode()
            if segment.ids is not None:
                new = list(segment.ids)
            else:
                follows_text = bool(tokens) and bool(self._vocabulary.piece(tokens[-1]))
                new = self._tokens_of(segment.text, is_literal=segment.is_literal, follows_text=follows_text)
            starts.extend(n_bytes + start for start in self._starts(raw, new))
            tokens.extend(new)
            n_bytes += len(raw)
        return Tokenized(tokens, starts)

    def spelled(self, token: int) -> bytes:
        """The bytes a token stands for in a rendered text, control tokens too."""
        if token not in self._spelled:
            piece = self._vocabulary.piece(token)
            self._spelled[token] = piece or self._vocabulary.spelling(token).encode()
        return self._spelled[token]

    def _pieces(self, segment: Segment) -> Iterator[Segment]:
        """Split a long text into parts that tokenize like the whole, where its line ends allow that.

        Text appended later does not change the earlier parts, except for a line end that no token spans.
        """
        text, start = segment.text, 0
        while segment.ids is None and len(text) - start > PIECE_CHARACTERS:
            end = self._piece_end(text, start)
            yield replace(segment, text=text[start:end])
            start = end
        yield replace(segment, text=text[start:]) if start else segment

    def _piece_end(self, text: str, start: int) -> int:
        full = start + PIECE_CHARACTERS
        line_ends = [match.end() for match in _LINE_END.finditer(text, full - PIECE_CHARACTERS // 2, full + 1)]
        end = line_ends[-1] if line_ends else full
        reach = self._control.longest
        across = [a for a, b in self._control.find(text, max(start + 1, end - reach), end + reach) if a < end < b]
        return min([end, *across])

    def _tokens_of(self, text: str, *, is_literal: bool, follows_text: bool) -> list[int]:
        tokens = self._call(text, parse_special=not is_literal, follows_text=follows_text)
        if not is_literal or len(text) < 2 or not any(map(self._is_control, tokens)):
            return tokens
        # Tokenizers find user-defined tokens in any text, and merges may yield a control token: split the text.
        middle = len(text) // 2
        first = self._tokens_of(text[:middle], is_literal=True, follows_text=follows_text)
        return first + self._tokens_of(text[middle:], is_literal=True, follows_text=True)

    def _call(self, text: str, *, parse_special: bool, follows_text: bool) -> list[int]:
        if not follows_text or self._anchor is None:
            return self._vocabulary.tokenize(text, parse_special=parse_special)
        anchor, anchor_tokens = self._anchor
        tokens = self._vocabulary.tokenize(anchor + text, parse_special=parse_special)
        if tokens[: len(anchor_tokens)] != anchor_tokens:
            return self._vocabulary.tokenize(text, parse_special=parse_special)
        return tokens[len(anchor_tokens) :]

    def _is_control(self, token: int) -> bool:
        return self._vocabulary.spelling(token) in self._control

    def _choose_anchor(self) -> tuple[str, list[int]] | None:
        """A prefix that merges with no text, for tokenizers that prepend a space to their input.

        After it, the middle of a text gets no such space. None for tokenizers that do not prepend one.
        """
        tokens = self._vocabulary.tokenize("a", parse_special=False)
        if not tokens or not b"".join(map(self.spelled, tokens)).startswith(b" "):
            return None
        for anchor in _ANCHORS:
            alone = self._vocabulary.tokenize(anchor, parse_special=False)
            followed = (self._vocabulary.tokenize(anchor + text, parse_special=False) for text in ("a", " ", "\n", "<"))
            if alone and all(tokens[: len(alone)] == alone for tokens in followed):
                return anchor, alone
        return None

    def _starts(self, raw: bytes, tokens: list[int]) -> list[int]:
        """The offset of each of `tokens` in `raw`, also if the tokenizer added or dropped spaces."""
        starts: list[int] = []
        position = 0
        for token in tokens:
            spelled = self.spelled(token)
            if not raw.startswith(spelled, position):
                found = raw.find(spelled, position, position + _LOOKAHEAD + len(spelled))
                if spelled.startswith(b" ") and raw.startswith(spelled[1:], position):
                    spelled = spelled[1:]
                elif found >= 0:
                    position = found
                else:
                    spelled = b""
            starts.append(position)
            position += len(spelled)
        return starts


def estimated_tokens(vocabulary: Vocabulary, text: str) -> int:
    """The token count, estimated from samples across the text; exact for a short text."""
    distance = max(_SAMPLE, len(text) // _N_SAMPLES)
    samples = [text[start : start + _SAMPLE] for start in range(0, len(text), distance)][:_N_SAMPLES]
    n_tokens = sum(len(vocabulary.tokenize(sample, parse_special=False)) for sample in samples)
    n_sampled = sum(map(len, samples))
    return round(n_tokens * len(text) / n_sampled) if n_sampled else 0

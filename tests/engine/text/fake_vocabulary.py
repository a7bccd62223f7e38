"""A vocabulary small enough to reason about: special tokens, words by longest match, and every byte.

`space_prefix` is SentencePiece's space in front, `strips_right` Phi-3's loss of blank space behind special tokens.
"""

from __future__ import annotations

from collections.abc import Iterable

WORDS = (
    "user", "assistant", "model", "system", "hello", " hello", "he", "lo", "Hi", "there", "\n", "\n\n", " ", "  ",
    "<", "<|", "|>", ">", "im", "im_", "_end", "end", "|", "[", "]", "INST", "think", "</", "s>", "User", ": ",
)  # fmt: skip

CHATML = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")


class FakeVocabulary:
    """Ids: specials, user-defined tokens, 256 bytes, then words."""

    def __init__(
        self,
        control: Iterable[str] = CHATML,
        user_defined: Iterable[str] = (),
        *,
        bos: str | None = None,
        eos: str | None = None,
        add_bos: bool = False,
        space_prefix: bool = False,
        strips_right: bool = False,
    ) -> None:
        self._control = tuple(control)
        self._user_defined = tuple(user_defined)
        self._space_prefix = space_prefix
        self._strips_right = strips_right
        special = [*self._control, *self._user_defined]
        self._pieces = [spelling.encode() for spelling in special]
        self._pieces += [bytes((byte,)) for byte in range(256)]
        self._pieces += [word.encode() for word in WORDS]
        self._first_byte = len(special)
        self._words = {word.encode(): self._first_byte + 256 + n for n, word in enumerate(WORDS)}
        self._by_length = sorted(self._words, key=len, reverse=True)
        self.n_tokens = len(self._pieces)
        self.bos = self.id_of(bos) if bos else None
        self.eos = self.id_of(eos) if eos else None
        self.add_bos = add_bos

    def id_of(self, spelling: str) -> int:
        return self._pieces.index(spelling.encode())

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        special = [*(self._control if parse_special else ()), *self._user_defined]
        special.sort(key=len, reverse=True)
        tokens: list[int] = []
        is_first = True
        while text:
            start, _, spelling = min(
                ((text.find(s), -len(s), s) for s in special if s in text), default=(len(text), 0, "")
            )
            if start:
                raw = text[:start]
                tokens += self._plain((" " + raw) if self._space_prefix and is_first else raw)
                is_first = False
            if spelling:
                tokens.append(self.id_of(spelling))
                is_first = True
            text = text[start + len(spelling) :]
            if spelling and self._strips_right:
                text = text.lstrip()
        return tokens

    def piece(self, token: int) -> bytes:
        return b"" if token < len(self._control) else self._pieces[token]

    def spelling(self, token: int) -> str:
        return self._pieces[token].decode(errors="replace")

    def control_spellings(self) -> tuple[str, ...]:
        return self._control

    def user_defined_spellings(self) -> tuple[str, ...]:
        return self._user_defined

    def is_end_of_generation(self, token: int) -> bool:
        return self.spelling(token) in {"<|im_end|>", "<|endoftext|>", "</s>", "<|eot_id|>", "<end_of_turn>"}

    def control_in(self, tokens: Iterable[int]) -> list[str]:
        """The special tokens among `tokens`, as spelled."""
        return [self.spelling(token) for token in tokens if token < self._first_byte]

    def text_of(self, tokens: Iterable[int]) -> str:
        """All tokens as text, special ones as spelled."""
        return b"".join(self._pieces[token] for token in tokens).decode(errors="replace")

    def _plain(self, text: str) -> list[int]:
        raw, tokens = text.encode(), []
        while raw:
            word = next((word for word in self._by_length if raw.startswith(word)), None)
            tokens.append(self._first_byte + raw[0] if word is None else self._words[word])
            raw = raw[1 if word is None else len(word) :]
        return tokens

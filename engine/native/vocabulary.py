"""A loaded model's vocabulary, through llama.cpp."""

from __future__ import annotations

import ctypes
from functools import cached_property

import llama_cpp

_CONTROL = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN
_USER_DEFINED = llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
_LONGEST_PIECE = 64  # bytes tried first; longer pieces are asked for again


class NativeVocabulary:
    """Implements `engine.text.vocabulary.Vocabulary`; valid as long as the model it was taken from."""

    def __init__(self, vocab: llama_cpp.llama_vocab_p) -> None:
        self._vocab = vocab
        self._buffer = ctypes.create_string_buffer(_LONGEST_PIECE)
        self.n_tokens: int = llama_cpp.llama_vocab_n_tokens(vocab)
        self.bos = self._known(llama_cpp.llama_vocab_bos(vocab))
        self.eos = self._known(llama_cpp.llama_vocab_eos(vocab))
        self.add_bos = self.bos is not None and bool(llama_cpp.llama_vocab_get_add_bos(vocab))

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        """The tokens of `text`; a lone surrogate, which has no UTF-8, counts as a question mark."""
        raw = text.encode("utf-8", errors="replace")
        if not raw:
            return []
        # No tokenizer gives more tokens than bytes and a few spaces in front, so the second try is rare.
        n_room = len(raw) + 16
        while True:
            tokens = (ctypes.c_int32 * n_room)()
            n_tokens = llama_cpp.llama_tokenize(self._vocab, raw, len(raw), tokens, n_room, False, parse_special)
            if n_tokens >= 0:
                return list(tokens[:n_tokens])
            n_room = -n_tokens

    def piece(self, token: int) -> bytes:
        """The bytes that `token` adds to a text; nothing for control tokens."""
        self._check(token)
        return self._read_piece(token, with_control=False)

    def spelling(self, token: int) -> str:
        """How `token` reads, control tokens too; bytes that are no UTF-8 on their own become U+FFFD."""
        self._check(token)
        return self._read_piece(token, with_control=True).decode("utf-8", errors="replace")

    def control_spellings(self) -> tuple[str, ...]:
        """Spellings of control, unknown and end-of-generation tokens, and of user-defined `<|…|>`."""
        return self._spellings[0]

    def user_defined_spellings(self) -> tuple[str, ...]:
        """Spellings of all other user-defined tokens."""
        return self._spellings[1]

    def is_end_of_generation(self, token: int) -> bool:
        """Whether an answer ends when `token` is sampled."""
        self._check(token)
        return bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))

    @cached_property
    def _spellings(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        control: set[str] = set()
        user_defined: set[str] = set()
        for token in range(self.n_tokens):
            attributes = llama_cpp.llama_vocab_get_attr(self._vocab, token)
            if attributes & _CONTROL or llama_cpp.llama_vocab_is_eog(self._vocab, token):
                control.add(self.spelling(token))
            elif attributes & _USER_DEFINED:
                spelling = self.spelling(token)
                (control if _looks_like_control(spelling) else user_defined).add(spelling)
        return tuple(sorted(control - {""})), tuple(sorted(user_defined - {""}))

    def _read_piece(self, token: int, *, with_control: bool) -> bytes:
        n_bytes = self._fill(self._buffer, token, with_control)
        if n_bytes >= 0:
            return self._buffer.raw[:n_bytes]
        longer = ctypes.create_string_buffer(-n_bytes)
        return longer.raw[: self._fill(longer, token, with_control)]

    def _fill(self, buffer: ctypes.Array[ctypes.c_char], token: int, with_control: bool) -> int:
        return int(llama_cpp.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, with_control))

    def _known(self, token: int) -> int | None:
        return token if 0 <= token < self.n_tokens else None

    def _check(self, token: int) -> None:
        # llama.cpp ends the process for an id outside the vocabulary.
        if not 0 <= token < self.n_tokens:
            raise IndexError(f"token {token} is not one of {self.n_tokens}")


def _looks_like_control(spelling: str) -> bool:
    return spelling.startswith(("<|", "<｜")) and spelling.endswith(("|>", "｜>"))

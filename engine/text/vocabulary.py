"""The vocabulary interface of this package."""

from __future__ import annotations

from typing import Protocol


class Vocabulary(Protocol):
    """A tokenizer and its tokens, as ids from 0 to `n_tokens` - 1."""

    @property
    def n_tokens(self) -> int:
        """How many tokens there are."""
        ...

    @property
    def bos(self) -> int | None:
        """The token that begins a text, where there is one."""
        ...

    @property
    def eos(self) -> int | None:
        """The token that ends a text, where there is one; it need not be the one that ends a turn."""
        ...

    @property
    def add_bos(self) -> bool:
        """Whether the model wants `bos` in front of every prompt."""
        ...

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        """The tokens of `text`, never with BOS or EOS added.

        With `parse_special`, spellings of control tokens become those tokens; user-defined ones always do.
        """
        ...

    def piece(self, token: int) -> bytes:
        """The bytes that `token` adds to a text: perhaps half a character; nothing for a control token."""
        ...

    def spelling(self, token: int) -> str:
        """How `token` is written in the vocabulary, control tokens too."""
        ...

    def control_spellings(self) -> tuple[str, ...]:
        """Spellings of all tokens that steer a model and so must never come from what a person types.

        These are control tokens, the unknown token, every end-of-generation token, and those user-defined
        tokens that look like control (`<|user|>`).
        """
        ...

    def user_defined_spellings(self) -> tuple[str, ...]:
        """Spellings of the other user-defined tokens: runs of spaces and HTML tags, but also `<think>`."""
        ...

    def is_end_of_generation(self, token: int) -> bool:
        """Whether an answer ends when `token` is sampled."""
        ...

"""A snapshot of a chat's cached state, outside the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.cache.checkpoints import Checkpoint
from engine.cache.memory import MemoryKind, MemoryTraits, StateBytes
from engine.cache.sequence import TokenSequence

TOKEN_BYTES = 4


def can_cut(traits: MemoryTraits, window_start: int, next_position: int) -> bool:
    """Whether removing the tail restores the exact earlier state, in which the next token has ``next_position``.

    Never for a recurrent state. Window layers must still hold all tokens that this one attends to; they hold those
    from ``window_start`` on::

        position  0 ...... next - n_swa ............ next
        sees      |        . | n_swa - 1 tokens      |
        held      |     ^ window_start, or 0
    """
    if traits.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID):
        return False
    return window_start == 0 or next_position >= window_start + traits.n_swa - 1


@dataclass(frozen=True)
class Outline:
    """A snapshot without its bytes: the sequence, and how far it can be rolled back.

    ``window_start``: the position from which on window layers have every cached token.
    """

    sequence: TokenSequence
    window_start: int
    checkpoint_indices: tuple[int, ...]

    def n_usable(self, tokens: Sequence[int], traits: MemoryTraits) -> int:
        """How many cells of this state a prompt of ``tokens`` would reuse."""
        # At least the last token is fed, since its logits are needed.
        n_same = min(self.sequence.common_prefix(tokens), len(tokens) - 1)
        if n_same < len(self.sequence) and not can_cut(traits, self.window_start, self.sequence.position_at(n_same)):
            n_same = max((index for index in self.checkpoint_indices if index <= n_same), default=0)
        return sum(run.length for run in self.sequence.cached_runs(0, n_same))

    def n_beyond(self, other: TokenSequence) -> int:
        """The number of tokens after the common prefix with ``other``."""
        return len(self.sequence) - self.sequence.common_prefix(other.tokens())


@dataclass(frozen=True)
class Snapshot:
    """Everything needed to restore a chat into an empty context. ``state``: llama.cpp's bytes of the sequence."""

    outline: Outline
    checkpoints: tuple[Checkpoint, ...]
    state: StateBytes

    @property
    def n_bytes(self) -> int:
        checkpoints = sum(len(checkpoint.state) for checkpoint in self.checkpoints)
        return len(self.state) + checkpoints + TOKEN_BYTES * len(self.outline.sequence)

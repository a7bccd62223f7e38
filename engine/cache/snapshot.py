"""A chat's cached state outside the context, and what of it a prompt could use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.cache.checkpoints import Checkpoint
from engine.cache.memory import MemoryKind, MemoryTraits, StateBytes
from engine.cache.sequence import TokenSequence

TOKEN_BYTES = 4


def can_cut(traits: MemoryTraits, highest_position: int, *, has_freed: bool) -> bool:
    """Whether removing the tail brings the past back, where positions up to ``highest_position`` have been used.

    Never for a state; not once a sliding window has moved on. With ``swa_full`` window layers keep what left the
    window until llama.cpp needs a cell, and then take the cells of masked tokens first: they are sure to be whole
    only while no cell has been freed.
    """
    if traits.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID):
        return False
    if traits.n_swa == 0 or highest_position <= traits.n_swa:
        return True
    return traits.kind is MemoryKind.ATTENTION and not has_freed


@dataclass(frozen=True)
class Outline:
    """Everything of a snapshot but the bytes: the sequence, and how far it could be rolled back."""

    sequence: TokenSequence
    highest_position: int
    has_freed: bool
    checkpoint_indices: tuple[int, ...]

    def n_usable(self, tokens: Sequence[int], traits: MemoryTraits) -> int:
        """How many cells of this state a prompt of ``tokens`` would reuse."""
        # At least the last token is fed, since its logits are needed.
        n_same = min(self.sequence.common_prefix(tokens), len(tokens) - 1)
        if n_same < len(self.sequence) and not can_cut(traits, self.highest_position, has_freed=self.has_freed):
            n_same = max((index for index in self.checkpoint_indices if index <= n_same), default=0)
        return sum(run.length for run in self.sequence.cached_runs(0, n_same))

    def n_beyond(self, other: TokenSequence) -> int:
        """Tokens that are not in ``other``."""
        return len(self.sequence) - self.sequence.common_prefix(other.tokens())


@dataclass(frozen=True)
class Snapshot:
    """What brings a chat back into an empty context. ``state``: llama.cpp's bytes of the whole sequence."""

    outline: Outline
    checkpoints: tuple[Checkpoint, ...]
    state: StateBytes

    @property
    def n_bytes(self) -> int:
        checkpoints = sum(len(checkpoint.state) for checkpoint in self.checkpoints)
        return len(self.state) + checkpoints + TOKEN_BYTES * len(self.outline.sequence)

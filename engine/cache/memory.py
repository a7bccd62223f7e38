"""The native memory interface of the cache manager: a protocol that llama.cpp and the tests' fake implement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

StateBytes = bytes | bytearray | memoryview
"""llama.cpp's serialized state of a sequence; immutable until its buffer is reused for another."""


class MemoryKind(StrEnum):
    """The kind of a model's memory, which decides what can be removed from it."""

    ATTENTION = "attention"
    """Every layer keeps every token's K and V: any cell can be freed."""
    SLIDING = "sliding"
    """Some layers keep only a sliding window: tokens outside it are not restored by removing the tail."""
    RECURRENT = "recurrent"
    """A recurrent state of the whole text: no token can be removed."""
    HYBRID = "hybrid"
    """Recurrent and attention layers: as recurrent."""


@dataclass(frozen=True)
class MemoryTraits:
    """The capabilities of a context's memory.

    ``n_cells``: effective number of cells. ``n_swa``: sliding window in tokens, 0 for none. ``can_shift``: a K-shift is
    safe. ``n_positions``: positions the model was trained on, RoPE scaling included; none may reach it.
    """

    kind: MemoryKind
    n_cells: int
    n_swa: int
    can_shift: bool
    n_positions: int


class DecodeStatus(StrEnum):
    DONE = "done"
    INTERRUPTED = "interrupted"
    NO_ROOM = "no_room"
    FAILED = "failed"


@dataclass(frozen=True)
class DecodeOutcome:
    """The result of a decode: ``n_done`` tokens of the batch are in the cache now."""

    status: DecodeStatus
    n_done: int


class CacheMemory(Protocol):
    """Cells of one sequence. Positions are RoPE indices; a new token's position is the last one's plus 1.

    A shift takes effect with the next ``decode``, which can't be interrupted.
    """

    traits: MemoryTraits
    n_batch: int

    def decode(
        self,
        tokens: Sequence[int],
        first_position: int,
        *,
        interrupt: Callable[[], bool] | None = None,
        all_logits: bool = False,
    ) -> DecodeOutcome: ...

    def remove(self, p0: int, p1: int | None) -> bool: ...

    def shift(self, p0: int, p1: int, delta: int) -> None: ...

    def clear(self) -> None: ...

    def last_position(self) -> int: ...

    def snapshot(self, *, partial: bool = False, room: StateBytes | None = None) -> StateBytes: ...

    def restore(self, state: StateBytes, *, partial: bool = False) -> bool: ...

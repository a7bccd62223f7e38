"""Checkpoints: small copies of recurrent state and sliding windows, taken at turn borders to allow a rollback."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.cache.memory import StateBytes

BUDGET_BYTES = 1 << 30


@dataclass
class Checkpoint:
    """The state after the first ``index`` tokens, before ``next_position``.

    ``removed``: position ranges evicted since, which must be removed again after a restore.
    """

    index: int
    next_position: int
    state: StateBytes
    removed: list[tuple[int, int]] = field(default_factory=list)


class Checkpoints:
    """The checkpoints of one sequence; the oldest are dropped first when they exceed ``budget_bytes``."""

    def __init__(self, budget_bytes: int = BUDGET_BYTES) -> None:
        self._budget_bytes = budget_bytes
        self._kept: list[Checkpoint] = []

    @property
    def n_bytes(self) -> int:
        return sum(len(checkpoint.state) for checkpoint in self._kept)

    def add(self, checkpoint: Checkpoint) -> None:
        """Add a checkpoint; the newest one is always kept, however large."""
        self.drop_after(checkpoint.index - 1)
        self._kept.append(checkpoint)
        while len(self._kept) > 1 and self.n_bytes > self._budget_bytes:
            del self._kept[0]

    def copies(self) -> tuple[Checkpoint, ...]:
        """Independent copies of all checkpoints, oldest first."""
        return tuple(replace(kept, removed=list(kept.removed)) for kept in self._kept)

    def latest(self, index: int) -> Checkpoint | None:
        """The newest checkpoint that covers no token from ``index`` on; None if there is none."""
        return next((kept for kept in reversed(self._kept) if kept.index <= index), None)

    def drop_after(self, index: int) -> None:
        """Drop the checkpoints that cover more than the first ``index`` tokens."""
        self._kept = [kept for kept in self._kept if kept.index <= index]

    def note_removed(self, p0: int, p1: int) -> None:
        """Note that the cells at positions ``[p0, p1)`` were evicted."""
        for kept in self._kept:
            if kept.removed and kept.removed[-1][1] == p0:
                p0_before, _p1 = kept.removed.pop()
                kept.removed.append((p0_before, p1))
            else:
                kept.removed.append((p0, p1))

    def clear(self) -> None:
        self._kept.clear()

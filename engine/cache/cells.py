"""The cells of one chat: all operations that keep the token sequence and native memory consistent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.cache.checkpoints import Checkpoint, Checkpoints
from engine.cache.memory import CacheMemory, DecodeStatus, MemoryKind, MemoryTraits, StateBytes
from engine.cache.sequence import TokenSequence
from engine.cache.snapshot import Outline, Snapshot, can_cut

Interrupt = Callable[[], bool]


class Cells:
    """A sequence and the native memory that holds its cached tokens.

    Invariant between calls: the cached runs of ``sequence`` are exactly the positions that ``memory`` holds. If
    llama.cpp refuses an operation, both are emptied and an EngineError is raised.
    """

    def __init__(self, memory: CacheMemory) -> None:
        self._memory = memory
        self._checkpoints = Checkpoints()
        # From this position on, window layers have every cached token.
        self._window_start = 0
        self._has_freed = False
        self._is_shift_pending = False
        self.sequence = TokenSequence()

    @property
    def traits(self) -> MemoryTraits:
        return self._memory.traits

    @property
    def is_shift_pending(self) -> bool:
        """Whether a K-shift is pending, which the next decode applies; until then the state can't be copied."""
        return self._is_shift_pending

    @property
    def is_equal(self) -> bool:
        """Whether memory ends at the sequence's last position; False if other code has used it in between."""
        return self._memory.last_position() + 1 == self.sequence.next_position

    @property
    def is_state(self) -> bool:
        """Whether memory is a recurrent state, from which no token can be removed."""
        return self.traits.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID)

    @property
    def needs_checkpoints(self) -> bool:
        return self.is_state or self.traits.n_swa > 0

    def can_cut(self, length: int) -> bool:
        """Whether removing all but the first ``length`` tokens restores the exact earlier state."""
        return can_cut(self.traits, self._window_start, self.sequence.position_at(length))

    @property
    def can_shift(self) -> bool:
        """Whether a K-shift is safe: closing a gap moves tokens into the window that window layers may lack."""
        n_lacking = self._n_lacking
        n_held = self.sequence.n_cached - n_lacking
        return self.traits.can_shift and (n_lacking == 0 or n_held >= self.traits.n_swa - 1)

    @property
    def _n_lacking(self) -> int:
        """How many cached tokens, counted from the first one, window layers may lack."""
        n_lacking = 0
        for run in self.sequence.cached_runs():
            assert run.first_position is not None
            n_lacking += max(0, min(run.end_position, self._window_start) - run.first_position)
        return n_lacking

    # Removing

    def roll_back(self, length: int) -> int:
        """Forget all tokens from index ``length`` on, or earlier if memory can't be cut there; returns the new length.

        ::

            index    0 .................. length ............. len
            before   | prefix             | old text           |
            after    | prefix             |

        Sliding windows and recurrent states go back to a checkpoint at or before ``length``; without one, to nothing.
        """
        if length == len(self.sequence):
            return length
        if self.can_cut(length):
            self._remove(length, None)
            self.sequence.truncate(length)
            self._checkpoints.drop_after(length)
            return length
        self._go_back_to_checkpoint(length)
        return len(self.sequence)

    def evict(self, start: int, end: int) -> int:
        """Free the cells of ``[start, end)``; returns their number.

        ::

            position  0   p0 ........ p1 ........ next
            before    |    | evicted  |  kept      |
            after     |    .          |  kept      |      no position moves
        """
        for run in list(self.sequence.cached_runs(start, end)):
            assert run.first_position is not None
            self._remove(run.start, run.end)
            self._checkpoints.note_removed(run.first_position, run.end_position)
            self._has_freed = True
        return self.sequence.evict(start, end)

    def keep_only_first(self, length: int) -> int:
        """Evict all but the first ``length`` tokens, or all if these can't be kept alone; returns how many are left.

        Only tokens that are cached without a gap from the first one on are kept.
        """
        first = next(self.sequence.cached_runs(0, length), None)
        n_kept = first.end if first is not None and first.start == 0 and self.can_cut(first.end) else 0
        if n_kept:
            self._remove(n_kept, None)
        else:
            self._empty_memory()
        self._checkpoints.clear()
        self.sequence.evict(n_kept, len(self.sequence))
        return n_kept

    def truncate(self, length: int) -> None:
        """Forget tokens from index ``length`` on, none of which is cached."""
        assert next(self.sequence.cached_runs(length), None) is None
        self.sequence.truncate(min(length, len(self.sequence)))

    def clear(self) -> None:
        """Free every cell and forget the sequence."""
        self._empty_memory()
        self._checkpoints.clear()
        self.sequence = TokenSequence()

    def _remove(self, start: int, end: int | None) -> None:
        """Free the cells of the cached tokens in ``[start, end)``, which are adjacent, or of all from ``start`` on."""
        first = next(self.sequence.cached_runs(start, end), None)
        if first is None:
            return
        assert first.first_position is not None
        if not self._memory.remove(first.first_position, None if end is None else first.end_position):
            self._fail(ErrorCode.CACHE_INCONSISTENT, f"cells from {first.first_position} on could not be freed")

    def _empty_memory(self) -> None:
        self._memory.clear()
        self._window_start, self._has_freed, self._is_shift_pending = 0, False, False

    # Adding

    def skip(self, tokens: Sequence[int]) -> None:
        """Append tokens to the sequence that are part of the chat but are not fed."""
        self.sequence.append_skipped(tokens)

    def decode(
        self, tokens: Sequence[int], start: int, interrupt: Interrupt | None = None, *, all_logits: bool = False
    ) -> bool:
        """Evaluate the tokens of index ``start`` and on, at the next positions; False if interrupted before the end.

        After an interruption an attention memory keeps the completed micro-batches; a recurrent state, which the
        interrupted one may have changed, is restored to its last checkpoint.
        """
        sequence, position = self.sequence, self.sequence.next_position
        outcome = self._memory.decode(tokens, position, interrupt=interrupt, all_logits=all_logits)
        self._is_shift_pending = False
        if outcome.status in (DecodeStatus.NO_ROOM, DecodeStatus.FAILED):
            detail = f"decode {outcome.status} of {len(tokens)} tokens at {position}, {sequence.n_cached} cached"
            self._fail(ErrorCode.DECODE_FAILED, detail)
        if outcome.status is DecodeStatus.INTERRUPTED and self.is_state:
            self._go_back_to_checkpoint(len(sequence))
            return False
        n_again = min(outcome.n_done, len(sequence) - start)
        if n_again:
            sequence.recache(start, start + n_again, position)
        sequence.append_cached(tokens[n_again : outcome.n_done], position + n_again)
        # An interrupted micro-batch may have reused cells of tokens that are outside its own window.
        self._note_reuse(sequence.next_position + (outcome.status is DecodeStatus.INTERRUPTED))
        return outcome.status is DecodeStatus.DONE

    def _note_reuse(self, next_position: int) -> None:
        """Note that window-layer cells may be reused, except for the last ``n_swa`` positions before ``next_position``.

        With ``swa_full`` there are cells for all tokens; but once some were freed, masked tokens' cells are reused too.
        """
        traits = self.traits
        if traits.n_swa and (traits.kind is not MemoryKind.ATTENTION or self._has_freed):
            self._window_start = max(self._window_start, next_position - traits.n_swa)

    def shift_down(self) -> None:
        """Close the gaps between cached positions by one K-shift, which the next decode applies.

        ::

            position  0   s        p0 ............ next
            before    |   | (gap)  | kept          |
            after     |   | kept          |
                      0   s               s + n
        """
        self._window_start = self._n_lacking
        for run, delta in self.sequence.renumber():
            assert run.first_position is not None
            self._memory.shift(run.first_position, run.end_position, delta)
            self._is_shift_pending = True
        self._checkpoints.clear()

    # Checkpoints

    def add_checkpoint(self) -> None:
        """Take a checkpoint (recurrent state, sliding windows) at the end of the sequence."""
        sequence = self.sequence
        if sequence.n_cached and not self._is_shift_pending:
            state = self._memory.snapshot(partial=True)
            self._checkpoints.add(Checkpoint(len(sequence), sequence.next_position, state))

    def _go_back_to_checkpoint(self, length: int) -> None:
        checkpoint = self._checkpoints.latest(length)
        if checkpoint is None or not self._restore(checkpoint):
            self.clear()

    def _restore(self, checkpoint: Checkpoint) -> bool:
        """Go back to the checkpoint, with the tokens evicted since then removed; whether llama.cpp accepted it."""
        memory, sequence = self._memory, self.sequence
        if not memory.restore(checkpoint.state, partial=True) or not memory.remove(checkpoint.next_position, None):
            return False
        sequence.truncate(checkpoint.index)
        if not all(memory.remove(p0, p1) for p0, p1 in checkpoint.removed) or not self.is_equal:
            return False
        self._checkpoints.drop_after(checkpoint.index)
        self._window_start = max(0, checkpoint.next_position + 1 - self.traits.n_swa) if self.traits.n_swa else 0
        return True

    # Snapshots

    @property
    def outline(self) -> Outline:
        """The outline of a snapshot taken now, without its bytes; it refers to the live sequence."""
        indices = tuple(checkpoint.index for checkpoint in self._checkpoints.copies())
        return Outline(self.sequence, self._window_start, indices)

    def snapshot(self, room: StateBytes | None = None) -> Snapshot | None:
        """A copy of the sequence's state; None if the cache is empty or a K-shift is pending.

        ``room``: an obsolete state whose memory the copy may reuse; untouched if the result is None.
        """
        # Between a K-shift and the decode that applies it, positions are new while K is still rotated for the old ones.
        if not self.sequence.n_cached or self._is_shift_pending or not self.is_equal:
            return None
        # llama.cpp copies only the last ``n_swa`` tokens of window layers, with ``swa_full`` too.
        n_swa, end = self.traits.n_swa, self.sequence.next_position
        window_start = max(self._window_start, end - n_swa) if n_swa else 0
        outline = replace(self.outline, sequence=self.sequence.copy(), window_start=window_start)
        return Snapshot(outline, self._checkpoints.copies(), self._memory.snapshot(room=room))

    def restore(self, snapshot: Snapshot) -> bool:
        """Restore a snapshot; False, with an empty cache, if llama.cpp refuses it."""
        self.clear()
        outline = snapshot.outline
        if not self._can_hold(outline) or not self._memory.restore(snapshot.state):
            self._empty_memory()
            return False
        self.sequence = outline.sequence.copy()
        # Restored cells are contiguous: gaps from earlier evictions are gone.
        self._window_start = outline.window_start
        for checkpoint in snapshot.checkpoints:
            self._checkpoints.add(replace(checkpoint, removed=list(checkpoint.removed)))
        if not self.is_equal:
            self.clear()
            return False
        return True

    def _can_hold(self, outline: Outline) -> bool:
        sequence, traits = outline.sequence, self.traits
        return sequence.n_cached <= traits.n_cells and sequence.next_position <= traits.n_positions

    def _fail(self, code: ErrorCode, detail: str) -> NoReturn:
        """Empty the cache, so that it is consistent, and raise the error."""
        self.clear()
        raise EngineError(
            code,
            say(
                "llama.cpp could not evaluate this text. The chat is read again with the next message; a smaller "
                "context helps."
            ),
            detail,
        )

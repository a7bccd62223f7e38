"""The cells of one chat: every way they change, so that the token sequence and native memory stay equal."""

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

    Invariant between calls: the cached runs of ``sequence`` are exactly the positions that ``memory`` holds. Whatever
    llama.cpp refuses ends with both of them empty and an EngineError.
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
        """Whether positions were changed and K is rotated only by the next decode: until then the state is no one's."""
        return self._is_shift_pending

    @property
    def is_equal(self) -> bool:
        """Whether memory ends where the sequence says: not if someone else has used it in between."""
        return self._memory.last_position() + 1 == self.sequence.next_position

    @property
    def is_state(self) -> bool:
        """Whether memory mixes the whole text into a state that no token can be taken out of."""
        return self.traits.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID)

    @property
    def needs_checkpoints(self) -> bool:
        return self.is_state or self.traits.n_swa > 0

    def can_cut(self, length: int) -> bool:
        """Whether removing all but the first ``length`` tokens brings the past back."""
        return can_cut(self.traits, self._window_start, self.sequence.position_at(length))

    @property
    def can_shift(self) -> bool:
        """Whether a K-shift is safe: it brings near what lay beyond a gap, and window layers may not have that."""
        n_lacking = self._n_lacking
        n_held = self.sequence.n_cached - n_lacking
        return self.traits.can_shift and (n_lacking == 0 or n_held >= self.traits.n_swa - 1)

    @property
    def _n_lacking(self) -> int:
        """How many cached tokens window layers may not have: the first ones."""
        n_lacking = 0
        for run in self.sequence.cached_runs():
            assert run.first_position is not None
            n_lacking += max(0, min(run.end_position, self._window_start) - run.first_position)
        return n_lacking

    # Taking out

    def roll_back(self, length: int) -> int:
        """Forget everything from index ``length`` on, or earlier where memory can't stop there; the new length.

        ::

            index    0 .................. length ............. len
            before   | prefix             | old text           |
            after    | prefix             |

        Sliding windows and states go back to a checkpoint at or before ``length``, without one to nothing.
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
        """Free the cells of ``[start, end)``; how many they were.

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
        """Evict all but the first ``length`` tokens, or all where those can't be kept alone; how many are left.

        Kept is only what is cached without a gap from the first token on.
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
        """Free the cells of the cached tokens in ``[start, end)``, which lie together, or of all from ``start`` on."""
        first = next(self.sequence.cached_runs(start, end), None)
        if first is None:
            return
        assert first.first_position is not None
        if not self._memory.remove(first.first_position, None if end is None else first.end_position):
            self._fail(ErrorCode.CACHE_INCONSISTENT, f"cells from {first.first_position} on could not be freed")

    def _empty_memory(self) -> None:
        self._memory.clear()
        self._window_start, self._has_freed, self._is_shift_pending = 0, False, False

    # Putting in

    def skip(self, tokens: Sequence[int]) -> None:
        """Let the sequence hold tokens that are part of the chat and are not fed."""
        self.sequence.append_skipped(tokens)

    def decode(
        self, tokens: Sequence[int], start: int, interrupt: Interrupt | None = None, *, all_logits: bool = False
    ) -> bool:
        """Evaluate the tokens of index ``start`` and on, at the next positions; False if interrupted before the end.

        After an interruption an attention memory keeps the micro-batches that were done; a state, which the one that
        was stopped may have changed, is at its last checkpoint.
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
        # A micro-batch that was stopped may have taken the cells of what its own tokens no longer see.
        self._note_reuse(sequence.next_position + (outcome.status is DecodeStatus.INTERRUPTED))
        return outcome.status is DecodeStatus.DONE

    def _note_reuse(self, next_position: int) -> None:
        """Cells of window layers may hold new tokens now, save for the last ``n_swa`` before ``next_position``.

        With ``swa_full`` there are cells for all; but once some were freed, those of masked tokens are used again too.
        """
        traits = self.traits
        if traits.n_swa and (traits.kind is not MemoryKind.ATTENTION or self._has_freed):
            self._window_start = max(self._window_start, next_position - traits.n_swa)

    def shift_down(self) -> None:
        """Close the gaps between cached positions by one K-shift, which happens with the next decode.

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
        """Copy what can't be rolled back, as it is at the end of the sequence."""
        sequence = self.sequence
        if sequence.n_cached and not self._is_shift_pending:
            state = self._memory.snapshot(partial=True)
            self._checkpoints.add(Checkpoint(len(sequence), sequence.next_position, state))

    def _go_back_to_checkpoint(self, length: int) -> None:
        checkpoint = self._checkpoints.latest(length)
        if checkpoint is None or not self._restore(checkpoint):
            self.clear()

    def _restore(self, checkpoint: Checkpoint) -> bool:
        """Be again as at the checkpoint, less what has been evicted since."""
        memory, sequence = self._memory, self.sequence
        if not memory.restore(checkpoint.state, partial=True) or not memory.remove(checkpoint.next_position, None):
            return False
        sequence.truncate(checkpoint.index)
        if not all(memory.remove(p0, p1) for p0, p1 in checkpoint.removed) or not self.is_equal:
            return False
        self._checkpoints.drop_after(checkpoint.index)
        self._window_start = max(0, checkpoint.next_position + 1 - self.traits.n_swa) if self.traits.n_swa else 0
        return True

    # All of it, outside the context

    @property
    def outline(self) -> Outline:
        """What a snapshot would say, without its bytes; changes with the sequence."""
        indices = tuple(checkpoint.index for checkpoint in self._checkpoints.copies())
        return Outline(self.sequence, self._window_start, indices)

    def snapshot(self, room: StateBytes | None = None) -> Snapshot | None:
        """A copy of everything; None if there is nothing, or not before the next decode.

        ``room``: a state that nobody needs any more, whose memory the copy may take; untouched where there is no copy.
        """
        # Between a shift and the decode that does it, old K stands beside new positions.
        if not self.sequence.n_cached or self._is_shift_pending or not self.is_equal:
            return None
        # Of window layers llama.cpp copies the last ``n_swa`` tokens and no more, with ``swa_full`` too.
        n_swa, end = self.traits.n_swa, self.sequence.next_position
        window_start = max(self._window_start, end - n_swa) if n_swa else 0
        outline = replace(self.outline, sequence=self.sequence.copy(), window_start=window_start)
        return Snapshot(outline, self._checkpoints.copies(), self._memory.snapshot(room=room))

    def restore(self, snapshot: Snapshot) -> bool:
        """Be as the snapshot was; False, with an empty cache, if llama.cpp refuses it."""
        self.clear()
        outline = snapshot.outline
        if not self._can_hold(outline) or not self._memory.restore(snapshot.state):
            self._empty_memory()
            return False
        self.sequence = outline.sequence.copy()
        # What was freed before left no holes: the cells lie side by side again.
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
        """Leave an empty, true cache, and say what happened."""
        self.clear()
        raise EngineError(
            code,
            say(
                "llama.cpp could not evaluate this text. The chat is read again with the next message; a smaller "
                "context helps."
            ),
            detail,
        )

"""Cache memory without a model: it counts cells as llama.cpp does, has its traps, and knows what each cell has seen."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from engine.cache.memory import DecodeOutcome, DecodeStatus, MemoryKind, MemoryTraits, StateBytes
from engine.cache.sequence import TokenSequence


@dataclass
class Cell:
    """A token's K and V: `seen` are the tokens that were visible when they were computed, in the order of positions.

    `k_position` is the position that K is rotated to, which a shift leaves behind until the next decode.
    `is_sound` is False if a window layer had lost something that it should have seen, or still had what was removed.
    """

    token: int
    position: int
    k_position: int
    seen: tuple[int, ...]
    is_sound: bool = True


@dataclass
class State:
    """A recurrent state: every token that went into it, and the position of the last."""

    tokens: tuple[int, ...] = ()
    position: int = -1
    is_torn: bool = False


@dataclass
class _Store:
    """What a snapshot takes: the cells of layers that see everything, those of window layers, and the recurrent state.

    `in_window` has for each position the token and what it has seen, since a checkpoint can bring back another text.
    """

    base: dict[int, Cell] = field(default_factory=dict)
    in_window: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    state: State = field(default_factory=State)


class FakeMemory:
    """Implements `engine.cache.memory.CacheMemory` for one sequence.

    Its traps are llama.cpp's: removing the tail of a window cache succeeds although the past is gone; so does removing
    the middle of a state; a stopped micro-batch leaves a state torn, and windows without what it no longer sees;
    restoring a part leaves the rest as it was; a state holds of windows what the last token sees, and one token more.
    """

    def __init__(self, traits: MemoryTraits, *, n_batch: int = 16, n_ubatch: int = 4) -> None:
        self.traits = traits
        self.n_batch = n_batch
        self._n_ubatch = n_ubatch
        self._store = _Store()
        self._has_holes = False
        self._is_shift_pending = False
        self.is_failing = False
        """Whether the next decode fails."""

    # CacheMemory

    def decode(
        self,
        tokens: Sequence[int],
        first_position: int,
        *,
        interrupt: Callable[[], bool] | None = None,
        all_logits: bool = False,
    ) -> DecodeOutcome:
        assert 0 < len(tokens) <= self.n_batch, "llama.cpp asserts this"
        assert first_position == self.last_position() + 1, (first_position, self.last_position())
        assert first_position + len(tokens) <= self.traits.n_positions, "beyond the positions of the model"
        if self._is_shift_pending:
            interrupt = None
            for cell in self._store.base.values():
                cell.k_position = cell.position
        self._is_shift_pending = False
        if self.is_failing:
            self.is_failing = False
            return DecodeOutcome(DecodeStatus.FAILED, 0)
        if self._has_cells and len(self._store.base) + len(tokens) > self.traits.n_cells:
            return DecodeOutcome(DecodeStatus.NO_ROOM, 0)
        for start in range(0, len(tokens), self._n_ubatch):
            part = tokens[start : start + self._n_ubatch]
            if interrupt is not None and interrupt():
                self._tear(part, first_position + start)
                return DecodeOutcome(DecodeStatus.INTERRUPTED, max(0, self.last_position() + 1 - first_position))
            self._decode_part(part, first_position + start)
        return DecodeOutcome(DecodeStatus.DONE, len(tokens))

    def remove(self, p0: int, p1: int | None) -> bool:
        store, end = self._store, p1 if p1 is not None else 1 << 31
        if self._has_state and p0 <= store.state.position < end:
            if p0 > 0:
                return False
            store.state = State()
        gone = {position for position in store.base if p0 <= position < end}
        if gone and max(gone) < max(store.base):
            self._has_holes = True
        store.base = {position: cell for position, cell in store.base.items() if position not in gone}
        store.in_window = {p: seen for p, seen in store.in_window.items() if not p0 <= p < end}
        return True

    def shift(self, p0: int, p1: int, delta: int) -> None:
        assert self.traits.can_shift, "a shift here ends the process"
        store = self._store
        moved = {position: cell for position, cell in store.base.items() if p0 <= position < p1}
        kept = {position: cell for position, cell in store.base.items() if position not in moved}
        for position, cell in moved.items():
            assert position + delta not in kept, "two cells at one position"
            cell.position = position + delta
            kept[position + delta] = cell
        store.in_window = {p + delta if p in moved else p: seen for p, seen in store.in_window.items()}
        store.base = kept
        self._is_shift_pending = True

    def clear(self) -> None:
        self._store = _Store()
        self._has_holes = self._is_shift_pending = False

    def last_position(self) -> int:
        if self._has_state:
            return self._store.state.position
        # llama.cpp asks the window layers, if there are any.
        return max(self._store.in_window, default=-1)

    def snapshot(self, *, partial: bool = False, room: StateBytes | None = None) -> StateBytes:
        assert not self._is_shift_pending, "old K with new positions"
        store, in_window = self._store, self._store.in_window
        if self.traits.n_swa:
            in_window = {p: seen for p, seen in in_window.items() if self.last_position() - p < self.traits.n_swa}
        state = bytearray(pickle.dumps(_Store({} if partial else store.base, in_window, store.state)))
        if isinstance(room, bytearray):
            # Who still reads that one reads this one now, or nothing.
            room[:] = state
            return room
        return state

    def restore(self, state: StateBytes, *, partial: bool = False) -> bool:
        # Nothing but what `snapshot` gave comes here.
        store: _Store = pickle.loads(state)
        if partial:
            store.base = self._store.base
        else:
            self._has_holes = False
        self._store = store
        return True

    # What it really holds

    def positions(self) -> list[int]:
        """Positions of all cells, in order; of a state without cells, the tokens that went into it."""
        if self._has_cells:
            return sorted(self._store.base)
        state = self._store.state
        return list(range(state.position + 1 - len(state.tokens), state.position + 1))

    def faults(self, sequence: TokenSequence) -> list[str]:
        """Every way in which memory is not what the sequence says it is."""
        cached = [
            (index, run.first_position + index - run.start)
            for run in sequence.cached_runs()
            if run.first_position is not None
            for index in range(run.start, run.end)
        ]
        tokens = sequence.tokens(0, len(sequence))
        found = []
        if [position for _index, position in cached] != self.positions():
            found.append(f"positions {self.positions()} are held, {cached} are said to be")
            return found
        if self._has_cells:
            held = tuple(tokens[index] for index, _position in cached)
            for n_before, (index, position) in enumerate(cached):
                cell = self._store.base[position]
                found.extend(self._cell_faults(cell, tokens[: index + 1], held[:n_before]))
        if self._has_state:
            state = self._store.state
            if state.is_torn:
                found.append("the state is torn")
            if list(state.tokens) != [tokens[index] for index, _position in cached]:
                found.append(f"the state knows {state.tokens}")
        return found

    def _cell_faults(self, cell: Cell, tokens: Sequence[int], cached_before: Sequence[int]) -> list[str]:
        found = []
        if cell.token != tokens[-1]:
            found.append(f"{cell} should be token {tokens[-1]}")
        if not _is_within(cell.seen, tokens[:-1]):
            found.append(f"{cell} has seen what is not before it")
        if not _is_within(cached_before, cell.seen):
            found.append(f"{cell} has not seen all of {cached_before}")
        if not cell.is_sound:
            found.append(f"{cell} was computed with another window than it should have been")
        if cell.k_position != cell.position and not self._is_shift_pending:
            found.append(f"{cell} was never rotated")
        return found

    def result(self) -> object:
        """What the last decode's logits depend on: all that the last token has seen, and where."""
        state = self._store.state if self._has_state else None
        return (self._store.base[self.last_position()] if self._has_cells else None), state

    # How it works

    @property
    def _has_state(self) -> bool:
        return self.traits.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID)

    @property
    def _has_cells(self) -> bool:
        return self.traits.kind is not MemoryKind.RECURRENT

    def _decode_part(self, tokens: Sequence[int], first_position: int) -> None:
        self._forget_outside_window(first_position)
        store = self._store
        for position, token in enumerate(tokens, first_position):
            before = [store.base[p] for p in sorted(store.base)]
            n_swa = self.traits.n_swa
            in_reach = {one.position: (one.token, one.seen) for one in before if position - one.position < n_swa}
            in_window = {p: seen for p, seen in store.in_window.items() if position - p < n_swa}
            is_sound = not n_swa or in_reach == in_window
            if self._has_cells:
                seen = tuple(cell.token for cell in before)
                store.base[position] = Cell(token, position, position, seen, is_sound)
                store.in_window[position] = (token, seen)
            if self._has_state:
                store.state = replace(store.state, tokens=(*store.state.tokens, token), position=position)

    def _forget_outside_window(self, next_position: int) -> None:
        """Window layers reuse the cells that the next token can't see: at the latest moment, or as here, at once."""
        n_swa = self.traits.n_swa
        if n_swa and (self.traits.kind is MemoryKind.SLIDING or self._has_holes):
            window = self._store.in_window
            self._store.in_window = {p: seen for p, seen in window.items() if next_position - p < n_swa}

    def _tear(self, tokens: Sequence[int], first_position: int) -> None:
        """A micro-batch is stopped half-way; llama.cpp then removes its positions, which a state does not allow."""
        self._forget_outside_window(first_position)
        if self._has_state and first_position > 0:
            self._decode_part(tokens, first_position)
            self._store.state = replace(self._store.state, is_torn=True)


def _is_within(part: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether `part` is `whole` with something left out, or with nothing."""
    if len(part) == len(whole):
        return tuple(part) == tuple(whole)
    rest = iter(whole)
    return all(token in rest for token in part)

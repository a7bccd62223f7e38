"""An account of the cache that is not ours: llama.cpp alone evaluates what a sequence was made of, from the beginning.

A journal notes what a memory was told to do, and what was in the states that it gave; what is cut away is struck out of
it. Played to a bare context, in the same batches, it gives the logits that there should be: nothing was ever rolled
back there, copied or restored, and window layers have a cell for every token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import llama_cpp.llama_cpp as llama
import numpy as np

from engine.api.settings import LoadSettings
from engine.cache.memory import DecodeOutcome, DecodeStatus, StateBytes
from engine.native.context import NativeContext, set_fields

N_CELLS = 4096


@dataclass(frozen=True)
class Decoded:
    """A batch that began at ``first``, and where each of its tokens is now; None: its cell was freed."""

    first: int
    tokens: tuple[int, ...]
    positions: tuple[int | None, ...]


@dataclass(frozen=True)
class Freed:
    p0: int
    p1: int


@dataclass(frozen=True)
class Shifted:
    p0: int
    p1: int
    delta: int


Entry = Decoded | Freed | Shifted
States = dict[bytes, tuple[Entry, ...]]


class JournaledMemory:
    """A context, and the journal of what its cells are made of. ``states`` are those of all journals of a test."""

    def __init__(self, inner: NativeContext, states: States) -> None:
        self.inner = inner
        self.entries: tuple[Entry, ...] = ()
        self.is_undisturbed = True
        """Whether the same batches, and nothing else, went into this very context."""
        self.has_logits = False
        """Whether the last thing that was done gave the logits of the last token."""
        self._states = states

    def decode(
        self,
        tokens: Sequence[int],
        first_position: int,
        *,
        interrupt: Callable[[], bool] | None = None,
        all_logits: bool = False,
    ) -> DecodeOutcome:
        outcome = self.inner.decode(tokens, first_position, interrupt=interrupt, all_logits=all_logits)
        done = tuple(tokens[: outcome.n_done])
        if done:
            self.entries += (Decoded(first_position, done, tuple(range(first_position, first_position + len(done)))),)
        self.has_logits = outcome.status is DecodeStatus.DONE
        self.is_undisturbed &= self.has_logits
        return outcome

    def remove(self, p0: int, p1: int | None) -> bool:
        self.has_logits = self.is_undisturbed = False
        if not self.inner.remove(p0, p1):
            return False
        if p1 is None:
            self.entries = tuple(_cut(self.entries, p0))
        else:
            self.entries = (*_moved(self.entries, lambda at: None if p0 <= at < p1 else at), Freed(p0, p1))
        return True

    def shift(self, p0: int, p1: int, delta: int) -> None:
        self.has_logits = self.is_undisturbed = False
        self.inner.shift(p0, p1, delta)
        moved = _moved(self.entries, lambda at: at + delta if p0 <= at < p1 else at)
        self.entries = (*moved, Shifted(p0, p1, delta))

    def clear(self) -> None:
        self.inner.clear()
        self.entries, self.is_undisturbed, self.has_logits = (), True, False

    def snapshot(self, *, partial: bool = False, room: StateBytes | None = None) -> StateBytes:
        state = self.inner.snapshot(partial=partial, room=room)
        if not partial:
            self._states[_digest(state)] = self.entries
        return state

    def restore(self, state: StateBytes, *, partial: bool = False) -> bool:
        self.has_logits = self.is_undisturbed = False
        if not partial:
            self.entries = self._states[_digest(state)]
        return self.inner.restore(state, partial=partial)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def _digest(state: StateBytes) -> bytes:
    return hashlib.sha256(state).digest()


def _cut(entries: Sequence[Entry], end: int) -> list[Entry]:
    """Without what was decoded behind the last token whose cell is before ``end``."""
    kept: list[Entry] = []
    is_behind = True
    for entry in reversed(entries):
        if isinstance(entry, Decoded) and is_behind:
            n_kept = max(
                (index + 1 for index, at in enumerate(entry.positions) if at is not None and at < end), default=0
            )
            if not n_kept:
                continue
            is_behind = False
            entry = Decoded(entry.first, entry.tokens[:n_kept], entry.positions[:n_kept])
        kept.append(entry)
    return kept[::-1]


def _moved(entries: Sequence[Entry], move: Callable[[int], int | None]) -> list[Entry]:
    return [
        replace(entry, positions=tuple(None if at is None else move(at) for at in entry.positions))
        if isinstance(entry, Decoded)
        else entry
        for entry in entries
    ]


class RawAccount:
    """A bare context on a model that is loaded, with room for everything."""

    def __init__(self, model: Any, settings: LoadSettings) -> None:
        self._n_ubatch = settings.n_ubatch
        params = llama.llama_context_default_params()
        set_fields(
            params,
            n_ctx=N_CELLS,
            n_batch=settings.n_batch,
            n_ubatch=settings.n_ubatch,
            n_seq_max=1,
            n_threads=1,
            n_threads_batch=1,
            type_k=llama.GGML_TYPE_F32,
            type_v=llama.GGML_TYPE_F32,
            swa_full=True,
        )
        self._context = llama.llama_init_from_model(model, params)
        self._memory = llama.llama_get_memory(self._context)
        self._n_vocab = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
        self._played: tuple[Entry, ...] = ()

    def logits(self, entries: tuple[Entry, ...]) -> np.ndarray:
        """What the last token's logits are once all of this was done, from the beginning."""
        n_played = len(self._played)
        if not n_played or _plan(entries[:n_played]) != _plan(self._played) or len(entries) == n_played:
            llama.llama_memory_clear(self._memory, False)
            n_played = 0
        for entry in entries[n_played:]:
            self._play(entry)
        self._played = entries
        pointer = llama.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(pointer, shape=(self._n_vocab,)).copy()

    def _play(self, entry: Entry) -> None:
        if isinstance(entry, Freed):
            assert llama.llama_memory_seq_rm(self._memory, 0, entry.p0, entry.p1)
        elif isinstance(entry, Shifted):
            llama.llama_memory_seq_add(self._memory, 0, entry.p0, entry.p1, entry.delta)
        else:
            # A micro-batch at a time: in a longer batch after holes, llama.cpp gives later tokens the cells that
            # earlier ones still see: the logits are off by up to 0.08 of their deviation from token by token.
            for start in range(0, len(entry.tokens), self._n_ubatch):
                self._decode(entry.first + start, entry.tokens[start : start + self._n_ubatch])

    def _decode(self, first: int, tokens: Sequence[int]) -> None:
        batch = llama.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for index, token in enumerate(tokens):
            batch.token[index], batch.pos[index] = token, first + index
            batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
            batch.logits[index] = index == len(tokens) - 1
        assert llama.llama_decode(self._context, batch) == 0
        llama.llama_batch_free(batch)

    def close(self) -> None:
        llama.llama_free(self._context)


def _plan(entries: Sequence[Entry]) -> list[object]:
    """What is done, without where the tokens went later."""
    return [(entry.first, entry.tokens) if isinstance(entry, Decoded) else entry for entry in entries]

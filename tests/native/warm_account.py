"""A walk on llama.cpp itself, held against llama.cpp alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.api.settings import CacheType
from engine.cache.manager import CacheManager
from engine.cache.memory import MemoryKind
from engine.native import context as native_context
from engine.native.context import NativeContext
from engine.native.log import NativeLog
from engine.native.model import NativeModel
from tests.engine.snapshots.warm_walk import WarmWalk
from tests.native.contexts import SMALL
from tests.native.raw_account import JournaledMemory, RawAccount, States
from tests.native.state_header import held_positions
from tests.tiny import TinySpec, write_tiny_model

# A micro-batch for each decode, as the engine feeds: in a longer batch after holes llama.cpp itself is not exact.
SETTINGS = replace(SMALL, type_k=CacheType.F32, type_v=CacheType.F32, n_batch=SMALL.n_ubatch)
N_SWA = 48
N_TRAINED = 320
"""A little more than there are cells, so that positions must be numbered anew."""
TOLERANCE = 0.02
"""In standard deviations of the logits: the same text in other cells, or in a batch that was cut, is rounded otherwise.
"""

_WINDOWS = TinySpec(arch="gemma3", n_layer=3, swa_pattern=3, n_swa=N_SWA, weight_scale=0.3, n_ctx_train=N_TRAINED)
_HYBRID = TinySpec(
    arch="lfm2",
    n_layer=3,
    n_head_kv=(0, 2, 0),
    extra=(("lfm2.attention.sliding_window", N_SWA),),
    n_ctx_train=N_TRAINED,
)
WALKS = {
    "gqa": (TinySpec(weight_scale=0.3, n_ctx_train=N_TRAINED), False),
    "window": (_WINDOWS, False),
    "whole windows": (_WINDOWS, True),
    "recurrent": (TinySpec(arch="mamba", n_ctx_train=N_TRAINED), False),
    "hybrid with window": (_HYBRID, False),
    "hybrid with whole windows": (_HYBRID, True),
}
"""A model, and whether its window layers have a cell for every token."""


@dataclass
class Figures:
    """What was compared, and the largest difference of logits, in standard deviations of them."""

    n_compared: int = 0
    n_equal: int = 0
    largest: float = 0.0


class AccountedWalk:
    """A walk, whose every whole answer must have the logits that the journal has when it is played to llama.cpp."""

    def __init__(self, model: NativeModel, folder: Path, log: NativeLog, *, swa_full: bool, seed: int) -> None:
        self._settings = replace(SETTINGS, swa_full=swa_full)
        self._model, self._log = model, log
        self._states: States = {}
        self._context: NativeContext | None = None
        self._account = RawAccount(model.pointer, SETTINGS)
        self.figures = Figures()
        self.walk = WarmWalk(self._new_memory, folder, self._check, seed=seed, stops=60)

    def _new_memory(self) -> JournaledMemory:
        if self._context is not None:
            self._context.close()
        self._context = NativeContext(self._model, self._settings, self._log)
        return JournaledMemory(self._context, self._states)

    def _check(self, memory: JournaledMemory, manager: CacheManager, is_whole: bool) -> None:
        sequence, kind = manager.sequence, memory.traits.kind
        said = [
            position
            for run in sequence.cached_runs()
            if run.first_position is not None
            for position in range(run.first_position, run.end_position)
        ]
        assert held_positions(memory.inner) == (said[-1:] if kind is MemoryKind.RECURRENT else said)
        if not (is_whole and memory.has_logits):
            return
        one, other = memory.inner.logits(), self._account.logits(memory.entries)
        difference = float(np.abs(one - other).max() / other.std())
        figures = self.figures
        figures.n_compared += 1
        figures.n_equal += bool(np.array_equal(one, other))
        assert not (memory.is_undisturbed and difference), "the same batches give the same bits"
        figures.largest = max(figures.largest, difference)

    def close(self) -> None:
        self._account.close()
        if self._context is not None:
            self._context.close()


@contextmanager
def accounted_walk(name: str, folder: Path, log: NativeLog, *, seed: int) -> Iterator[AccountedWalk]:
    """A walk on the tiny model of this name; a decode can be stopped before each node of its graph."""
    spec, swa_full = WALKS[name]
    path = write_tiny_model(folder / "model.gguf", spec)
    period, native_context.INTERRUPT_PERIOD_S = native_context.INTERRUPT_PERIOD_S, 0.0
    try:
        with closing(NativeModel(path, SETTINGS, log)) as model:
            walk = AccountedWalk(model, folder / "snapshots", log, swa_full=swa_full, seed=seed)
            with closing(walk):
                yield walk
    finally:
        native_context.INTERRUPT_PERIOD_S = period

"""The cache manager on llama.cpp itself, with a tiny model of every kind of memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from engine.cache.memory import MemoryKind
from engine.cache.sequence import TokenSequence
from engine.native import context as native_context
from engine.native.context import NativeContext
from tests.engine.cache.reuse_contract import ReuseContract
from tests.engine.cache.room_contract import RoomContract
from tests.native.contexts import ContextMaker, native_log, new_context
from tests.native.state_header import held_positions
from tests.tiny import TinySpec

__all__ = ["native_log", "new_context"]

TOLERANCE = 0.02
"""The same text in other batches, or in other cells, gives other roundings: the largest difference of logits, in
standard deviations of them. What is wrong differs by more than one."""

SPECS = {
    "mha": TinySpec(n_layer=1, n_head_kv=4),
    "gqa": TinySpec(),
    "mqa": TinySpec(n_layer=1, n_head_kv=1),
    "heads per layer": TinySpec(arch="deci", n_layer=4, n_head=(4, 2, 4, 0), n_head_kv=(2, 1, 0, 0)),
    "window": TinySpec(arch="gemma3", swa_pattern=2),
    "whole windows": TinySpec(arch="gemma3", swa_pattern=2),
    "m-rope": TinySpec(arch="qwen2vl"),
    "mla": TinySpec(arch="deepseek2"),
    "learned positions": TinySpec(arch="gpt2", n_head_kv=4),
    "recurrent": TinySpec(arch="mamba"),
    "hybrid": TinySpec(arch="lfm2", n_layer=3, n_head_kv=(0, 2, 0)),
    "hybrid with window": TinySpec(
        arch="lfm2", n_layer=3, n_head_kv=(0, 2, 0), extra=(("lfm2.attention.sliding_window", 64),)
    ),
}


class LlamaLab:
    """llama.cpp with one tiny model."""

    def __init__(self, new_context: ContextMaker, name: str) -> None:
        self._new_context = new_context
        self._name = name
        traits = self.new_memory().traits
        self.kind = traits.kind
        # Window layers that were restored hold their tokens in other cells than before.
        self.is_exact = traits.n_swa == 0

    def new_memory(self) -> NativeContext:
        return self._new_context(SPECS[self._name], swa_full=self._name == "whole windows")

    def check(self, memory: Any, sequence: TokenSequence) -> None:
        held = held_positions(memory, has_mrope=self._name == "m-rope")
        said = [
            position
            for run in sequence.cached_runs()
            if run.first_position is not None
            for position in range(run.first_position, run.end_position)
        ]
        assert held == (said[-1:] if self.kind is MemoryKind.RECURRENT else said)
        assert memory.last_position() + 1 == sequence.next_position

    def result(self, memory: Any) -> Any:
        return memory.logits()

    def assert_same(self, one: Any, other: Any, *, exactly: bool) -> None:
        if exactly:
            assert np.array_equal(one, other)
        else:
            difference = float(np.abs(one - other).max() / other.std())
            assert difference < TOLERANCE, difference


class TestManagerOnLlama(ReuseContract, RoomContract):
    @pytest.fixture(params=SPECS)
    def lab(self, request: pytest.FixtureRequest, new_context: ContextMaker) -> LlamaLab:
        return LlamaLab(new_context, request.param)

    @pytest.fixture
    def stops(self, monkeypatch: pytest.MonkeyPatch) -> Sequence[int]:
        """Counted in nodes of the graph, since a decode is asked before each of them here."""
        monkeypatch.setattr(native_context, "INTERRUPT_PERIOD_S", 0.0)
        return (0, 1, 3, 30, 70, 150, 300, 800)

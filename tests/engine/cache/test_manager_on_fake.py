"""The cache manager on memory without a model, whose cells know what they have seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from engine.cache.memory import MemoryKind, MemoryTraits
from engine.cache.sequence import TokenSequence
from tests.engine.cache.fake_memory import FakeMemory
from tests.engine.cache.lab import N_CELLS
from tests.engine.cache.reuse_contract import ReuseContract
from tests.engine.cache.room_contract import RoomContract

N_SWA = 32


@dataclass(frozen=True)
class FakeLab:
    kind: MemoryKind
    n_swa: int
    can_shift: bool
    is_exact: bool = True

    def new_memory(self) -> FakeMemory:
        return FakeMemory(MemoryTraits(self.kind, N_CELLS, self.n_swa, self.can_shift, 2 * N_CELLS))

    def check(self, memory: Any, sequence: TokenSequence) -> None:
        assert not memory.faults(sequence)

    def result(self, memory: Any) -> object:
        return memory.result()

    def assert_same(self, one: object, other: object, *, exactly: bool) -> None:
        assert one == other


LABS = {
    "attention": FakeLab(MemoryKind.ATTENTION, 0, can_shift=True),
    "attention without shift": FakeLab(MemoryKind.ATTENTION, 0, can_shift=False),
    "whole windows": FakeLab(MemoryKind.ATTENTION, N_SWA, can_shift=True),
    "sliding": FakeLab(MemoryKind.SLIDING, N_SWA, can_shift=False),
    "recurrent": FakeLab(MemoryKind.RECURRENT, 0, can_shift=False),
    "hybrid": FakeLab(MemoryKind.HYBRID, 0, can_shift=False),
    "hybrid with windows": FakeLab(MemoryKind.HYBRID, N_SWA, can_shift=False),
}


class TestManagerOnFake(ReuseContract, RoomContract):
    @pytest.fixture(params=LABS.values(), ids=LABS.keys())
    def lab(self, request: pytest.FixtureRequest) -> FakeLab:
        return request.param

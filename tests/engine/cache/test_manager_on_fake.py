"""The cache manager on memory without a model, whose cells know what they have seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from engine.api.chat import Prompt
from engine.api.settings import Policy, PolicySettings
from engine.cache.manager import CacheManager
from engine.cache.memory import MemoryKind, MemoryTraits
from engine.cache.sequence import TokenSequence
from tests.engine.cache.chats import Chat, answer, feed, long_chat, text
from tests.engine.cache.fake_memory import FakeMemory
from tests.engine.cache.lab import N_CELLS, After, RecordedMemory
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


@pytest.mark.parametrize("policy", [Policy.SINKS, Policy.WINDOW])
def test_where_no_position_is_left_over_small_chunks_do_not_read_everything_again(policy: Policy) -> None:
    # A cache as long as the trained length, and no K-shift: renumbering reads again what is kept.
    memory = RecordedMemory(FakeMemory(MemoryTraits(MemoryKind.ATTENTION, N_CELLS, 0, False, N_CELLS)))
    manager = CacheManager(memory)
    feed(manager, Chat().say("user", text(1, 200)).prompt(), PolicySettings(policy=policy, n_evict=2))
    n_fed, n_answer = memory.n_decoded, 300
    answer(manager, text(2, n_answer))
    # An eighth of the window is free after each time, of which there are so few.
    assert memory.n_decoded - n_fed < 10 * n_answer
    assert 7 <= manager.counts.n_renumbered <= 9
    assert not memory.inner.faults(manager.sequence)


def test_renumbering_brings_nothing_near_that_window_layers_have_lost() -> None:
    # Fewer tokens are kept than a window sees: without the gap behind them it sees the sinks again.
    lab = LABS["whole windows"]
    memory = RecordedMemory(lab.new_memory())
    manager, settings = CacheManager(memory), PolicySettings(policy=Policy.SINKS, n_sink=4, n_window=20, n_evict=4)
    feed(manager, Chat().say("user", text(1, 8)).prompt(), settings)
    answer(manager, text(2, 100))
    assert manager.renumber()
    assert manager.sequence.next_position == manager.sequence.n_cached
    answer(manager, text(3, 10))
    lab.check(memory.inner, manager.sequence)


@pytest.mark.parametrize("n_asked", range(40))
def test_a_checkpoint_made_right_after_a_stop_has_no_token_to_spare(n_asked: int) -> None:
    lab = LABS["sliding"]
    memory = RecordedMemory(lab.new_memory())
    manager, prompt = CacheManager(memory), long_chat(4, n_user=14).prompt()
    manager.begin(prompt, PolicySettings())
    list(manager.feed(After(n_asked)))
    n_stopped = len(manager.sequence)
    list(manager.feed())
    # Back to where it was stopped, and one token further; then on.
    for n_kept in (n_stopped, n_stopped - 1):
        manager.settle(Prompt(prompt.tokens[:n_kept], prompt.turns), PolicySettings())
    feed(manager, prompt, PolicySettings())
    lab.check(memory.inner, manager.sequence)

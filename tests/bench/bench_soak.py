"""200,000 tokens through 256 cells: memory and speed stay as they were, and the sequence stays true.

Run by hand: pytest tests/bench/bench_soak.py -s
"""

from __future__ import annotations

from time import process_time

import psutil
import pytest

from engine.api.messages import SpanState
from engine.api.settings import PolicySettings
from engine.cache.manager import AppendResult, CacheManager
from tests.engine.cache.chats import Chat, feed, text
from tests.native.contexts import ContextMaker, native_log, new_context
from tests.native.state_header import held_positions
from tests.tiny import TinySpec

__all__ = ["native_log", "new_context"]

pytestmark = pytest.mark.bench

N_TOKENS = 200_000
N_PARTS = 10
MEMORY_GROWTH_BYTES = 8 << 20
"""The ids of the tokens themselves take 0.8 MB, and 1.6 MB more while some of them are read again."""

SPECS = {
    "renumbered by shifts": TinySpec(n_layer=1, n_ctx_train=4096),
    "renumbered by reading again": TinySpec(arch="qwen2vl", n_layer=1, n_ctx_train=4096),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_long_answer(name, new_context: ContextMaker, capsys):
    context = new_context(SPECS[name])
    manager = CacheManager(context)
    feed(manager, Chat().say("user", text(1, 40)).prompt(), PolicySettings())
    n_fed = len(manager.sequence)
    process = psutil.Process()
    speeds, sizes, highest = [], [], 0
    for part in range(N_PARTS):
        started = process_time()
        for index in range(part * N_TOKENS // N_PARTS, (part + 1) * N_TOKENS // N_PARTS):
            assert manager.append(10 + index * index % 241) is AppendResult.CACHED
            highest = max(highest, manager.sequence.next_position)
        speeds.append(N_TOKENS / N_PARTS / (process_time() - started))
        sizes.append(process.memory_info().rss)
    sequence = manager.sequence
    with capsys.disabled():
        print(f"\n{name}: {N_TOKENS} tokens, {manager.counts.n_renumbered} renumberings, highest position {highest}")
        print(
            f"tokens per second of processor time, by tenths: {', '.join(f'{speed:.0f}' for speed in speeds)};"
            f" last/second {speeds[-1] / speeds[1]:.2f}"
        )
        print(f"memory after the first tenth {sizes[0] / 2**20:.1f} MiB, at the end {sizes[-1] / 2**20:.1f} MiB")
    assert len(sequence) == n_fed + N_TOKENS
    assert sequence.n_cached + sequence.count(SpanState.EVICTED) == len(sequence)
    assert 50 <= manager.counts.n_renumbered <= 120
    assert highest < SPECS[name].n_ctx_train
    assert sizes[-1] - sizes[0] < MEMORY_GROWTH_BYTES
    assert held_positions(context, has_mrope=SPECS[name].arch == "qwen2vl") == [
        position for run in sequence.cached_runs() for position in range(run.first_position or 0, run.end_position)
    ]

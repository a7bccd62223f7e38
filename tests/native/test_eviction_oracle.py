"""Evictions against an oracle: in a model of one layer, what a token has seen changes nothing in its K and V.

So after an eviction such a model must answer as if it had only ever read what was kept, at the same positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.api.settings import CacheType, Policy, PolicySettings
from engine.cache.manager import CacheManager
from engine.native.context import NativeContext
from tests.engine.cache.chats import Chat, answer, feed, text
from tests.native.contexts import ContextMaker, native_log, new_context
from tests.tiny import TinySpec

__all__ = ["native_log", "new_context"]

SPECS = {
    "gqa": TinySpec(n_layer=1, weight_scale=0.3, n_ctx_train=4096),
    "m-rope": TinySpec(arch="qwen2vl", n_layer=1, weight_scale=0.3, n_ctx_train=4096),
    "mla": TinySpec(arch="deepseek2", n_layer=1, weight_scale=0.3, n_ctx_train=4096),
    "learned positions": TinySpec(arch="gpt2", n_layer=1, n_head_kv=4, weight_scale=0.3, n_ctx_train=4096),
}
NEXT = 77


def decode(context: NativeContext, tokens: Sequence[int], position: int) -> None:
    for index in range(0, len(tokens), context.n_batch):
        context.decode(tokens[index : index + context.n_batch], position + index)


Kept = list[tuple[int, list[int]]]
"""First positions, and the tokens there and after."""


def kept_by(manager: CacheManager) -> Kept:
    sequence = manager.sequence
    return [(run.first_position or 0, sequence.tokens(run.start, run.end)) for run in sequence.cached_runs()]


def evaluate(context: NativeContext, kept: Kept) -> np.ndarray:
    """Logits after nothing but what is kept, each token at its position, and then `NEXT`.

    llama.cpp takes no gap between positions, so other tokens fill it until the first one behind it is there.
    """
    for first, tokens in kept:
        filled = context.last_position() + 1
        if first > filled:
            decode(context, [3 + i % 50 for i in range(first - filled)], filled)
        decode(context, tokens[:1], first)
        if first > filled:
            context.remove(filled, first)
        decode(context, tokens[1:], first + 1)
    decode(context, [NEXT], context.last_position() + 1)
    return context.logits()


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest, in standard deviations of the logits."""
    return float(np.abs(one - other).max() / other.std())


def evicted(context: NativeContext, n_tokens: int = 500) -> CacheManager:
    manager = CacheManager(context)
    feed(manager, Chat().say("user", text(1, 40)).prompt(), PolicySettings(policy=Policy.SINKS))
    answer(manager, [10 + (i * i) % 239 for i in range(n_tokens)])
    assert len(kept_by(manager)) == 2
    assert manager.n_free
    return manager


@pytest.mark.parametrize("name", SPECS)
def test_after_evictions_a_model_knows_just_what_was_kept(name: str, new_context: ContextMaker):
    context = new_context(SPECS[name])
    manager = evicted(context)
    kept = kept_by(manager)
    manager.append(NEXT)
    oracle = evaluate(new_context(SPECS[name], n_ctx=4096), kept)
    assert difference(context.logits(), oracle) < 0.01


@pytest.mark.parametrize("name", SPECS)
def test_after_a_renumbering_a_model_knows_what_was_kept_at_low_positions(name: str, new_context: ContextMaker):
    context = new_context(SPECS[name])
    manager = evicted(context)
    before = manager.sequence.next_position
    assert manager.renumber()
    assert manager.sequence.next_position == manager.sequence.n_cached < before
    kept = kept_by(manager)
    manager.append(NEXT)
    oracle = evaluate(new_context(SPECS[name], n_ctx=4096), kept)
    assert difference(context.logits(), oracle) < 0.02


@pytest.mark.parametrize("type_k", [CacheType.F32, CacheType.F16, CacheType.Q8_0])
def test_a_shift_is_as_good_as_reading_again(type_k: CacheType, new_context: ContextMaker):
    spec = TinySpec(n_layer=1, weight_scale=0.3, n_ctx_train=4096, head_size=64)
    context = new_context(spec, type_k=type_k)
    manager = evicted(context)
    assert context.traits.can_shift
    manager.renumber()
    kept = kept_by(manager)
    manager.append(NEXT)
    oracle = evaluate(new_context(spec, n_ctx=4096, type_k=type_k), kept)
    assert difference(context.logits(), oracle) < (0.2 if type_k is CacheType.Q8_0 else 0.02)


def test_a_shift_that_is_forgotten_is_seen_by_the_oracle(new_context: ContextMaker):
    spec = SPECS["gqa"]
    context = new_context(spec)
    manager = evicted(context)
    manager.renumber()
    # Old K with new positions: what llama.cpp gives away between a shift and the decode that carries it out.
    assert context.restore(context.snapshot())
    kept = kept_by(manager)
    manager.append(NEXT)
    oracle = evaluate(new_context(spec, n_ctx=4096), kept)
    assert difference(context.logits(), oracle) > 0.5

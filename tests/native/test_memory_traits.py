"""What each kind of context can do, and that what llama.cpp says it can't survive never happens."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

import llama_cpp.llama_cpp as llama
import numpy as np
import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.api.settings import CacheType, Policy, PolicySettings
from engine.cache.manager import AppendResult, CacheManager
from engine.cache.memory import DecodeStatus, MemoryKind
from engine.native import context as native_context
from engine.native.context import set_fields
from tests.engine.cache.chats import Chat, feed, text
from tests.native.contexts import ContextMaker, native_log, new_context
from tests.native.state_header import held_positions, window_positions
from tests.tiny import TinySpec

__all__ = ["native_log", "new_context"]


@dataclass(frozen=True)
class Case:
    spec: TinySpec
    kind: MemoryKind
    can_shift: bool
    settings: dict[str, object] = field(default_factory=dict)
    n_positions: int = 512


Q8 = {"type_k": CacheType.Q8_0}
CASES = {
    "f16": Case(TinySpec(), MemoryKind.ATTENTION, can_shift=True),
    "bf16": Case(TinySpec(), MemoryKind.ATTENTION, can_shift=False, settings={"type_k": CacheType.BF16}),
    "q8_0, head size 64": Case(TinySpec(head_size=64), MemoryKind.ATTENTION, can_shift=True, settings=Q8),
    "q8_0, head size 96": Case(TinySpec(head_size=96), MemoryKind.ATTENTION, can_shift=False, settings=Q8),
    "mla": Case(TinySpec(arch="deepseek2"), MemoryKind.ATTENTION, can_shift=True),
    "mla, q8_0": Case(
        TinySpec(arch="deepseek2"),
        MemoryKind.ATTENTION,
        can_shift=False,
        settings={"type_k": CacheType.Q8_0, "type_v": CacheType.Q8_0},
    ),
    "m-rope": Case(TinySpec(arch="qwen2vl"), MemoryKind.ATTENTION, can_shift=False),
    "learned positions": Case(TinySpec(arch="gpt2", n_head_kv=4), MemoryKind.ATTENTION, can_shift=False),
    "window": Case(TinySpec(arch="gemma3", n_layer=6), MemoryKind.SLIDING, can_shift=False),
    "whole windows": Case(
        TinySpec(arch="gemma3", n_layer=6), MemoryKind.ATTENTION, can_shift=True, settings={"swa_full": True}
    ),
    "nothing but whole windows": Case(
        TinySpec(arch="gemma3", n_layer=2), MemoryKind.ATTENTION, can_shift=False, settings={"swa_full": True}
    ),
    "whole chunks": Case(
        # Without experts in any layer; its chunks have 8,192 tokens, whatever the file says.
        TinySpec(
            arch="llama4",
            n_layer=4,
            extra=(
                ("llama4.interleave_moe_layer_step", 0),
                ("llama4.expert_count", 1),
                ("llama4.expert_used_count", 1),
                ("llama4.expert_feed_forward_length", 64),
            ),
        ),
        MemoryKind.ATTENTION,
        can_shift=False,
        settings={"swa_full": True},
    ),
    "recurrent": Case(TinySpec(arch="mamba"), MemoryKind.RECURRENT, can_shift=False),
    "hybrid": Case(TinySpec(arch="lfm2", n_layer=3, n_head_kv=(0, 2, 0)), MemoryKind.HYBRID, can_shift=False),
    "stretched": Case(
        TinySpec(), MemoryKind.ATTENTION, can_shift=True, settings={"rope_freq_scale": 0.5}, n_positions=1024
    ),
    "beyond training": Case(TinySpec(n_ctx_train=128), MemoryKind.ATTENTION, can_shift=True, n_positions=256),
    "table of positions": Case(
        TinySpec(arch="gpt2", n_head_kv=4, n_ctx_train=128), MemoryKind.ATTENTION, can_shift=False, n_positions=128
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_traits(case: Case, new_context: ContextMaker):
    traits = new_context(case.spec, **case.settings).traits
    assert (traits.kind, traits.can_shift, traits.n_positions) == (case.kind, case.can_shift, case.n_positions)
    assert traits.n_cells == 256
    assert (traits.n_swa > 0) is (case.spec.arch in ("gemma3", "llama4"))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.can_shift])
def test_a_shift_that_would_end_the_process_is_refused(name: str, new_context: ContextMaker):
    context = new_context(CASES[name].spec, **CASES[name].settings)
    context.decode([5, 6, 7], 0)
    with pytest.raises(EngineError) as refused:
        context.shift(1, 3, -1)
    assert refused.value.code is ErrorCode.CACHE_INCONSISTENT
    assert context.last_position() == 2


@pytest.mark.parametrize(
    "name",
    [
        "q8_0, head size 64",
        "q8_0, head size 96",
        "bf16",
        "mla, q8_0",
        "m-rope",
        "window",
        "whole windows",
        "table of positions",
    ],
)
def test_two_thousand_tokens_in_256_cells(name: str, new_context: ContextMaker):
    case = CASES[name]
    context = new_context(case.spec, **case.settings)
    manager = CacheManager(context)
    feed(manager, Chat().say("user", text(1, 20)).prompt(), PolicySettings())
    for index in range(2000):
        assert manager.append(10 + index * index % 241) is AppendResult.CACHED
        assert manager.sequence.next_position <= case.n_positions
    assert manager.counts.n_renumbered > 1
    assert np.isfinite(context.logits()).all()
    held = held_positions(context, has_mrope=case.spec.arch == "qwen2vl")
    assert held[-1] == context.last_position() == manager.sequence.next_position - 1
    assert len(held) == manager.sequence.n_cached


def test_a_decode_that_carries_out_a_shift_is_not_asked_to_stop(
    new_context: ContextMaker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(native_context, "INTERRUPT_PERIOD_S", 0.0)
    context = new_context(TinySpec())
    context.decode(list(range(10, 30)), 0)
    context.remove(4, 10)
    context.shift(10, 20, -6)
    assert context.decode([50, 51], 14, interrupt=lambda: True).status is DecodeStatus.DONE
    assert context.decode([50, 51], 16, interrupt=lambda: True).status is DecodeStatus.INTERRUPTED


def test_more_than_there_are_cells_for_changes_nothing(new_context: ContextMaker):
    context = new_context(TinySpec())
    for position in range(0, 256, 64):
        context.decode(list(range(10, 74)), position)
    assert context.decode([50], 256).status is DecodeStatus.NO_ROOM
    assert held_positions(context) == list(range(256))


def test_a_model_that_can_not_evict_refuses_the_policy_before_anything_changes(new_context: ContextMaker):
    manager = CacheManager(new_context(TinySpec(arch="mamba")))
    with pytest.raises(EngineError) as refused:
        manager.begin(Chat().say("user", text(1, 5)).prompt(), PolicySettings(policy=Policy.SINKS))
    assert refused.value.code is ErrorCode.SETTING_INVALID


def test_a_field_that_llama_cpp_does_not_have_is_refused():
    with pytest.raises(AttributeError, match="use_mmap"):
        set_fields(llama.llama_model_default_params(), use_mmap=False)


def test_the_fields_of_a_batch_that_are_filled_exist():
    known = {name for name, _type in llama.llama_batch._fields_}
    assert known >= {"n_tokens", "token", "pos", "n_seq_id", "seq_id", "logits"}
    assert issubclass(llama.llama_batch, ctypes.Structure)


@pytest.mark.parametrize("swa_full", [False, True])
def test_a_state_holds_the_last_tokens_of_window_layers_and_no_more(swa_full: bool, new_context: ContextMaker):
    context = new_context(CASES["window"].spec, swa_full=swa_full)
    n_tokens, n_swa = 200, context.traits.n_swa
    for position in range(0, n_tokens, 50):
        context.decode([10 + position + i for i in range(50)], position)
    whole = context.snapshot()
    assert held_positions(context) == list(range(n_tokens))
    # One token more than the next one sees: a cut of one token finds all that it needs.
    last = list(range(n_tokens - n_swa, n_tokens))
    assert window_positions(context) == last
    context.clear()
    assert context.restore(whole)
    context.remove(n_tokens - 1, None)
    assert window_positions(context) == last[:-1]

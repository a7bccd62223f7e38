"""Which values a model can't be used with, each with a reason that names the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.api.settings import CacheType, FlashAttention, LoadSettings
from engine.cache.memory import MemoryKind
from engine.models.gguf import read_model_info
from engine.plan.refusals import refusals
from tests.tiny import TinySpec, write_tiny_model


def refused(tmp_path: Path, spec: TinySpec, settings: LoadSettings, kind: MemoryKind) -> dict[str, set[str]]:
    info = read_model_info(write_tiny_model(tmp_path / "tiny.gguf", spec))
    found: dict[str, set[str]] = {}
    for refusal in refusals(info, settings, kind):
        assert refusal.message.endswith(".")
        found.setdefault(refusal.setting, set()).add(refusal.value)
    return found


def test_a_plain_model_takes_everything(tmp_path: Path) -> None:
    assert refused(tmp_path, TinySpec(), LoadSettings(), MemoryKind.ATTENTION) == {}


def test_quantized_v_and_flash_attention_off_exclude_each_other(tmp_path: Path) -> None:
    quantized = {kind for kind in CacheType if kind.is_quantized}
    off = LoadSettings(flash_attn=FlashAttention.OFF)
    assert refused(tmp_path, TinySpec(), off, MemoryKind.ATTENTION) == {"type_v": quantized}
    q8_v = LoadSettings(type_v=CacheType.Q8_0)
    assert refused(tmp_path, TinySpec(), q8_v, MemoryKind.ATTENTION) == {"flash_attn": {"off"}}


def test_heads_that_blocks_do_not_divide_take_no_quantized_type(tmp_path: Path) -> None:
    quantized = {kind for kind in CacheType if kind.is_quantized}
    found = refused(tmp_path, TinySpec(head_size=80), LoadSettings(), MemoryKind.ATTENTION)
    assert found == {"type_k": quantized, "type_v": quantized}


def test_a_type_for_both_is_possible_where_they_must_be_equal(tmp_path: Path) -> None:
    found = refused(tmp_path, TinySpec(arch="deepseek2"), LoadSettings(), MemoryKind.ATTENTION)
    assert CacheType.BF16 not in found.get("type_k", set())


@pytest.mark.parametrize("kind", [MemoryKind.RECURRENT, MemoryKind.HYBRID])
def test_a_state_gives_no_tokens_up(tmp_path: Path, kind: MemoryKind) -> None:
    assert refused(tmp_path, TinySpec(), LoadSettings(), kind) == {"policy": {"window", "sinks"}}

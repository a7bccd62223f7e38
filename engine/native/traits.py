"""The capabilities of a context's memory: llama.cpp's own report, corrected for known bugs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import llama_cpp.llama_cpp as llama

from engine.api.settings import CacheType, LoadSettings
from engine.cache.memory import MemoryKind, MemoryTraits
from engine.native.report import KvCache

if TYPE_CHECKING:
    from engine.native.model import NativeModel

ROPE_TYPE_NONE = -1
ROPE_TYPES_SHIFTABLE = (0, 2)
"""NORM and NEOX: with any other rope a K-shift is refused, skipped in silence, or not defined."""
CHUNKED_WINDOWS = frozenset({"llama4"})
"""Architectures whose window layers see the tokens since the last multiple of the window's size.

New positions move that border: tokens behind it, whose cells may have been used again, would be seen.
"""
ROTATION_STEP = 64
"""A quantized K is stored rotated only if its head size is a multiple of this."""


def memory_traits(model: NativeModel, context: Any, settings: LoadSettings, caches: Sequence[KvCache]) -> MemoryTraits:
    """The traits of a ``llama_context *`` that was made from ``model`` with ``settings`` and has ``caches``."""
    kind, n_swa = model.memory_kind_without_swa, int(llama.llama_model_n_swa(model.pointer))
    if kind is MemoryKind.ATTENTION and n_swa and not settings.swa_full:
        kind = MemoryKind.SLIDING
    rope_type = int(llama.llama_model_rope_type(model.pointer))
    return MemoryTraits(
        kind=kind,
        n_cells=int(llama.llama_n_ctx(context)),
        n_swa=n_swa,
        can_shift=bool(llama.llama_memory_can_shift(llama.llama_get_memory(context)))
        and kind is MemoryKind.ATTENTION
        and rope_type in ROPE_TYPES_SHIFTABLE
        and _can_shift_type(model, settings)
        and not (n_swa and model.metadata("general.architecture") in CHUNKED_WINDOWS)
        # One of the two caches of a model with windows can be empty, and llama.cpp aborts on a shift without layers.
        and all(cache.layers for cache in caches),
        n_positions=_n_positions(model, rope_type, int(llama.llama_n_ctx(context)), settings),
    )


def _can_shift_type(model: NativeModel, settings: LoadSettings) -> bool:
    """Whether a K-shift keeps K correct.

    WORKAROUND https://github.com/ggml-org/llama.cpp/pull/25636: a quantized K crashes if the head size is not a
    multiple of 64, and bf16 aborts; partially rotated heads, or layers with different heads, would be corrupted. On a
    GPU (seen with Vulkan, in 4 of 9 runs) the shift of a quantized K writes where it should not, and the process dies
    a few tokens later. Remove when llama_memory_can_shift reports this itself.
    """
    if settings.type_k in (CacheType.F16, CacheType.F32):
        return True
    if settings.offload_kqv and model.n_layer_gpu:
        return False
    keys = f"{model.metadata('general.architecture')}."
    n_head = max(1, int(llama.llama_model_n_head(model.pointer)))
    head_size = int(model.metadata(keys + "attention.key_length") or llama.llama_model_n_embd(model.pointer) // n_head)
    alike = ("attention.key_length_swa", "rope.dimension_count", "rope.dimension_count_swa")
    return (
        settings.type_k.is_quantized
        and head_size % ROTATION_STEP == 0
        and all(int(model.metadata(keys + name) or head_size) == head_size for name in alike)
        and model.metadata(keys + "attention.kv_lora_rank") is None
    )


def _n_positions(model: NativeModel, rope_type: int, n_ctx: int, settings: LoadSettings) -> int:
    """The number of usable positions: the trained ones times RoPE scaling.

    A context beyond the trained length is allowed; only a table of learned position embeddings has a hard limit.
    """
    n_trained = model.n_ctx_train
    if rope_type == ROPE_TYPE_NONE and model.memory_kind_without_swa is MemoryKind.ATTENTION:
        return n_trained
    return max(model.rope.reach(n_trained, settings), n_ctx)

"""Warnings about a possible load: what will be slow, large, or of lower quality."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.api.messages import Device, DeviceMemory, Notice
from engine.api.plan import PlanWarning, PlanWarningCode
from engine.api.sentences import Bytes, say
from engine.api.settings import CacheType, FlashAttention, LoadSettings
from engine.models.gguf import ModelInfo
from engine.native.report import ContextReport

_CUDA_LIKE = frozenset({"CUDA", "ROCm", "MUSA"})
"""Back ends built from ggml's CUDA code."""
_METAL = frozenset({"MTL", "Metal"})
_METAL_TYPES = frozenset(CacheType) - {CacheType.IQ4_NL, CacheType.BF16}


def of_notices(notices: Sequence[Notice]) -> tuple[PlanWarning, ...]:
    """Notices of adjusted settings as warnings."""
    return tuple(PlanWarning(PlanWarningCode.SETTING_ADJUSTED, notice.sentence) for notice in notices)


def of_plan(
    info: ModelInfo,
    settings: LoadSettings,
    report: ContextReport,
    memory: Sequence[tuple[Device, DeviceMemory]],
    flash_attention_pairs: Callable[[str], frozenset[str] | None],
    flash_compute_bytes: int | None = None,
) -> tuple[PlanWarning, ...]:
    """All warnings of one plan.

    ``flash_attention_pairs(backend)`` returns the type pairs with fast kernels; ``flash_compute_bytes``: the compute
    buffers' bytes with flash attention, None if it is impossible.
    """
    found = []
    has_cells = any(layer.has_cells for layer in info.layers)
    if has_cells and report.flash_attn:
        for device, used in memory:
            if used.kv_bytes and not has_fast_kernels(device, settings, flash_attention_pairs):
                found.append(_slow_types(device, settings))
    compute_bytes = sum(used.compute_bytes for _, used in memory)
    if has_cells and not report.flash_attn and (flash_compute_bytes or 0) < compute_bytes:
        found.append(_compute_grows(report, compute_bytes))
    if has_cells and settings.type_v.is_quantized and settings.flash_attn is FlashAttention.AUTO:
        found.append(
            PlanWarning(
                PlanWarningCode.FLASH_ATTENTION_FORCED,
                say("V in {0} needs flash attention, so it is on, whether it is fast here or not.", settings.type_v),
            )
        )
    if is_beyond_trained(info, settings):
        found.append(_beyond_trained(info))
    return tuple(found)


def has_fast_kernels(
    device: Device, settings: LoadSettings, flash_attention_pairs: Callable[[str], frozenset[str] | None]
) -> bool:
    """Whether the device has a fast flash attention kernel for this pair of types.

    Source: the supported types in fattn.cu, ggml-vulkan.cpp and ggml-metal-device.m.
    """
    k, v = settings.type_k, settings.type_v
    if device.backend in _CUDA_LIKE:
        pairs = flash_attention_pairs(device.backend)
        return pairs is None or "all" in pairs or f"{k}-{v}" in pairs
    if device.backend == "Vulkan":
        return (k is CacheType.BF16) == (v is CacheType.BF16)
    if device.backend in _METAL:
        return k is v and k in _METAL_TYPES
    return True


def is_beyond_trained(info: ModelInfo, settings: LoadSettings) -> bool:
    """Whether the context is longer than the trained length times the settings' RoPE stretch."""
    return (settings.n_ctx or 0) > info.n_ctx_reach(settings) > 0 and not info.is_recurrent


def _slow_types(device: Device, settings: LoadSettings) -> PlanWarning:
    return PlanWarning(
        PlanWarningCode.SLOW_CACHE_TYPES,
        say(
            "{0} has no fast kernels for K in {1} with V in {2}: every token will be slower. f16 for both, "
            "or q8_0 for both, is fast.",
            device.name,
            settings.type_k,
            settings.type_v,
        ),
    )


def _compute_grows(report: ContextReport, compute_bytes: int) -> PlanWarning:
    size = Bytes(compute_bytes)
    if report.device_mismatch:
        sentence = say(
            "Flash attention isn't possible here; without it the compute buffers grow with the context "
            "window: they take {0}.",
            size,
        )
    else:
        sentence = say("Without flash attention the compute buffers grow with the context window: they take {0}.", size)
    return PlanWarning(PlanWarningCode.COMPUTE_GROWS, sentence)


def _beyond_trained(info: ModelInfo) -> PlanWarning:
    return PlanWarning(
        PlanWarningCode.BEYOND_TRAINED_LENGTH,
        say(
            "This model was trained on texts of {0} tokens: beyond them its answers fall apart. A smaller "
            "context window, or RoPE scaling (yarn and a frequency scale), helps.",
            info.n_ctx_train,
        ),
    )

"""A quick, rough estimate of a load's memory from the header alone, to separate clear cases from close ones."""

from __future__ import annotations

from engine.api.settings import LoadSettings
from engine.models import geometry
from engine.models.gguf import ModelInfo

COMPUTE_SHARE = 10
"""A tenth more for compute and output buffers."""


def rough_bytes(info: ModelInfo, settings: LoadSettings) -> int:
    """Weights, K and V, and an allowance for compute; without K and V if a type can't hold the model's heads."""
    kv = 0
    if geometry.can_hold_heads(info, settings.type_k, settings.type_v) and settings.n_ctx_or(info.n_ctx_train) > 0:
        kv = geometry.kv_bytes(info, geometry.CacheShape.of(info, settings)).total
    together = info.size_bytes + kv + geometry.recurrent_bytes(info)
    return together + together // COMPUTE_SHARE

"""The exact bytes of a model's cache, computed from its header.

Source: llama-kv-cache.cpp, llama-kv-cache-iswa.cpp and llama-memory-recurrent.cpp, for one sequence.
"""

from __future__ import annotations

import dataclasses

from engine.api.settings import CacheType, LoadSettings
from engine.models import ggml
from engine.models.gguf import ModelInfo
from engine.models.layers import LayerShape

CELL_STEP = 256
"""llama.cpp rounds cells up to a multiple of this."""

STATE_BYTES = 4
_TYPES = {CacheType(kind.name): kind for kind in ggml.TYPES.values() if kind.name in set(CacheType)}


@dataclasses.dataclass(frozen=True)
class CacheShape:
    """The settings that a cache's size depends on."""

    n_ctx: int
    type_k: CacheType = CacheType.F16
    type_v: CacheType = CacheType.F16
    swa_full: bool = False
    flash_attn: bool = True
    n_ubatch: int = 512

    @classmethod
    def of(cls, info: ModelInfo, settings: LoadSettings) -> CacheShape:
        """The shape of a load with these settings and flash attention."""
        n_ctx = settings.n_ctx_or(info.n_ctx_train)
        return cls(n_ctx, settings.type_k, settings.type_v, settings.swa_full, n_ubatch=settings.n_ubatch)


@dataclasses.dataclass(frozen=True)
class KvBytes:
    """Bytes of K and of V."""

    k: int
    v: int

    @property
    def total(self) -> int:
        return self.k + self.v


def bytes_per_row(cache_type: CacheType, n_elements: int) -> int:
    """Bytes of `n_elements` in one cell of one layer; ValueError if the type's blocks don't divide them."""
    return _TYPES[cache_type].row_bytes(n_elements)


def block_size(cache_type: CacheType) -> int:
    """Elements that the type packs together; a head must be a whole number of them."""
    return _TYPES[cache_type].block_size


def can_hold_heads(info: ModelInfo, type_k: CacheType, type_v: CacheType) -> bool:
    """Whether the types' blocks divide every head of the model; llama.cpp refuses the pair otherwise."""
    return all(
        _TYPES[type_k].can_hold_row(layer.head_size_k) and _TYPES[type_v].can_hold_row(layer.head_size_v)
        for layer in info.layers
    )


def n_cells(n_ctx: int) -> int:
    """The number of cells that llama.cpp allocates for a context of `n_ctx` tokens."""
    if n_ctx <= 0:
        raise ValueError(f"a context of {n_ctx} tokens has no cells")
    return -(-n_ctx // CELL_STEP) * CELL_STEP


def n_window_cells(n_ctx: int, n_swa: int, n_ubatch: int) -> int:
    """Cells of a layer with a sliding window of `n_swa` tokens, without `swa_full`."""
    return n_cells(min(n_cells(n_ctx), n_swa + n_ubatch))


def row_v(info: ModelInfo, layer: LayerShape, flash_attn: bool) -> int:
    """Elements of V in one cell of this layer."""
    # Without flash attention V is stored transposed, and llama.cpp pads all layers to the widest layer's rows.
    return layer.row_v if flash_attn or info.is_mla else info.widest_row_v


def layer_cells(info: ModelInfo, layer: LayerShape, shape: CacheShape) -> int:
    """Cells of one layer; 0 if it stores no K and V."""
    if not layer.has_cells:
        return 0
    if layer.is_window and not shape.swa_full:
        return n_window_cells(shape.n_ctx, info.n_swa, shape.n_ubatch)
    return n_cells(shape.n_ctx)


def kv_bytes(info: ModelInfo, shape: CacheShape) -> KvBytes:
    """Bytes of K and V in all layers; ValueError where a type cannot hold a row."""
    k = v = 0
    for layer in info.layers:
        cells = layer_cells(info, layer, shape)
        k += cells * bytes_per_row(shape.type_k, layer.row_k)
        v += cells * bytes_per_row(shape.type_v, row_v(info, layer, shape.flash_attn))
    return KvBytes(k, v)


def kv_bytes_per_token(info: ModelInfo, type_k: CacheType, type_v: CacheType) -> int:
    """Bytes that one more token takes in all layers that have cells, windows included while they fill."""
    return sum(layer_bytes_per_token(layer, type_k, type_v) for layer in info.layers)


def layer_bytes_per_token(layer: LayerShape, type_k: CacheType, type_v: CacheType) -> int:
    """Bytes that one token takes in this layer."""
    return bytes_per_row(type_k, layer.row_k) + bytes_per_row(type_v, layer.row_v)


def mha_bytes_per_token(info: ModelInfo, type_k: CacheType, type_v: CacheType) -> int:
    """Bytes that one token would take if every query head had its own K and V."""
    rows_k = sum(bytes_per_row(type_k, layer.mha_row_k) for layer in info.layers)
    return rows_k + sum(bytes_per_row(type_v, layer.mha_row_v) for layer in info.layers)


def shared_heads_saving(info: ModelInfo) -> float:
    """The share of the cache, from 0 to 1, that shared or compressed K and V save against MHA."""
    mha = sum(layer.mha_row_k + layer.mha_row_v for layer in info.layers)
    stored = sum(layer.row_k + layer.row_v for layer in info.layers)
    return 1 - stored / mha if mha else 0.0


def recurrent_bytes(info: ModelInfo) -> int:
    """Bytes of recurrent state of one sequence; it is the same for every context length and cache type."""
    return STATE_BYTES * sum(layer.state_size for layer in info.layers)

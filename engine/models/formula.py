"""The bytes of one token in a model's cache, as a formula for display."""

from __future__ import annotations

from collections import Counter

from engine.api.facts import KvFormula, KvTerm
from engine.api.settings import CacheType
from engine.models import geometry
from engine.models.geometry import CacheShape
from engine.models.gguf import ModelInfo
from engine.models.layers import LayerShape


def kv_formula(info: ModelInfo, shape: CacheShape) -> KvFormula:
    """The formula; equal layers are grouped into one term, and layers without cells are left out."""
    terms = Counter(_term(layer, geometry.layer_cells(info, layer, shape)) for layer in info.layers if layer.has_cells)
    f16 = CacheType.F16
    return KvFormula(
        attention=info.attention.value,
        terms=tuple(KvTerm(n_layer, *term) for term, n_layer in terms.items()),
        element_bytes_k=_element_bytes(shape.type_k),
        element_bytes_v=_element_bytes(shape.type_v),
        bytes_per_token=geometry.kv_bytes_per_token(info, shape.type_k, shape.type_v),
        f16_bytes_per_token=geometry.kv_bytes_per_token(info, f16, f16),
        mha_bytes_per_token=geometry.mha_bytes_per_token(info, shape.type_k, shape.type_v),
        mha_f16_bytes_per_token=geometry.mha_bytes_per_token(info, f16, f16),
    )


def _term(layer: LayerShape, n_cells: int) -> tuple[int, int, int, int]:
    """Heads, elements of K and of V per head, and cells. An MLA latent, shared by all heads, counts as one head."""
    n_head = layer.n_head_kv if layer.row_k == layer.n_head_kv * layer.head_size_k else 1
    return n_head, layer.row_k // max(1, n_head), layer.row_v // max(1, n_head), n_cells


def _element_bytes(cache_type: CacheType) -> float:
    n_elements = geometry.block_size(cache_type)
    return geometry.bytes_per_row(cache_type, n_elements) / n_elements

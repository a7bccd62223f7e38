"""The formula of the cache says the same as the geometry, for every kind of attention."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.api.settings import CacheType
from engine.models.formula import kv_formula
from engine.models.geometry import CacheShape, kv_bytes_per_token
from engine.models.gguf import read_model_info
from engine.models.starter import starter_path
from tests.tiny import TinySpec, write_tiny_model

SPECS = {
    "gqa": TinySpec(head_size=64),
    "mha": TinySpec(n_head_kv=4, head_size=64),
    "mqa": TinySpec(n_head_kv=1, head_size=64),
    "window": TinySpec(arch="gemma3", n_layer=4, head_size=64, swa_pattern=2),
    "mla": TinySpec(arch="deepseek2", head_size=64),
    "heads of each layer": TinySpec(arch="deci", n_head=(4, 4), n_head_kv=(2, 4), head_size=64),
    "hybrid": TinySpec(arch="lfm2", n_layer=3, n_head_kv=(0, 2, 0), head_size=64),
    "none": TinySpec(arch="mamba"),
}


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
@pytest.mark.parametrize("kind", [CacheType.F16, CacheType.Q8_0])
def test_the_terms_add_up_to_the_bytes_of_a_token(tmp_path: Path, spec: TinySpec, kind: CacheType) -> None:
    info = read_model_info(write_tiny_model(tmp_path / "tiny.gguf", spec))
    formula = kv_formula(info, CacheShape(1024, kind, kind))
    total = sum(
        term.n_layer
        * term.n_head
        * (term.head_size_k * formula.element_bytes_k + term.head_size_v * formula.element_bytes_v)
        for term in formula.terms
    )
    assert total == formula.bytes_per_token == kv_bytes_per_token(info, kind, kind)
    assert formula.attention == info.attention.value
    assert formula.bytes_per_token <= formula.mha_bytes_per_token <= formula.mha_f16_bytes_per_token


def test_the_starter_models_formula_is_one_a_person_can_check() -> None:
    formula = kv_formula(read_model_info(starter_path()), CacheShape(2048))
    (term,) = formula.terms
    assert (term.n_layer, term.n_head, term.head_size_k, term.head_size_v, term.n_cells) == (30, 3, 64, 64, 2048)
    assert formula.bytes_per_token == 2 * 30 * 3 * 64 * 2
    assert formula.mha_bytes_per_token == 3 * formula.bytes_per_token

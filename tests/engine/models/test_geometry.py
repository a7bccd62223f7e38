"""Bytes of the cache: known numbers, every kind of layer, and what must hold for any model."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.settings import CacheType
from engine.models import geometry
from engine.models.geometry import CacheShape, kv_bytes
from engine.models.gguf import ModelInfo, ModelKind, Positions, Rope, read_model_info
from engine.models.layers import LayerShape

MIB = 2**20
F16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1 = (
    CacheType.F16,
    CacheType.Q8_0,
    CacheType.Q4_0,
    CacheType.Q4_1,
    CacheType.Q5_0,
    CacheType.Q5_1,
)


def attention_layer(n_head: int, n_head_kv: int, size: int, *, is_window: bool = False) -> LayerShape:
    return LayerShape(
        n_head=n_head,
        n_head_kv=n_head_kv,
        head_size_k=size,
        head_size_v=size,
        is_window=is_window,
        is_recurrent=False,
        has_cells=True,
        row_k=n_head_kv * size,
        row_v=n_head_kv * size,
        mha_row_k=n_head * size,
        mha_row_v=n_head * size,
        state_size=0,
    )


def model(*layers: LayerShape, n_ctx_train: int = 8192, n_swa: int = 0) -> ModelInfo:
    return ModelInfo(
        files=(Path("model.gguf"),),
        kind=ModelKind.CHAT,
        architecture="llama",
        name="model",
        licence="",
        quantization="F16",
        size_bytes=0,
        n_params=0,
        n_embd=576,
        n_vocab=49152,
        n_ctx_train=n_ctx_train,
        layers=layers,
        n_swa=n_swa,
        is_mla=False,
        widest_row_v=max(layer.row_v for layer in layers),
        positions=Positions.ROPE,
        rope=Rope(10000.0, "none", 1.0, 0),
        tokenizer="gpt2",
        chat_template=None,
        bos_token_id=None,
        eos_token_id=None,
        is_architecture_known=True,
        is_geometry_exact=True,
    )


# SmolLM2 135M, whose sizes llama.cpp's own log gave.
SMOLLM2 = model(*[attention_layer(9, 3, 64)] * 30)


class TestKnownNumbers:
    @pytest.mark.parametrize(
        ("n_ctx", "type_k", "type_v", "mib"),
        [
            (2048, F16, F16, 45.00),
            (2048, Q8_0, Q8_0, 23.91),
            (2048, Q4_0, Q4_0, 12.66),
            (2048, Q8_0, Q4_0, 18.28),
            (2048, Q5_1, Q5_1, 16.88),
            (2048, Q4_1, Q5_0, 14.77),
            (2000, F16, F16, 45.00),
            (300, F16, F16, 11.25),
            (8192, F16, F16, 180.00),
        ],
    )
    def test_smollm2(self, n_ctx, type_k, type_v, mib):
        assert round(kv_bytes(SMOLLM2, CacheShape(n_ctx, type_k, type_v)).total / MIB, 2) == mib

    @pytest.mark.parametrize(
        ("cache_type", "n_bytes"),
        [
            ("f32", 128),
            ("f16", 64),
            ("bf16", 64),
            ("q8_0", 34),
            ("q5_1", 24),
            ("q5_0", 22),
            ("q4_1", 20),
            ("q4_0", 18),
            ("iq4_nl", 18),
        ],
    )
    def test_bytes_of_32_elements(self, cache_type, n_bytes):
        assert geometry.bytes_per_row(CacheType(cache_type), 32) == n_bytes

    def test_one_token_of_smollm2(self):
        assert geometry.kv_bytes_per_token(SMOLLM2, F16, F16) == 23_040
        assert geometry.mha_bytes_per_token(SMOLLM2, F16, F16) == 69_120
        assert geometry.shared_heads_saving(SMOLLM2) == pytest.approx(2 / 3)
        assert geometry.recurrent_bytes(SMOLLM2) == 0

    def test_k_and_v_apart(self):
        parts = kv_bytes(SMOLLM2, CacheShape(2048, Q8_0, Q4_0))
        assert (parts.k, parts.v) == (2048 * 30 * 204, 2048 * 30 * 108)


class TestCells:
    @pytest.mark.parametrize(("n_ctx", "cells"), [(1, 256), (256, 256), (257, 512), (300, 512), (2000, 2048)])
    def test_rounded_up_to_256(self, n_ctx, cells):
        assert geometry.n_cells(n_ctx) == cells

    @pytest.mark.parametrize("n_ctx", [0, -1])
    def test_no_context_has_no_cells(self, n_ctx):
        with pytest.raises(ValueError, match="no cells"):
            geometry.n_cells(n_ctx)

    @pytest.mark.parametrize(
        ("n_ctx", "n_ubatch", "cells"), [(8192, 512, 768), (8192, 64, 256), (300, 512, 512), (100, 512, 256)]
    )
    def test_of_a_window_of_64(self, n_ctx, n_ubatch, cells):
        assert geometry.n_window_cells(n_ctx, 64, n_ubatch) == cells

    def test_window_layers_have_fewer_unless_swa_full(self):
        info = model(attention_layer(4, 2, 32), attention_layer(4, 2, 32, is_window=True), n_swa=64)
        row = 2 * 64 * 2
        assert kv_bytes(info, CacheShape(4096)).total == row * (4096 + 768)
        assert kv_bytes(info, CacheShape(4096, swa_full=True)).total == row * (4096 + 4096)


class TestRows:
    def test_without_flash_attention_v_is_as_wide_as_the_widest_layer(self):
        info = model(attention_layer(4, 2, 32), attention_layer(4, 1, 32))
        flash = kv_bytes(info, CacheShape(256))
        plain = kv_bytes(info, CacheShape(256, flash_attn=False))
        assert plain.k == flash.k
        assert (flash.v, plain.v) == (256 * (64 + 32) * 2, 256 * (64 + 64) * 2)

    def test_a_block_that_does_not_divide_a_row_is_refused(self):
        odd = model(attention_layer(1, 1, 80))
        with pytest.raises(ValueError, match="80 elements"):
            kv_bytes(odd, CacheShape(256, Q8_0, Q8_0))

    @pytest.mark.parametrize(("size", "can"), [(64, True), (80, False), (96, True)])
    def test_heads_and_blocks(self, size, can):
        # 2 heads of 80 are 5 whole blocks of 32, but llama.cpp asks every single head.
        info = model(attention_layer(4, 2, size))
        assert geometry.can_hold_heads(info, Q8_0, F16) is can
        assert geometry.can_hold_heads(info, F16, Q8_0) is can
        assert geometry.can_hold_heads(info, F16, F16)


class TestRealHeaders:
    def test_mla_keeps_no_v(self, tiny_model):
        info = read_model_info(tiny_model(arch="deepseek2"))
        for flash_attn in (True, False):
            parts = kv_bytes(info, CacheShape(256, flash_attn=flash_attn))
            assert (parts.k, parts.v) == (2 * 256 * (64 + 32) * 2, 0)
        # Against 4 heads of 64 for K and 32 for V.
        assert geometry.shared_heads_saving(info) == pytest.approx(1 - 96 / (4 * (64 + 32)))

    def test_recurrent_state_does_not_grow(self, tiny_model):
        info = read_model_info(tiny_model(arch="mamba"))
        assert kv_bytes(info, CacheShape(4096)).total == 0
        assert geometry.recurrent_bytes(info) == 2 * (3 + 16) * 256 * 4

    def test_a_hybrid_pays_for_its_attention_layers(self, tiny_model):
        info = read_model_info(tiny_model(arch="lfm2", n_layer=3, n_head_kv=(0, 2, 0)))
        assert kv_bytes(info, CacheShape(256)).total == 256 * 2 * 64 * 2
        assert geometry.recurrent_bytes(info) == 2 * 2 * 128 * 4


layers = st.builds(
    attention_layer,
    n_head=st.sampled_from([8, 16, 32]),
    n_head_kv=st.sampled_from([1, 2, 4, 8]),
    size=st.sampled_from([32, 64, 96, 128]),
    is_window=st.booleans(),
)
models = st.builds(
    lambda chosen, n_swa: model(*chosen, n_swa=n_swa), st.lists(layers, min_size=1, max_size=6), st.integers(1, 5000)
)
types = st.sampled_from(CacheType)
lengths = st.integers(1, 200_000)


class TestForAnyModel:
    @given(models, lengths, lengths, types, types)
    def test_a_longer_context_never_costs_less(self, info, a, b, type_k, type_v):
        short, long = sorted((a, b))
        shape = CacheShape(short, type_k, type_v)
        assert kv_bytes(info, shape).total <= kv_bytes(info, dataclasses.replace(shape, n_ctx=long)).total

    @given(models, lengths, types, types)
    def test_windows_never_cost_more_than_full_layers(self, info, n_ctx, type_k, type_v):
        shape = CacheShape(n_ctx, type_k, type_v)
        full = kv_bytes(info, dataclasses.replace(shape, swa_full=True))
        assert kv_bytes(info, shape).total <= full.total
        assert full.total == geometry.n_cells(n_ctx) * geometry.kv_bytes_per_token(info, type_k, type_v)

    @given(models, types, types)
    def test_the_saving_is_what_mha_would_cost_more(self, info, type_k, type_v):
        saving = geometry.shared_heads_saving(info)
        mha = geometry.mha_bytes_per_token(info, type_k, type_k)
        assert 0 <= saving < 1
        assert geometry.kv_bytes_per_token(info, type_k, type_k) == pytest.approx(mha * (1 - saving))

    @given(models, lengths, types, types)
    def test_no_flash_attention_never_costs_less(self, info, n_ctx, type_k, type_v):
        shape = CacheShape(n_ctx, type_k, type_v)
        plain = kv_bytes(info, dataclasses.replace(shape, flash_attn=False))
        assert plain.k == kv_bytes(info, shape).k
        assert plain.v >= kv_bytes(info, shape).v

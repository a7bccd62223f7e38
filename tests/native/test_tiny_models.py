"""Every tiny model really loads and decodes, and the header alone says what llama.cpp then allocates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.api.settings import CacheType, FlashAttention, LoadSettings
from engine.models.geometry import CacheShape, can_hold_heads, kv_bytes, layer_cells, recurrent_bytes
from engine.models.gguf import ModelInfo, read_model_info
from engine.native.context import NativeContext
from engine.native.devices import Ggml
from engine.native.log import NativeLog
from engine.native.model import NativeModel
from engine.native.report import MIB, ContextReport, read_context
from tests.tiny import TinySpec, write_tiny_model

SPECS = {
    "mha": TinySpec(n_head_kv=4),
    "gqa": TinySpec(),
    "mqa": TinySpec(n_head_kv=1),
    "head size 80": TinySpec(head_size=80),
    "learned positions": TinySpec(arch="gpt2", n_head_kv=4),
    "m-rope": TinySpec(arch="qwen2vl"),
    "window": TinySpec(arch="gemma3", n_layer=6),
    "every other window": TinySpec(arch="gemma3", n_layer=4, swa_pattern=2),
    "recurrent": TinySpec(arch="mamba"),
    "hybrid": TinySpec(arch="lfm2", n_layer=3, n_head_kv=(0, 2, 0)),
    "hybrid with window": TinySpec(
        arch="lfm2", n_layer=3, n_head_kv=(0, 2, 0), extra=(("lfm2.attention.sliding_window", 64),)
    ),
    "mla": TinySpec(arch="deepseek2"),
    "wide v": TinySpec(arch="deepseek2", mla=False, head_size_v=96),
    "heads per layer": TinySpec(arch="deci", n_layer=4, n_head=(4, 2, 4, 0), n_head_kv=(2, 1, 0, 0)),
    "shards": TinySpec(max_tensors_per_shard=8),
}
F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, IQ4_NL = (
    CacheType.F16,
    CacheType.BF16,
    CacheType.Q8_0,
    CacheType.Q4_0,
    CacheType.Q4_1,
    CacheType.Q5_0,
    CacheType.IQ4_NL,
)
SHAPES = (
    CacheShape(300, n_ubatch=256),
    CacheShape(32_768),
    CacheShape(32_768, flash_attn=False),
    CacheShape(32_768, swa_full=True),
    CacheShape(32_768, n_ubatch=64),
    CacheShape(32_768, BF16, CacheType.F32, flash_attn=False),
    CacheShape(32_768, Q8_0, Q8_0),
    CacheShape(32_768, Q4_0, Q4_0),
    CacheShape(32_768, Q4_1, Q5_0),
    CacheShape(32_768, IQ4_NL, CacheType.Q5_1),
)


@pytest.fixture(scope="module")
def log() -> Iterator[NativeLog]:
    native_log = NativeLog(write_to=None)
    Ggml().load_backends()
    yield native_log
    native_log.close()


@dataclasses.dataclass(frozen=True)
class Loaded:
    model: NativeModel
    info: ModelInfo
    log: NativeLog

    def context(self, shape: CacheShape) -> NativeContext:
        settings = LoadSettings(
            n_ctx=shape.n_ctx,
            type_k=shape.type_k,
            type_v=shape.type_v,
            swa_full=shape.swa_full,
            flash_attn=FlashAttention.ON if shape.flash_attn else FlashAttention.OFF,
            n_ubatch=shape.n_ubatch,
            n_batch=512,
            n_threads=1,
        )
        return NativeContext(self.model, settings, self.log)

    def can_make(self, shape: CacheShape) -> bool:
        if self.info.is_mla and shape.type_k != shape.type_v:
            return False
        return can_hold_heads(self.info, shape.type_k, shape.type_v)


@pytest.fixture(scope="module", params=SPECS)
def loaded(
    request: pytest.FixtureRequest, log: NativeLog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Loaded]:
    folder: Path = tmp_path_factory.mktemp("native")
    path = write_tiny_model(folder / "model.gguf", SPECS[request.param])
    # Measured without allocating: what llama.cpp would take is in its log.
    model = NativeModel(path, LoadSettings(n_gpu_layers=0), log, no_alloc=True)
    yield Loaded(model, read_model_info(path), log)
    model.close()


def test_the_header_agrees_with_llama_cpp(loaded: Loaded) -> None:
    info, model = loaded.info, loaded.model
    assert (info.n_layer, info.n_params, info.n_ctx_train) == (model.n_layer, model.n_params, model.n_ctx_train)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.n_ctx} {shape.type_k} {shape.type_v}")
def test_the_cache_is_as_large_as_the_header_says(loaded: Loaded, shape: CacheShape) -> None:
    if not loaded.can_make(shape):
        with pytest.raises(EngineError) as caught:
            loaded.context(shape)
        assert caught.value.code is ErrorCode.CONTEXT_FAILED
        return
    context = loaded.context(shape)
    report: ContextReport = read_context(context.load_log)
    context.close()
    planned = kv_bytes(loaded.info, shape)
    # The log rounds to 0.01 MiB, which at 32,768 cells is a third of a byte per cell: rows are equal to the byte.
    rounding = 0.0051 * MIB * max(1, len(report.caches))
    assert abs(sum(cache.k_bytes for cache in report.caches) - planned.k) <= rounding
    assert abs(sum(cache.v_bytes for cache in report.caches) - planned.v) <= rounding
    cells = {layer: cache.n_cells for cache in report.caches for layer, _device in cache.layers}
    expected = [layer_cells(loaded.info, layer, shape) for layer in loaded.info.layers]
    assert [cells.get(index, 0) for index in range(loaded.info.n_layer)] == expected
    state_bytes = sum(state.n_bytes for state in report.recurrent)
    assert abs(state_bytes - recurrent_bytes(loaded.info)) <= 0.0051 * MIB


@pytest.mark.parametrize("name", SPECS)
def test_it_decodes(log: NativeLog, tmp_path: Path, name: str) -> None:
    path = write_tiny_model(tmp_path / "model.gguf", SPECS[name])
    model = NativeModel(path, LoadSettings(n_gpu_layers=0), log)
    context = Loaded(model, read_model_info(path), log).context(CacheShape(256))
    context.decode([1, 10, 20, 30], 0)
    logits = np.array(context.logits())
    context.decode([40], 4)
    after = np.array(context.logits())
    context.close()
    model.close()
    assert np.isfinite(logits).all()
    assert math.isfinite(float(after.sum()))
    assert logits.std() > 0.05, "random weights give no flat answer"
    assert not np.array_equal(logits, after)

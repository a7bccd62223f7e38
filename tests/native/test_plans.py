"""Planned memory is what llama.cpp then takes: KV to the byte, all together within 1 %, on every model and device.

The oracle is llama.cpp's own memory breakdown of the finished load.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.settings import CacheType, FlashAttention, GpuLayers, LoadSettings
from engine.models.starter import starter_path
from tests.native import plan_comparison
from tests.native.conftest import Call
from tests.native.plan_comparison import Comparison
from tests.tiny import TinySpec, write_tiny_model

# Without the file mapped, a buffer's size is what it holds; sizes of 768 cells are not what the log rounds them to.
SETTINGS = LoadSettings(n_ctx=768, n_threads=1, n_gpu_layers=GpuLayers.ALL, use_mmap=False)
Q8_0 = replace(SETTINGS, type_k=CacheType.Q8_0, type_v=CacheType.Q8_0)
MIXED = replace(SETTINGS, type_k=CacheType.Q8_0, type_v=CacheType.Q4_0, n_ctx=700)
NO_FLASH = replace(SETTINGS, flash_attn=FlashAttention.OFF)
WINDOW = TinySpec(arch="gemma3", n_layer=6)
PER_LAYER = TinySpec(arch="deci", n_layer=4, n_head=(4, 2, 4, 0), n_head_kv=(2, 1, 0, 0))
RECURRENT = TinySpec(arch="mamba")

CASES = {
    "mha": (TinySpec(n_head_kv=4), SETTINGS),
    "gqa": (TinySpec(), Q8_0),
    "gqa, unequal types": (TinySpec(), MIXED),
    "mqa": (TinySpec(n_head_kv=1), SETTINGS),
    "mqa without flash attention": (TinySpec(n_head_kv=1), NO_FLASH),
    "heads per layer": (PER_LAYER, Q8_0),
    "heads per layer, V padded": (PER_LAYER, NO_FLASH),
    "window": (WINDOW, SETTINGS),
    "window, small micro-batch": (WINDOW, replace(Q8_0, n_ubatch=64)),
    "full-size window": (WINDOW, replace(SETTINGS, swa_full=True)),
    "mla": (TinySpec(arch="deepseek2"), Q8_0),
    "recurrent": (RECURRENT, SETTINGS),
    "hybrid": (TinySpec(arch="lfm2", n_layer=3, n_head_kv=(0, 2, 0)), SETTINGS),
    "shards": (TinySpec(max_tensors_per_shard=8), SETTINGS),
    "repacked": (TinySpec(weight_type="q4_0"), SETTINGS),
    "some layers on the GPU": (TinySpec(n_layer=4), replace(SETTINGS, n_gpu_layers=2)),
    "KV in RAM": (TinySpec(), replace(SETTINGS, offload_kqv=False)),
}

LOG_BYTES = 0.011 * 2**20
"""The log rounds to 0.01 MiB; a plan's compute buffers are as exact."""
ALIGNMENT_BYTES = 128
"""A buffer may be longer by the alignment of its memory."""


def check(result: Comparison, *, is_placed: bool = True) -> None:
    """Every law of a plan, against what llama.cpp holds; `is_placed`: weights lie on the devices of their layers."""
    plan, held = result.plan, result.held
    for device in plan.devices:
        real = held[device.name]
        assert device.kv_bytes + device.recurrent_bytes == real.context, device.name
        assert abs(device.compute_bytes - real.compute) <= 2 * LOG_BYTES, device.name
        assert 0 <= real.weights - device.weights_bytes <= ALIGNMENT_BYTES or not is_placed, device.name
    assert abs(plan.weights_bytes - sum(real.weights for real in held.values())) <= ALIGNMENT_BYTES * len(held)
    total = sum(real.weights + real.context + real.compute for real in held.values()) + plan.output_bytes
    assert abs(plan.total_bytes - total) <= 0.01 * total
    assert sum(memory.kv_bytes for memory in result.reported) == plan.kv_bytes


@pytest.mark.parametrize("name", CASES)
def test_planned_memory_is_what_is_taken(name: str, call: Call, tmp_path: Path) -> None:
    spec, settings = CASES[name]
    path = write_tiny_model(tmp_path / "model.gguf", spec)
    result = call(plan_comparison.compare, path, settings)
    # A recurrent layer's state matrices stay in RAM where a GPU can't scan them.
    check(result, is_placed=spec is not RECURRENT)
    on_gpu = sum(device.kv_bytes + device.recurrent_bytes for device in result.plan.devices if device.name != "CPU")
    has_gpu = len(result.plan.devices) > 1
    assert bool(on_gpu) == (has_gpu and settings.offload_kqv)


@pytest.mark.parametrize(
    "spec", [TinySpec(), TinySpec(head_size=80), WINDOW, TinySpec(arch="deepseek2"), RECURRENT, PER_LAYER], ids=str
)
def test_what_passes_the_check_can_be_made(spec: TinySpec, call: Call, tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "model.gguf", spec)
    types = (CacheType.F16, CacheType.BF16, CacheType.Q8_0, CacheType.IQ4_NL)
    n_made, n_refused = call(plan_comparison.make_all, path, types)
    assert n_made + n_refused == len(types) ** 2 * len(FlashAttention)
    assert n_made
    assert n_refused


@pytest.mark.parametrize("use_mmap", [False, True])
def test_planned_memory_of_the_starter_model(use_mmap: bool, call: Call) -> None:
    result = call(plan_comparison.compare, starter_path(), replace(Q8_0, n_ctx=2048, use_mmap=use_mmap))
    check(result)
    assert result.plan.kv_bytes == 25_067_520
    # A quantized K is not shifted on a GPU.
    assert result.plan.can_shift == (len(result.plan.devices) == 1)
    assert result.plan.fits


def test_automatic_gpu_layers_are_the_most_that_fit(call: Call, tmp_path: Path) -> None:
    gpus = call(plan_comparison.gpu_names)
    path = write_tiny_model(tmp_path / "model.gguf", TinySpec(n_layer=16, n_head_kv=4))
    automatic = replace(SETTINGS, n_gpu_layers=GpuLayers.AUTO, n_batch=16, n_ubatch=16)
    n_layers, _ = call(plan_comparison.fit, path, automatic)
    assert n_layers == (17 if gpus else 0)
    if not gpus or not gpus[0].startswith("Vulkan"):
        return  # a worker on this machine has all of its RAM: too much to fill
    plan = call(plan_comparison.compare, path, automatic).plan
    free = next(device.free_bytes for device in plan.devices if device.name == gpus[0])
    bytes_per_cell_and_layer = 2 * 2 * 4 * 32
    n_ctx = free // bytes_per_cell_and_layer // 12  # 12 of 16 would, but for weights and margin
    n_layers, plans = call(plan_comparison.fit, path, replace(automatic, n_ctx=n_ctx))
    assert 6 <= n_layers <= 12
    fitting, larger, whole = (next(one for one in plan.devices if one.name == gpus[0]) for plan in plans)
    margin = min(1 << 30, fitting.total_bytes // 16)
    assert fitting.held_bytes + margin <= fitting.free_bytes < larger.held_bytes + margin
    assert fitting.fits
    assert not whole.fits
    assert not plans[-1].fits

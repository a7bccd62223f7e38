"""What is refused before a load, what is warned of, and where llama.cpp's words put every byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import Device, DeviceMemory
from engine.api.plan import DevicePlan, MemoryPlan, PlanWarningCode
from engine.api.settings import (
    N_CTX_MAX,
    CacheType,
    FlashAttention,
    LoadSettings,
    Policy,
    PolicySettings,
    RopeScaling,
)
from engine.models import ggml
from engine.models.geometry import n_cells
from engine.models.gguf import ModelInfo, read_model_info
from engine.models.header import TensorInfo
from engine.native import plan_warnings
from engine.native.placement import Placement, Weights, buffer_device, confirmed, memory, place, place_weights
from engine.native.report import Buffer, ContextReport, KvCache, LoadReport
from engine.plan.check import check_load, check_policy_of_model

MIB = 1 << 20
Q8_0, Q4_0, F16, BF16 = CacheType.Q8_0, CacheType.Q4_0, CacheType.F16, CacheType.BF16


@pytest.fixture(scope="module")
def infos(tiny_model: Callable[..., Path]) -> Callable[..., ModelInfo]:
    return lambda **fields: read_model_info(tiny_model(**fields))


def refusal(info: ModelInfo, **fields: object) -> str:
    """The sentence that settings are refused with."""
    with pytest.raises(EngineError) as caught:
        check_load(info, LoadSettings(**fields))  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.SETTING_INVALID
    return caught.value.message


# --- the check before the load ---


def test_a_type_whose_blocks_do_not_divide_the_head_is_refused(infos: Callable[..., ModelInfo]) -> None:
    info = infos(head_size=80)
    assert "K: its blocks of 32 don't divide the head size 80. Use f16" in refusal(info, type_k=Q8_0)
    assert "for V" in refusal(info, type_v=Q4_0)
    check_load(info, LoadSettings(type_k=BF16, type_v=BF16))


def test_a_quantized_v_needs_flash_attention(infos: Callable[..., ModelInfo]) -> None:
    info = infos()
    assert "set flash attention to auto or on" in refusal(info, type_v=Q8_0, flash_attn=FlashAttention.OFF)
    for flash_attn in (FlashAttention.AUTO, FlashAttention.ON):
        check_load(info, LoadSettings(type_v=Q8_0, flash_attn=flash_attn))
    check_load(info, LoadSettings(type_k=Q8_0, flash_attn=FlashAttention.OFF))


def test_a_model_that_keeps_k_and_v_as_one_needs_one_type(infos: Callable[..., ModelInfo]) -> None:
    assert "use q8_0 or f16 for both" in refusal(infos(arch="deepseek2"), type_k=Q8_0)
    check_load(infos(arch="deepseek2"), LoadSettings(type_k=Q8_0, type_v=Q8_0))
    check_load(infos(arch="deepseek2", mla=False), LoadSettings(type_k=Q8_0))


@pytest.mark.parametrize("n_ctx", [0, -1, N_CTX_MAX + 1, 2**32])
def test_an_impossible_context_is_refused(n_ctx: int, infos: Callable[..., ModelInfo]) -> None:
    assert f"from 1 to {N_CTX_MAX}" in refusal(infos(), n_ctx=n_ctx)


def test_a_batch_larger_than_the_context_is_clamped_and_told(infos: Callable[..., ModelInfo]) -> None:
    settings, (notice,) = check_load(infos(), LoadSettings(n_ctx=300, n_batch=1000))
    assert (settings.n_batch, settings.n_ubatch) == (512, 512)
    assert "512 tokens, not 1,000" in notice.message
    # There are 256 cells, however short a context is asked for.
    settings, _notices = check_load(infos(), LoadSettings(n_ctx=1))
    assert (settings.n_batch, settings.n_ubatch) == (256, 256)
    settings, (notice,) = check_load(infos(), LoadSettings(n_batch=64, n_ubatch=128))
    assert settings.n_ubatch == 64
    assert "Micro-batches have 64 tokens, not 128" in notice.message
    # A default that nobody chose gives way in silence.
    as_trained, notices = check_load(infos(n_ctx_train=512), LoadSettings(n_ctx=None))
    assert (as_trained.n_batch, notices) == (512, ())


@given(
    n_ctx=st.integers(1, 5_000),
    n_batch=st.integers(1, 5_000),
    n_ubatch=st.integers(1, 5_000),
)
def test_checked_settings_are_right_as_they_are(n_ctx: int, n_batch: int, n_ubatch: int, info: ModelInfo) -> None:
    settings, _ = check_load(info, LoadSettings(n_ctx=n_ctx, n_batch=n_batch, n_ubatch=n_ubatch))
    assert settings.n_ubatch <= settings.n_batch <= n_cells(n_ctx)
    assert check_load(info, settings) == (settings, ())


@pytest.fixture(scope="module")
def info(infos: Callable[..., ModelInfo]) -> ModelInfo:
    return infos()


@pytest.mark.parametrize("fields", [{"arch": "mamba"}, {"arch": "lfm2", "n_layer": 3, "n_head_kv": (0, 2, 0)}, {}])
def test_a_state_gives_no_single_token_up(fields: dict, infos: Callable[..., ModelInfo]) -> None:
    # No tiny model of the last kind can be written: its header tells of no recurrent layer.
    info = infos(**fields) if fields else replace(infos(), architecture="deepseek4")
    with pytest.raises(EngineError) as caught:
        check_policy_of_model(info, LoadSettings(), PolicySettings(policy=Policy.SINKS))
    assert caught.value.code is ErrorCode.SETTING_INVALID
    check_policy_of_model(info, LoadSettings(), PolicySettings(policy=Policy.STOP))


# --- warnings ---

CPU = Device("CPU", "", "cpu", "CPU", 1000 * MIB, 1000 * MIB)
CUDA = Device("CUDA0", "", "gpu", "CUDA", 1000 * MIB, 1000 * MIB)
VULKAN = Device("Vulkan0", "", "gpu", "Vulkan", 1000 * MIB, 1000 * MIB)
METAL = Device("MTL0", "", "gpu", "MTL", 1000 * MIB, 1000 * MIB)
PAIRS = frozenset({"q8_0-q8_0", "f16-f16"})
CONTEXT = ContextReport(
    n_ctx=1024,
    n_batch=512,
    n_ubatch=512,
    flash_attn=True,
    is_v_padded=False,
    has_rotated_k=False,
    has_rotated_v=False,
    caches=(),
    recurrent=(),
    kv_buffers=(),
    recurrent_buffers=(),
    compute_buffers=(),
    output_buffers=(),
    device_mismatch=False,
)


def warned(
    info: ModelInfo,
    settings: LoadSettings,
    device: Device = CPU,
    report: ContextReport = CONTEXT,
    flash_compute_bytes: int | None = None,
) -> set[str]:
    """The codes of a plan's warnings, with all K and V on one device, and a MiB of compute buffers."""
    held = DeviceMemory(device.name, 0, MIB, 0, MIB, 0)
    found = plan_warnings.of_plan(info, settings, report, [(device, held)], lambda _backend: PAIRS, flash_compute_bytes)
    assert all(warning.message for warning in found)
    return {str(warning.code) for warning in found}


@pytest.mark.parametrize(
    ("device", "type_k", "type_v", "is_slow"),
    [
        (CPU, Q8_0, F16, False),
        (CUDA, Q8_0, Q8_0, False),
        (CUDA, Q8_0, Q4_0, True),
        (VULKAN, Q8_0, Q4_0, False),
        (VULKAN, BF16, F16, True),
        (METAL, F16, F16, False),
        (METAL, F16, Q8_0, True),
    ],
)
def test_slow_pairs_of_types_are_told(
    device: Device, type_k: CacheType, type_v: CacheType, is_slow: bool, info: ModelInfo
) -> None:
    settings = LoadSettings(type_k=type_k, type_v=type_v, flash_attn=FlashAttention.ON, n_ctx=512)
    assert (PlanWarningCode.SLOW_CACHE_TYPES in warned(info, settings, device)) == is_slow


def test_a_build_that_does_not_name_its_kernels_is_not_accused() -> None:
    assert plan_warnings.has_fast_kernels(CUDA, LoadSettings(type_k=Q8_0, type_v=Q4_0), lambda _backend: None)


def test_forced_flash_attention_and_growing_buffers_are_told(info: ModelInfo) -> None:
    assert warned(info, LoadSettings(n_ctx=512)) == set()
    assert warned(info, LoadSettings(n_ctx=512, type_v=Q8_0)) == {PlanWarningCode.FLASH_ATTENTION_FORCED}
    off = replace(CONTEXT, flash_attn=False)
    assert warned(info, LoadSettings(n_ctx=512), report=off) == {PlanWarningCode.COMPUTE_GROWS}
    assert warned(info, LoadSettings(n_ctx=512), report=off, flash_compute_bytes=MIB - 1) != set()
    assert warned(info, LoadSettings(n_ctx=512), report=off, flash_compute_bytes=MIB) == set()


def test_a_model_without_v_needs_no_flash_attention(infos: Callable[..., ModelInfo]) -> None:
    assert warned(infos(arch="mamba"), LoadSettings(n_ctx=512, type_v=Q8_0)) == set()


def test_a_context_beyond_the_trained_length_is_told_unless_rope_is_scaled(infos: Callable[..., ModelInfo]) -> None:
    info, beyond = infos(n_ctx_train=512), LoadSettings(n_ctx=513)
    assert warned(info, replace(beyond, n_ctx=512)) == set()
    assert warned(info, beyond) == {PlanWarningCode.BEYOND_TRAINED_LENGTH}
    assert warned(info, replace(beyond, rope_scaling=RopeScaling.NONE)) == {PlanWarningCode.BEYOND_TRAINED_LENGTH}
    assert warned(info, replace(beyond, rope_scaling=RopeScaling.YARN)) == {PlanWarningCode.BEYOND_TRAINED_LENGTH}
    assert warned(info, replace(beyond, rope_freq_scale=0.5)) == set()
    assert warned(infos(arch="mamba", n_ctx_train=512), beyond) == set()


# --- placing bytes ---


def test_buffers_belong_to_the_device_whose_memory_they_take() -> None:
    names = {"CUDA0": "CUDA0", "CUDA0_Split": "CUDA0", "CUDA_Host": "CPU", "CPU_REPACK": "CPU", "CUDA01": "CPU"}
    assert {name: buffer_device(Buffer(name, 0), [CUDA, CPU]) for name in names} == names
    rpc = replace(CUDA, name="RPC0", backend="RPC")
    assert buffer_device(Buffer("RPC0[127.0.0.1:50052]", 0), [CPU, rpc]) == "RPC0"


@pytest.mark.parametrize("logged_mib", [0.13, 0.5])
def test_kv_is_exact_where_the_log_agrees_and_the_logs_where_it_does_not(logged_mib: float, info: ModelInfo) -> None:
    # Two layers of 512 cells, 64 elements of f16 each: 131,072 bytes of K, which the log rounds to 0.13 MiB.
    logged = round(logged_mib * MIB)
    cache = KvCache(512, ((0, "CPU"), (1, "CUDA0")), k_bytes=logged, v_bytes=logged)
    placed = place(info, LoadSettings(), replace(CONTEXT, caches=(cache,)), [CPU, CUDA])
    assert placed.kv_k == placed.kv_v == (131_072 if logged_mib == 0.13 else logged)
    on_cpu, on_gpu = (used for _, used in memory(placed, [CPU, CUDA]))
    assert on_cpu.kv_bytes == on_gpu.kv_bytes == placed.kv_k


def tensor(name: str, n_bytes: int) -> TensorInfo:
    return TensorInfo(name, (n_bytes // 4,), ggml.TYPES[0], 0, n_bytes // 4, n_bytes)


TENSORS = (
    tensor("token_embd.weight", 1 << 20),
    tensor("blk.0.attn_q.weight", 1 << 4),
    tensor("blk.1.attn_q.weight", 1 << 5),
    tensor("rope_freqs.weight", 1 << 6),
    tensor("output_norm.weight", 1 << 7),
    tensor("token_embd_norm.weight", 1 << 8),
    tensor("blk.1.unused.weight", 1 << 9),
)


def weights_on(load: LoadReport, *more: TensorInfo, is_embedding_repacked: bool = False) -> tuple[int, int]:
    """Bytes of weights in RAM and on the GPU."""
    placement = Placement()
    place_weights(placement, Weights(TENSORS + more, is_embedding_repacked), load)
    on_cpu, on_gpu = (used.weights_bytes for _, used in memory(placement, [CPU, CUDA]))
    return on_cpu, on_gpu


def test_weights_lie_with_their_layers() -> None:
    unused = frozenset({"blk.1.unused.weight"})
    split = LoadReport(("CPU", "CUDA0", "CUDA0"), (), unused)
    embedding, rope = 1 << 20, 1 << 6
    # The embedding is also the output layer, and rotary factors are wherever there are layers.
    assert weights_on(split) == (embedding + (1 << 4) + rope + (1 << 8), embedding + (1 << 5) + rope + (1 << 7))
    output = tensor("output.weight", 1 << 10)
    assert weights_on(split, output)[1] == (1 << 5) + rope + (1 << 7) + (1 << 10)
    everything = embedding + (1 << 4) + (1 << 5) + rope + (1 << 7) + (1 << 8)
    in_ram = LoadReport(("CPU",) * 3, (), unused)
    assert weights_on(in_ram) == (everything, 0)
    assert weights_on(in_ram, is_embedding_repacked=True) == (everything + embedding, 0)
    assert weights_on(LoadReport((), (), unused)) == (everything, 0)


def test_a_finished_load_is_believed_where_it_differs_from_the_plan() -> None:
    planned = DeviceMemory("CPU", 10 * MIB + 100, 5 * MIB, 0, 3 * MIB, 0)
    buffers = (Buffer("CPU_Mapped", 12 * MIB), Buffer("CPU_REPACK", 4 * MIB))
    load = LoadReport(("CPU",), buffers, frozenset())
    report = replace(
        CONTEXT, kv_buffers=(Buffer("CPU", 5 * MIB),), compute_buffers=(Buffer("CPU", 7 * MIB), Buffer("CUDA0", MIB))
    )
    # The mapped file spans more than is used of it; the compute buffer is simply larger.
    assert confirmed(planned, load, report, [CPU, CUDA]) == replace(planned, compute_bytes=7 * MIB)
    short = replace(load, model_buffers=(Buffer("CPU", 9 * MIB),))
    assert confirmed(planned, short, report, [CPU, CUDA]).weights_bytes == 9 * MIB


# --- the plan itself ---


def test_a_plan_fits_only_if_every_device_has_room() -> None:
    gpu = DevicePlan("CUDA0", 600, 300, 0, 90, 10, free_bytes=1000, total_bytes=2000)
    cpu = DevicePlan("CPU", 50, 0, 7, 10, 3, free_bytes=70, total_bytes=100)
    plan = MemoryPlan(512, 3, 100, 200, True, True, (gpu, cpu), ())
    assert (plan.weights_bytes, plan.kv_bytes, plan.recurrent_bytes) == (650, 300, 7)
    assert (plan.compute_bytes, plan.output_bytes, plan.total_bytes) == (100, 13, 1070)
    assert plan.fits
    assert not replace(plan, devices=(replace(gpu, free_bytes=999), cpu)).fits

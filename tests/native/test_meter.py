"""What counts as free, how many layers fit, and which questions read a file again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.errors import EngineError, ErrorCode
from engine.api.facts import Device, DeviceMemory
from engine.api.plan import DevicePlan, MemoryPlan, PlanWarningCode
from engine.api.settings import N_CTX_MAX, FlashAttention, LoadSettings, PolicySettings
from engine.models.shards import read_shards
from engine.native import meter as meter_module
from engine.native.devices import Ggml
from engine.native.log import NativeLog
from engine.native.meter import MemoryMeter, fits_with_margin, free_devices, most_that_fits
from tests.tiny_fixtures import tiny_model

__all__ = ["tiny_model"]

GIB = 1 << 30
SETTINGS = LoadSettings(n_ctx=256, n_gpu_layers=0)


@pytest.fixture(scope="module")
def meter() -> Iterator[MemoryMeter]:
    log = NativeLog(write_to=None)
    library = Ggml()
    library.load_backends()
    with closing(MemoryMeter(library, log)) as one:
        yield one
    log.close()


def test_ram_that_others_use_is_not_free() -> None:
    cpu = Device("CPU", "", "cpu", "CPU", 10**15, 10**15)
    (free,) = free_devices([cpu, Device("BLAS", "", "accel", "BLAS", 0, 0)], ())
    assert 0 < free.free_bytes <= psutil.virtual_memory().total


def test_what_is_given_back_is_free_but_for_pages_of_the_file() -> None:
    gpu = Device("CUDA0", "", "gpu", "CUDA", 2 * GIB, 8 * GIB)
    cpu = Device("CPU", "", "cpu", "CPU", 10**15, 10**15)
    held = [DeviceMemory(name, 1 * GIB, 200, 30, 4, 5) for name in ("CUDA0", "CPU")]
    before, after = free_devices([cpu], ())[0], free_devices([gpu, cpu], held)
    assert after[0].free_bytes == 3 * GIB + 239
    assert abs(after[1].free_bytes - before.free_bytes) < GIB // 2
    (bounded,) = free_devices([gpu], [DeviceMemory("CUDA0", 9 * GIB, 0, 0, 0, 0)])
    assert bounded.free_bytes == 8 * GIB


@pytest.mark.parametrize(("total", "margin"), [(2 * GIB, GIB // 8), (80 * GIB, GIB)])
def test_automatic_layers_leave_a_margin(total: int, margin: int) -> None:
    def plan(n_bytes: int) -> MemoryPlan:
        gpu = DevicePlan("CUDA0", n_bytes, 0, 0, 0, 0, free_bytes=total, total_bytes=total)
        cpu = DevicePlan("CPU", total, 0, 0, 0, 0, free_bytes=0, total_bytes=total)
        return MemoryPlan(256, 1, 0, 0, True, True, (gpu, cpu), ())

    assert fits_with_margin(plan(total - margin))
    assert not fits_with_margin(plan(total - margin + 1))


@given(n_most=st.integers(0, 200), limit=st.integers(0, 200))
def test_the_most_that_fits(n_most: int, limit: int) -> None:
    asked: list[int] = []

    def fits(number: int) -> bool:
        asked.append(number)
        return number <= limit

    assert most_that_fits(n_most, fits) == min(n_most, limit)
    assert len(asked) <= n_most.bit_length() + 1


def test_a_file_that_changed_is_read_again(meter: MemoryMeter, tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    shutil.copy(tiny_model(n_layer=2), path)
    assert meter.plan(path, SETTINGS).kv_bytes == 2 * 256 * 64 * 2 * 2
    shutil.copy(tiny_model(n_layer=3), path)
    assert meter.plan(path, SETTINGS).kv_bytes == 3 * 256 * 64 * 2 * 2
    path.unlink()
    with pytest.raises(EngineError) as caught:
        meter.plan(path, SETTINGS)
    assert caught.value.code is ErrorCode.MODEL_NOT_FOUND


def test_a_file_is_read_once_whatever_is_asked_about_others_meanwhile(
    meter: MemoryMeter, tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    monkeypatch.setattr(meter_module, "read_shards", lambda path: read.append(path) or read_shards(path))
    slider, *others = [tiny_model(n_ctx_train=n) for n in (320, 384, 448, 576)]
    for other in others:
        meter.plan(slider, SETTINGS)
        meter.plan(other, SETTINGS)
    assert read == [slider, *others]


def test_a_context_that_no_machine_has_room_for_is_not_tried(
    meter: MemoryMeter, tiny_model: Callable[..., Path]
) -> None:
    with pytest.raises(EngineError) as caught:
        meter.plan(tiny_model(), LoadSettings(n_ctx=N_CTX_MAX, n_gpu_layers=0))
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY
    assert "make it smaller" in caught.value.message


def test_an_embedding_model_is_not_planned(meter: MemoryMeter, tiny_model: Callable[..., Path]) -> None:
    with pytest.raises(EngineError) as caught:
        meter.plan(tiny_model(extra=(("llama.pooling_type", 1),)), SETTINGS)
    assert caught.value.code is ErrorCode.MODEL_IS_EMBEDDING


def test_a_policy_that_the_cells_have_no_room_for_is_refused_with_the_plan(
    meter: MemoryMeter, tiny_model: Callable[..., Path]
) -> None:
    path = tiny_model()
    assert meter.plan(path, SETTINGS, policy=PolicySettings(n_window=200)).n_ctx == 256
    with pytest.raises(EngineError) as caught:
        meter.plan(path, SETTINGS, policy=PolicySettings(n_window=300))
    assert caught.value.code is ErrorCode.SETTING_INVALID
    assert "there are 256" in caught.value.message


def test_what_a_plan_refuses_is_what_its_model_cannot_do(meter: MemoryMeter, tiny_model: Callable[..., Path]) -> None:
    recurrent = meter.plan(tiny_model(arch="mamba"), SETTINGS)
    assert {refusal.value for refusal in recurrent.refusals if refusal.setting == "policy"} == {"window", "sinks"}
    latent = meter.plan(tiny_model(arch="deepseek2"), SETTINGS)
    assert latent.types_must_match
    assert not meter.plan(tiny_model(), SETTINGS).types_must_match


def test_the_largest_context_that_fits_really_does(meter: MemoryMeter, tiny_model: Callable[..., Path]) -> None:
    path = tiny_model(n_ctx_train=2048)
    fit = meter.find_fit(path, SETTINGS)
    assert (fit.largest_n_ctx, fit.proposals) == (2048, ())


def test_that_compute_grows_without_flash_attention_is_told_where_it_does(
    meter: MemoryMeter, tiny_model: Callable[..., Path]
) -> None:
    told = set()
    for n_ubatch in (1, 512):
        without = LoadSettings(n_ctx=256, n_ubatch=n_ubatch, n_gpu_layers=0, flash_attn=FlashAttention.OFF)
        plan, flash = (
            meter.plan(tiny_model(arch="gemma3", n_layer=6), settings)
            for settings in (without, replace(without, flash_attn=FlashAttention.ON))
        )
        is_more = sum(one.compute_bytes for one in plan.devices) > sum(one.compute_bytes for one in flash.devices)
        assert (PlanWarningCode.COMPUTE_GROWS in [warning.code for warning in plan.warnings]) is is_more
        told.add(is_more)
    assert told == {False, True}

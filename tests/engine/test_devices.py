"""What devices tell of their memory, on drivers that work and on drivers that don't."""

from __future__ import annotations

import os
from types import SimpleNamespace

import psutil
import pytest

from engine.api.facts import Device, DeviceMemory
from engine.devices import (
    DeviceSample,
    DeviceSampler,
    SampleProblem,
    available_ram_bytes,
    memory_shares,
    spare_ram_bytes,
)
from tests.engine.fake_nvml import GIB, FakeNvml

CPU = Device("CPU", "A processor", "cpu", "CPU", 6 * GIB, 16 * GIB)
CARD = Device("CUDA0", "NVIDIA Test Card", "gpu", "CUDA", 15 * GIB, 24 * GIB, "0000:c1:00.0")
VULKAN = Device("Vulkan0", "Some GPU", "gpu", "Vulkan", 3 * GIB, 4 * GIB)
ENGINE = 4711


def gpus(sampler: DeviceSampler, *devices: Device) -> tuple[DeviceSample, ...]:
    return sampler.sample((CPU, *devices), ENGINE)[1:]


def test_ram_is_always_there() -> None:
    ram = DeviceSampler(FakeNvml(n_cards=0)).sample((), os.getpid())[0]
    assert ram.name == "CPU"
    assert 0 < ram.used_bytes < ram.total_bytes
    assert ram.process_bytes is not None
    assert 0 < ram.process_bytes < ram.used_bytes


def test_a_process_that_has_ended_is_not_counted() -> None:
    assert DeviceSampler(FakeNvml(n_cards=0)).sample((), 2**22 + 1)[0].process_bytes is None


def test_a_card_is_found_by_its_address_and_other_cards_are_shown_too() -> None:
    nvml = FakeNvml()
    nvml.processes = {ENGINE: 5 * GIB, 99: 3 * GIB}
    mine, other = gpus(DeviceSampler(nvml), CARD)
    assert mine == DeviceSample("CUDA0", "NVIDIA Test Card", 24 * GIB, 9 * GIB, 5 * GIB)
    assert (other.name, other.used_bytes, other.process_bytes) == ("GPU 1", 2 * GIB, None)


def test_a_driver_that_does_not_count_by_process_says_none() -> None:
    nvml = FakeNvml(n_cards=1)
    nvml.processes = {ENGINE: None}
    assert gpus(DeviceSampler(nvml), CARD)[0].process_bytes is None


def test_other_gpus_keep_what_the_engine_saw() -> None:
    (gpu,) = gpus(DeviceSampler(FakeNvml(n_cards=0)), VULKAN)
    assert (gpu.total_bytes, gpu.used_bytes, gpu.problem) == (4 * GIB, GIB, SampleProblem.NOT_LIVE)


def test_a_card_that_vanishes_leaves_the_rest() -> None:
    nvml = FakeNvml()
    sampler = DeviceSampler(nvml)
    gpus(sampler, CARD)
    nvml.lost = {1}
    assert [gpu.problem for gpu in gpus(sampler, CARD)] == [None, SampleProblem.GPU_LOST]


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (FakeNvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, SampleProblem.DRIVER_MISMATCH),
        (FakeNvml.NVML_ERROR_NO_PERMISSION, SampleProblem.NO_PERMISSION),
        (999, SampleProblem.DRIVER_FAILED),
        (FakeNvml.NVML_ERROR_LIBRARY_NOT_FOUND, SampleProblem.NOT_LIVE),
    ],
)
def test_a_driver_that_does_not_start_is_named_and_asked_again_later(error: int, problem: SampleProblem) -> None:
    nvml = FakeNvml(fails_to_start=error)
    sampler = DeviceSampler(nvml)
    assert gpus(sampler, CARD)[0].problem is problem
    nvml.fails_to_start = None
    seen = [gpus(sampler, CARD)[0].problem for _ in range(31)]
    assert seen[0] is problem
    assert seen[-1] is None
    sampler.close()
    assert nvml.n_open == 0


def held(weights: int, kv: int, compute: int) -> DeviceMemory:
    return DeviceMemory("CUDA0", weights * GIB, kv * GIB, 0, compute * GIB, 0)


@pytest.mark.parametrize(
    ("process", "expected"),
    [
        (7, (4, 1, 1, 1, 2, 15)),
        (None, (4, 1, 1, 0, 3, 15)),
    ],
)
def test_shares_add_up_to_the_device(process: int | None, expected: tuple[int, ...]) -> None:
    used_by_engine = None if process is None else process * GIB
    shares = memory_shares(DeviceSample("CUDA0", "", 24 * GIB, 9 * GIB, used_by_engine), held(4, 1, 1))
    assert shares == type(shares)(*(n * GIB for n in expected))


def test_mapped_weights_count_as_the_models_although_the_system_calls_them_free() -> None:
    ram = DeviceSample("CPU", "", 16 * GIB, 3 * GIB, 1 * GIB)
    shares = memory_shares(ram, held(4, 1, 0))
    assert (shares.weights_bytes, shares.others_bytes, shares.free_bytes) == (4 * GIB, 2 * GIB, 9 * GIB)


def test_what_was_there_before_the_engine_is_others() -> None:
    gpu = DeviceSample("Vulkan0", "", 4 * GIB, GIB, None, SampleProblem.NOT_LIVE)
    shares = memory_shares(gpu, held(1, 1, 0))
    assert (shares.others_bytes, shares.free_bytes) == (GIB, GIB)


# --- drivers that raise and tell what they like ---

CALLS = (
    "nvmlInit",
    "nvmlDeviceGetCount",
    "nvmlDeviceGetHandleByIndex",
    "nvmlDeviceGetPciInfo",
    "nvmlDeviceGetName",
    "nvmlDeviceGetMemoryInfo",
    "nvmlDeviceGetComputeRunningProcesses",
    "nvmlDeviceGetGraphicsRunningProcesses",
    "nvmlShutdown",
)


@pytest.mark.parametrize("error", [OSError("a driver"), UnicodeDecodeError("utf-8", b"x", 0, 1, "?"), AttributeError()])
@pytest.mark.parametrize("call", CALLS)
def test_a_driver_may_raise_anything(call: str, error: Exception) -> None:
    nvml = FakeNvml()

    def fail(*_: object) -> None:
        raise error

    setattr(nvml, call, fail)
    sampler = DeviceSampler(nvml)
    ram, *cards = sampler.sample((CPU, CARD), os.getpid())
    assert ram.used_bytes > 0
    assert all(card.problem is not None or card.total_bytes == 24 * GIB for card in cards)
    sampler.close()


@pytest.mark.parametrize("value", [None, "much", -1, 2**64 - 1, 10**400, float("nan"), 1.5])
@pytest.mark.parametrize("name", ["total", "used"])
def test_figures_that_make_no_sense_are_none(name: str, value: object) -> None:
    nvml = FakeNvml(n_cards=1)
    nvml.nvmlDeviceGetMemoryInfo = lambda _: SimpleNamespace(**{"total": 24 * GIB, "used": GIB, name: value})  # type: ignore[method-assign, assignment, return-value]
    (card,) = gpus(DeviceSampler(nvml), CARD)
    assert (card.total_bytes, card.used_bytes, card.problem) == (0, 0, SampleProblem.DRIVER_FAILED)


def test_more_used_than_there_is_and_a_process_with_more_than_all() -> None:
    nvml = FakeNvml(n_cards=1)
    nvml.used = [25 * GIB]
    nvml.nvmlDeviceGetMemoryInfo = lambda _: SimpleNamespace(total=24 * GIB, used=25 * GIB)  # type: ignore[method-assign]
    nvml.processes = {ENGINE: 2**64 - 1}
    (card,) = gpus(DeviceSampler(nvml), CARD)
    assert (card.total_bytes, card.used_bytes, card.process_bytes) == (24 * GIB, 24 * GIB, None)


@pytest.mark.parametrize("n_cards", [None, "two", -1, 10**400])
def test_a_number_of_cards_that_makes_no_sense(n_cards: object) -> None:
    nvml = FakeNvml()
    nvml.nvmlDeviceGetCount = lambda: n_cards  # type: ignore[method-assign, assignment, return-value]
    assert len(DeviceSampler(nvml).sample((CPU, CARD), ENGINE)) < 100


def test_a_system_that_does_not_tell_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no /proc")

    monkeypatch.setattr(psutil, "virtual_memory", fail)
    monkeypatch.setattr(psutil, "Process", fail)
    ram = DeviceSampler(FakeNvml(n_cards=0)).sample((), ENGINE)[0]
    assert (ram.total_bytes, ram.problem) == (0, SampleProblem.DRIVER_FAILED)
    assert spare_ram_bytes() == 0
    assert available_ram_bytes() == 0


@pytest.mark.parametrize("part", [2**63, -5, 30 * GIB])
@pytest.mark.parametrize("sample", [
    DeviceSample("CUDA0", "", 24 * GIB, 9 * GIB, 5 * GIB),
    DeviceSample("CUDA0", "", 24 * GIB, 24 * GIB, None),
    DeviceSample("CUDA0", "", 24 * GIB, 2**64 - 1, 2**64 - 1),
    DeviceSample("CUDA0", "", 24 * GIB, 2**64 - 1, None, SampleProblem.NOT_LIVE),
    DeviceSample("CUDA0", "", 0, 0),
])  # fmt: skip
def test_no_share_is_larger_than_the_device(sample: DeviceSample, part: int) -> None:
    shares = memory_shares(sample, DeviceMemory("CUDA0", part, part, part, part, part))
    parts = list(vars(shares).values())
    assert min(parts) >= 0
    assert sum(parts) == sample.total_bytes

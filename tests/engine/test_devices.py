"""What devices tell of their memory, on drivers that work and on drivers that don't."""

from __future__ import annotations

import os

import pytest

from engine.api.facts import Device, DeviceMemory
from engine.devices import DeviceSample, DeviceSampler, SampleProblem, memory_shares
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

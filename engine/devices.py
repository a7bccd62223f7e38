"""Current memory use of this machine and its GPUs, from the system and NVIDIA's driver; without llama.cpp."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import Any

import psutil

from engine.api.facts import MAX_MEMORY_BYTES, Device, DeviceMemory, known_memory

log = logging.getLogger("kvasir")

RAM_LEFT_SHARE = 16
"""Snapshots are kept in RAM only while a sixteenth of the machine's RAM is free."""
MAX_CARDS = 64
RETRY_SAMPLES = 30
"""A failed driver is retried after this many samples."""


class SampleProblem(StrEnum):
    """Why a device's numbers are missing or outdated."""

    NOT_LIVE = "not_live"
    """No driver reports live numbers: they are those of the engine's start."""
    GPU_LOST = "gpu_lost"
    DRIVER_MISMATCH = "driver_mismatch"
    NO_PERMISSION = "no_permission"
    DRIVER_FAILED = "driver_failed"


@dataclass(frozen=True)
class DeviceSample:
    """The memory of one device, in bytes: total, used by all processes, used by the engine's process.

    ``name`` is llama.cpp's name of the device, or the driver's if the engine doesn't use the device. ``process_bytes``
    is None if the driver doesn't report it. With a ``problem`` other than NOT_LIVE the numbers are 0.
    """

    name: str
    description: str
    total_bytes: int = 0
    used_bytes: int = 0
    process_bytes: int | None = None
    problem: SampleProblem | None = None


@dataclass(frozen=True)
class MemoryShares:
    """The parts of a device's memory, in bytes, which add up to its total.

    ``rest_bytes``: memory of the engine's process other than weights, KV and buffers (driver context, libraries).
    """

    weights_bytes: int
    kv_bytes: int
    compute_bytes: int
    rest_bytes: int
    others_bytes: int
    free_bytes: int


def memory_shares(sample: DeviceSample, held: DeviceMemory | None) -> MemoryShares:
    """Divide a device's memory into parts of the engine, other programs, and free memory.

    ``held``: the loaded model's memory there. Memory-mapped weights count as the model's, although the system can
    reclaim their pages; recurrent state counts as KV, output buffers as compute.
    """
    left = max(0, sample.total_bytes)

    def share(n_bytes: int) -> int:
        """At most the bytes still unassigned, whatever a driver or a plan says."""
        nonlocal left
        taken = min(max(0, n_bytes), left)
        left -= taken
        return taken

    weights = share(held.weights_bytes if held is not None else 0)
    kv = share(held.kv_bytes + held.recurrent_bytes if held is not None else 0)
    compute = share(held.compute_bytes + held.output_bytes if held is not None else 0)
    if sample.problem is SampleProblem.NOT_LIVE:
        rest, others = 0, sample.used_bytes
    elif sample.process_bytes is not None:
        rest = sample.process_bytes - weights - kv - compute
        others = sample.used_bytes - sample.process_bytes
    else:
        rest, others = 0, sample.used_bytes - weights - kv - compute
    rest, others = share(rest), share(others)
    return MemoryShares(weights, kv, compute, rest, others, left)


class DeviceSampler:
    """Samples devices; raises nothing. ``nvml`` is the module pynvml, or an object with its functions."""

    def __init__(self, nvml: Any = None) -> None:
        self._given = nvml
        self._is_open = False
        self._problem: SampleProblem | None = None
        self._n_until_retry = 0

    @cached_property
    def _nvml(self) -> Any:
        """The NVML module, imported with the first sample so that the window's start does not wait for it."""
        return self._given if self._given is not None else _import_nvml()

    def sample(self, devices: Sequence[Device], process_id: int | None) -> tuple[DeviceSample, ...]:
        """This machine's RAM first, then every GPU: NVIDIA's from the driver, others as last reported by the engine.

        ``devices`` are the engine's; ``process_id`` its process.
        """
        cards = dict(self._cards(process_id))
        samples = [sample_ram(process_id)]
        for device in devices:
            if not device.is_gpu:
                continue
            card = cards.pop(device.bus_id, None) if device.bus_id is not None else None
            if card is None:
                samples.append(_as_at_start(device, self._problem))
            else:
                samples.append(
                    DeviceSample(
                        device.name,
                        device.description,
                        card.total_bytes,
                        card.used_bytes,
                        card.process_bytes,
                        card.problem,
                    )
                )
        return (*samples, *cards.values())

    def close(self) -> None:
        """Release the driver."""
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(Exception):
                self._nvml.nvmlShutdown()

    def _cards(self, process_id: int | None) -> Iterator[tuple[str, DeviceSample]]:
        """Every NVIDIA card by its PCI address."""
        if not self._open():
            return
        try:
            n_cards = min(int(self._nvml.nvmlDeviceGetCount()), MAX_CARDS)
        except Exception as error:  # noqa: BLE001 - a driver's library may raise anything
            self._fail(error)
            return
        for index in range(n_cards):
            name = f"GPU {index}"
            try:
                handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
                address = _pci_address(self._nvml.nvmlDeviceGetPciInfo(handle).busId)
            except Exception as error:  # noqa: BLE001 - as above
                # A card that was removed has no address any more.
                yield name, DeviceSample(name, "", problem=self._named(error))
                continue
            yield address, self._card(name, handle, process_id)

    def _card(self, name: str, handle: Any, process_id: int | None) -> DeviceSample:
        try:
            description = _text(self._nvml.nvmlDeviceGetName(handle))
            memory = self._nvml.nvmlDeviceGetMemoryInfo(handle)
            known = known_memory(memory.total, memory.used)
            process_bytes = self._process_bytes(handle, process_id)
        except Exception as error:  # noqa: BLE001 - as above
            return DeviceSample(name, "", problem=self._named(error))
        return _sample(name, description, known, process_bytes)

    def _process_bytes(self, handle: Any, process_id: int | None) -> int | None:
        """Bytes that a process holds on a card; None if the driver doesn't report it, or counts other containers."""
        for list_processes in (
            self._nvml.nvmlDeviceGetComputeRunningProcesses,
            self._nvml.nvmlDeviceGetGraphicsRunningProcesses,
        ):
            try:
                for process in list_processes(handle):
                    if process.pid == process_id and process.usedGpuMemory is not None:
                        return int(process.usedGpuMemory)
            except Exception as error:  # noqa: BLE001 - as above
                self._named(error)
        return None

    def _open(self) -> bool:
        if self._nvml is None or self._is_open:
            return self._is_open
        if self._n_until_retry > 0:
            self._n_until_retry -= 1
            return False
        try:
            self._nvml.nvmlInit()
        except Exception as error:  # noqa: BLE001 - as above
            self._fail(error)
            return False
        self._is_open, self._problem = True, None
        return True

    def _fail(self, error: Exception) -> None:
        """Skip NVML for a while after an error. A machine without the driver is not an error."""
        self.close()
        self._n_until_retry = RETRY_SAMPLES
        is_missing = self._is_one_of(error, "LIBRARY_NOT_FOUND", "DRIVER_NOT_LOADED")
        self._problem = None if is_missing else self._named(error)

    def _named(self, error: Exception) -> SampleProblem:
        if not isinstance(error, getattr(self._nvml, "NVMLError", ())):
            _log_once(error)
        elif self._is_one_of(error, "GPU_IS_LOST", "NOT_FOUND"):
            return SampleProblem.GPU_LOST
        elif self._is_one_of(error, "LIB_RM_VERSION_MISMATCH"):
            return SampleProblem.DRIVER_MISMATCH
        elif self._is_one_of(error, "NO_PERMISSION"):
            return SampleProblem.NO_PERMISSION
        return SampleProblem.DRIVER_FAILED

    def _is_one_of(self, error: Exception, *names: str) -> bool:
        value = getattr(error, "value", None)
        return value is not None and value in [getattr(self._nvml, f"NVML_ERROR_{name}", None) for name in names]


def sample_ram(process_id: int | None) -> DeviceSample:
    """This machine's memory. A process counts with its private memory, not with mapped files."""
    known = _ram()
    process_bytes = None
    if process_id is not None:
        try:
            used = psutil.Process(process_id).memory_info()
            process_bytes = used.rss - getattr(used, "shared", 0)
        except psutil.Error:
            pass
        except Exception as error:  # noqa: BLE001 - a missing process figure must not end the sampling
            _log_once(error)
    return _sample("CPU", "", None if known is None else (known[0], known[0] - known[1]), process_bytes)


def spare_ram_bytes() -> int:
    """Bytes of RAM that may be used without putting pressure on the system; negative if it is under pressure already.

    A share of the RAM is left to other programs and to the page cache, which holds the weights. 0 if the system does
    not report its memory.
    """
    known = _ram()
    return 0 if known is None else known[1] - known[0] // RAM_LEFT_SHARE


def available_ram_bytes() -> int:
    """Available bytes of RAM; 0 if the system does not report them."""
    try:
        known = known_memory(MAX_MEMORY_BYTES, psutil.virtual_memory().available)
    except Exception as error:  # noqa: BLE001 - as above
        _log_once(error)
        known = None
    return 0 if known is None else known[1]


def _ram() -> tuple[int, int] | None:
    """Total and available bytes of RAM; None if the system does not report them."""
    try:
        memory = psutil.virtual_memory()
        return known_memory(memory.total, memory.available)
    except Exception as error:  # noqa: BLE001 - as above
        _log_once(error)
        return None


def _sample(name: str, description: str, known: tuple[int, int] | None, process_bytes: int | None) -> DeviceSample:
    """A sample with plausible figures; ``known``: total and used bytes."""
    if known is None:
        return DeviceSample(name, description, problem=SampleProblem.DRIVER_FAILED)
    total, used = known
    is_told = process_bytes is not None and 0 <= process_bytes <= total
    return DeviceSample(name, description, total, used, process_bytes if is_told else None)


@cache
def _log_failure(failure: str) -> None:
    log.info("a driver or the system does not tell how full its memory is: %s", failure)


def _log_once(error: Exception) -> None:
    _log_failure(type(error).__name__)


def _as_at_start(device: Device, problem: SampleProblem | None) -> DeviceSample:
    if problem is not None and device.backend == "CUDA":
        return DeviceSample(device.name, device.description, problem=problem)
    known = known_memory(device.total_bytes, device.free_bytes)
    if known is None:
        return DeviceSample(device.name, device.description, problem=SampleProblem.DRIVER_FAILED)
    total, free = known
    return DeviceSample(device.name, device.description, total, total - free, None, SampleProblem.NOT_LIVE)


def _import_nvml() -> Any:
    try:
        import pynvml
    except ImportError:
        return None
    except Exception as error:  # noqa: BLE001 - as above
        _log_once(error)
        return None
    return pynvml


def _pci_address(bus_id: bytes | str) -> str:
    """The address in llama.cpp's form, "0000:c1:00.0"; NVML's is "00000000:C1:00.0"."""
    domain, _, rest = _text(bus_id).lower().partition(":")
    return f"{domain[-4:]}:{rest}"


def _text(raw: bytes | str) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw

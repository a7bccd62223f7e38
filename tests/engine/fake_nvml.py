"""NVIDIA's library without a card: two GPUs by default, and every way in which it fails."""

from __future__ import annotations

from types import SimpleNamespace

GIB = 2**30


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class FakeNvml:
    NVMLError = NVMLError
    NVML_ERROR_NO_PERMISSION = 4
    NVML_ERROR_NOT_FOUND = 6
    NVML_ERROR_DRIVER_NOT_LOADED = 9
    NVML_ERROR_LIBRARY_NOT_FOUND = 12
    NVML_ERROR_GPU_IS_LOST = 15
    NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18

    def __init__(self, *, n_cards: int = 2, fails_to_start: int | None = None) -> None:
        self.n_cards = n_cards
        self.fails_to_start = fails_to_start
        self.lost: set[int] = set()
        self.used = [9 * GIB, 2 * GIB]
        self.processes: dict[int, int | None] = {}
        self.n_open = 0

    def nvmlInit(self) -> None:
        if self.fails_to_start is not None:
            raise NVMLError(self.fails_to_start)
        self.n_open += 1

    def nvmlShutdown(self) -> None:
        self.n_open -= 1

    def nvmlDeviceGetCount(self) -> int:
        return self.n_cards

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        if index in self.lost:
            raise NVMLError(self.NVML_ERROR_GPU_IS_LOST)
        return index

    def nvmlDeviceGetPciInfo(self, handle: int) -> SimpleNamespace:
        return SimpleNamespace(busId=f"00000000:{0xC1 + handle:02X}:00.0".encode())

    def nvmlDeviceGetName(self, handle: int) -> str:
        return "NVIDIA Test Card"

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> SimpleNamespace:
        return SimpleNamespace(total=24 * GIB, used=self.used[handle], free=24 * GIB - self.used[handle])

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[SimpleNamespace]:
        if handle != 0:
            return []
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in self.processes.items()]

    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: int) -> list[SimpleNamespace]:
        raise NVMLError(self.NVML_ERROR_NO_PERMISSION)

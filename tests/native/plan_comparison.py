"""Plans a load, does it, and puts both side by side, in a process of its own with the devices that a test wants."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import Device, DeviceMemory
from engine.api.plan import Choice, MemoryPlan
from engine.api.settings import CacheType, FlashAttention, GpuLayers, LoadSettings
from engine.native.context import NativeContext
from engine.native.devices import Ggml
from engine.native.log import NativeLog
from engine.native.meter import MemoryMeter
from engine.native.model import NativeModel
from engine.native.placement import buffer_device, memory_devices
from engine.native.report import Buffer
from tests.native.breakdown import BufferTypeBytes, memory_breakdown


@dataclasses.dataclass(frozen=True)
class Comparison:
    """`held`: what llama.cpp counts itself, per device; `reported`: what a load is said to hold afterwards."""

    plan: MemoryPlan
    held: dict[str, BufferTypeBytes]
    reported: tuple[DeviceMemory, ...]


@functools.cache
def native() -> tuple[Ggml, NativeLog]:
    """llama.cpp in this process, with all its back ends."""
    log, library = NativeLog(write_to=None), Ggml()
    library.load_backends()
    return library, log


def gpu_names() -> tuple[str, ...]:
    """The GPUs of this process."""
    return tuple(device.name for device in native()[0].devices() if device.kind in ("gpu", "igpu"))


def backend_names() -> tuple[str, ...]:
    """The back ends of this process."""
    return native()[0].backends()


def add_rpc_server(endpoint: str) -> str:
    """Add the device of an RPC server; "" or why not."""
    try:
        native()[0].add_rpc_server(endpoint)
    except EngineError as error:
        return error.message
    return ""


def compare(path: Path, settings: LoadSettings) -> Comparison:
    """Plan, then load for real."""
    library, log = native()
    with closing(MemoryMeter(library, log)) as meter:
        plan = meter.plan(path, settings)
        loaded = meter.load_settings(path, settings, plan)
        with (
            closing(NativeModel(path, loaded, log)) as model,
            closing(NativeContext(model, loaded, log)) as context,
        ):
            return Comparison(plan, _held(library, context), meter.loaded_memory(model, context, loaded))


def fit(path: Path, settings: LoadSettings) -> tuple[int, list[MemoryPlan]]:
    """Automatic GPU layers, and the plans with so many, with one more, and with all."""
    with closing(MemoryMeter(*native())) as meter:
        n_layers = meter.fit_gpu_layers(path, settings)
        wanted = (n_layers, n_layers + 1, GpuLayers.ALL)
        return n_layers, [meter.plan(path, dataclasses.replace(settings, n_gpu_layers=n)) for n in wanted]


class FakeTable(Ggml):
    """The devices of this process, with as much memory as a test wants: `gpu_bytes` and `ram_bytes`, all of it free."""

    def __init__(self, gpu_bytes: int, ram_bytes: int) -> None:
        super().__init__()
        self._gpu_bytes, self._ram_bytes = gpu_bytes, ram_bytes

    def devices(self) -> tuple[Device, ...]:
        return tuple(
            dataclasses.replace(device, free_bytes=n_bytes, total_bytes=n_bytes)
            for device in super().devices()
            for n_bytes in (self._ram_bytes if device.kind == "cpu" else self._gpu_bytes,)
        )


def choose(path: Path, table: tuple[int, int] | None = None) -> Choice:
    """The settings for what is free here, or for a table of bytes of a GPU and of RAM."""
    library, log = native()
    with closing(MemoryMeter(FakeTable(*table) if table else library, log)) as meter:
        # Without the file mapped, a buffer's size is what it holds.
        return meter.choose(path, LoadSettings(n_threads=1, use_mmap=False))


def make_all(path: Path, types: Sequence[CacheType]) -> tuple[int, int]:
    """Plan every pair of types with every flash attention; how many were planned, and how many refused as settings."""
    n_made = n_refused = 0
    with closing(MemoryMeter(*native())) as meter:
        for type_k, type_v, flash_attn in itertools.product(types, types, FlashAttention):
            settings = LoadSettings(n_ctx=256, type_k=type_k, type_v=type_v, flash_attn=flash_attn, n_gpu_layers=0)
            try:
                meter.plan(path, settings)
            except EngineError as error:
                if error.code is not ErrorCode.SETTING_INVALID:
                    raise
                n_refused += 1
            else:
                n_made += 1
    return n_made, n_refused


def _held(library: Ggml, context: NativeContext) -> dict[str, BufferTypeBytes]:
    devices = memory_devices(library.devices())
    held = {device.name: BufferTypeBytes(0, 0, 0) for device in devices}
    for name, one in memory_breakdown(context.pointer).items():
        device = buffer_device(Buffer(name, 0), devices)
        so_far = held[device]
        held[device] = BufferTypeBytes(
            so_far.weights + one.weights, so_far.context + one.context, so_far.compute + one.compute
        )
    return held

"""Measures the memory of a load, by running llama.cpp's load without allocating."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.api.errors import EngineError
from engine.api.messages import Device, DeviceMemory, Notice
from engine.api.plan import Choice, DevicePlan, Fit, MemoryPlan
from engine.api.settings import FlashAttention, GpuLayers, LoadSettings, PolicySettings
from engine.cache import window
from engine.devices import available_ram_bytes
from engine.models import ggml
from engine.models.gguf import ModelInfo, read_model_info, require_chat_model
from engine.models.header import TensorInfo
from engine.models.shards import read_shards
from engine.native import placement as planning
from engine.native import plan_warnings
from engine.native.context import NativeContext
from engine.native.devices import Ggml
from engine.native.log import NativeLog
from engine.native.model import NativeModel
from engine.native.report import ContextReport, LoadReport, read_context, read_load
from engine.plan import autofit, fitting, ram
from engine.plan.check import check_load, types_must_match
from engine.plan.refusals import refusals

FILES_KEPT = 2
"""The file whose settings are being changed, and one other that is being viewed."""
MODELS_KEPT = 3
"""Models without memory kept for the next question; each holds its vocabulary, some tens of megabytes."""


@dataclasses.dataclass(frozen=True)
class ModelFile:
    """A model as its header describes it."""

    info: ModelInfo
    tensors: tuple[TensorInfo, ...]


@dataclasses.dataclass(frozen=True)
class _FileState:
    """Size and time of a file when it was read, the key by which a cached header is invalidated."""

    path: Path
    n_bytes: int
    modified_ns: int


@dataclasses.dataclass(frozen=True)
class _ModelWithoutMemory:
    native: NativeModel
    report: LoadReport


class MemoryMeter:
    """Plans the memory of loads; the first plan of a file reads it, further ones take milliseconds.

    ``given_back``: memory of the current load, which is freed before the new one and so counts as free.
    ``without_extra_bufts``: weights are never repacked on this machine.
    """

    def __init__(self, library: Ggml, log: NativeLog, *, without_extra_bufts: bool = False) -> None:
        self._ggml = library
        self._log = log
        self._without_extra_bufts = without_extra_bufts
        self._files: collections.OrderedDict[_FileState, ModelFile] = collections.OrderedDict()
        self._models: collections.OrderedDict[tuple[object, ...], _ModelWithoutMemory] = collections.OrderedDict()

    def plan(
        self,
        path: Path,
        settings: LoadSettings,
        given_back: Sequence[DeviceMemory] = (),
        policy: PolicySettings | None = None,
    ) -> MemoryPlan:
        """The bytes of a load per device; a ``policy`` is checked against the planned number of cells.

        Raises EngineError: what `read_model_info`, `require_chat_model`, `check_load` and `check_policy` raise,
        MODEL_LOAD_FAILED, CONTEXT_FAILED and OUT_OF_MEMORY.
        """
        return self._planned(self._file(path), settings, free_devices(self._ggml.devices(), given_back), policy)

    def find_fit(self, path: Path, settings: LoadSettings, given_back: Sequence[DeviceMemory] = ()) -> Fit:
        """The largest context that fits, and fitting changes of settings; raises what `read_model_info` raises."""
        file = self._file(path)
        devices = free_devices(self._ggml.devices(), given_back)
        return fitting.find_fit(file.info, settings, lambda changed: self._planned(file, changed, devices))

    def choose(self, path: Path, settings: LoadSettings, given_back: Sequence[DeviceMemory] = ()) -> Choice:
        """Choose GPU layers, context and types for the free memory; raises as `plan` does if no load is possible."""
        file = self._file(path)
        devices = free_devices(self._ggml.devices(), given_back)
        return autofit.choose_settings(file.info, settings, lambda changed: self._planned(file, changed, devices))

    def _planned(
        self,
        file: ModelFile,
        settings: LoadSettings,
        devices: Sequence[Device],
        policy: PolicySettings | None = None,
    ) -> MemoryPlan:
        settings, notices = self._checked(file, settings)
        if settings.n_gpu_layers is GpuLayers.AUTO:
            settings = dataclasses.replace(settings, n_gpu_layers=self._fitting_layers(file, settings, devices))
        plan = self._measured(file, settings, devices, policy)
        adjusted = plan_warnings.of_notices(notices)
        return dataclasses.replace(plan, warnings=adjusted + plan.warnings)

    def fit_gpu_layers(self, path: Path, settings: LoadSettings, given_back: Sequence[DeviceMemory] = ()) -> int:
        """The most layers, the output layer included, that fit the GPUs with a margin; 0 without a GPU."""
        file = self._file(path)
        settings, _ = self._checked(file, settings)
        devices = free_devices(self._ggml.devices(), given_back)
        return self._fitting_layers(file, settings, devices)

    def load_settings(self, path: Path, settings: LoadSettings, plan: MemoryPlan) -> LoadSettings:
        """The effective settings that reproduce the plan; raises as `plan` does."""
        settings, _ = self._checked(self._file(path), settings)
        return dataclasses.replace(settings, n_gpu_layers=plan.n_gpu_layers)

    def loaded_memory(
        self, model: NativeModel, context: NativeContext, settings: LoadSettings
    ) -> tuple[DeviceMemory, ...]:
        """The memory that a model loaded with these settings holds, per device.

        As exact as a plan: the planned size if it agrees with llama.cpp's allocation log, to 0.01 MiB a buffer;
        otherwise the logged size.
        """
        file = self._file(model.path)
        devices = planning.memory_devices(self._ggml.devices())
        load, report = read_load(model.load_log), read_context(context.load_log)
        placement = self._placement(file, settings, load, report, devices)
        planned = planning.memory(placement, devices)
        return tuple(planning.confirmed(memory, load, report, devices) for _, memory in planned)

    def close(self) -> None:
        """Free the models kept between plans."""
        while self._models:
            self._models.popitem()[1].native.close()

    def _checked(self, file: ModelFile, settings: LoadSettings) -> tuple[LoadSettings, tuple[Notice, ...]]:
        settings, notices = check_load(file.info, settings)
        if self._without_extra_bufts:
            settings = dataclasses.replace(settings, use_extra_bufts=False)
        return settings, notices

    def _fitting_layers(self, file: ModelFile, settings: LoadSettings, devices: Sequence[Device]) -> int:
        if not any(device.is_gpu for device in devices):
            return 0

        def measured(n_layers: int | GpuLayers) -> MemoryPlan:
            return self._measured(file, dataclasses.replace(settings, n_gpu_layers=n_layers), devices)

        whole = measured(GpuLayers.ALL)
        if fits_with_margin(whole):
            return whole.n_gpu_layers
        return most_that_fits(whole.n_gpu_layers - 1, lambda n_layers: fits_with_margin(measured(n_layers)))

    def _measured(
        self,
        file: ModelFile,
        settings: LoadSettings,
        devices: Sequence[Device],
        policy: PolicySettings | None = None,
    ) -> MemoryPlan:
        info = file.info
        ram.require_countable(info, settings)
        model = self._model(file, settings)
        context = NativeContext(model.native, settings, self._log)
        try:
            report = read_context(context.load_log)
            traits = context.traits
        finally:
            context.close()
        if policy is not None:
            window.check_policy(policy, traits.kind, min(traits.n_cells, traits.n_positions))
        placement = self._placement(file, settings, model.report, report, devices)
        memory = planning.memory(placement, devices)
        flash_compute = None if report.flash_attn else self._compute_with_flash_attention(model.native, settings)
        return MemoryPlan(
            n_ctx=report.n_ctx,
            n_gpu_layers=sum(device != planning.HOST for device in model.report.layer_devices),
            kv_bytes_k=placement.kv_k,
            kv_bytes_v=placement.kv_v,
            can_shift=traits.can_shift,
            flash_attn=report.flash_attn,
            devices=tuple(device_plan(device, used) for device, used in memory),
            warnings=plan_warnings.of_plan(
                info, settings, report, memory, self._ggml.flash_attention_pairs, flash_compute
            ),
            refusals=refusals(info, settings, traits.kind),
            types_must_match=types_must_match(info),
        )

    def _compute_with_flash_attention(self, model: NativeModel, settings: LoadSettings) -> int | None:
        """Bytes of all compute buffers with flash attention; None if it is impossible."""
        try:
            settings = dataclasses.replace(settings, flash_attn=FlashAttention.ON)
            with contextlib.closing(NativeContext(model, settings, self._log)) as context:
                report = read_context(context.load_log)
        except EngineError:
            return None
        return sum(buffer.n_bytes for buffer in report.compute_buffers) if report.flash_attn else None

    def _placement(
        self,
        file: ModelFile,
        settings: LoadSettings,
        load: LoadReport,
        report: ContextReport,
        devices: Sequence[Device],
    ) -> planning.Placement:
        placement = planning.place(file.info, settings, report, devices)
        planning.place_weights(placement, self._weights(file, load), load)
        return placement

    def _weights(self, file: ModelFile, load: LoadReport) -> planning.Weights:
        """The tensors, and whether the CPU repacks a token embedding that is also the output layer."""
        embedding = next((t for t in file.tensors if t.name == planning.EMBEDDING and len(t.shape) == 2), None)
        used = {buffer.name for buffer in load.model_buffers}
        if embedding is None:
            return planning.Weights(file.tensors, is_embedding_repacked=False)
        number = next(number for number, kind in ggml.TYPES.items() if kind == embedding.type)
        repacking = self._ggml.repacking_buffers(number, *embedding.shape) if len(used) > 1 else ()
        return planning.Weights(file.tensors, is_embedding_repacked=not used.isdisjoint(repacking))

    def _file(self, path: Path) -> ModelFile:
        try:
            status = path.stat()
        except OSError:
            # The header reader raises the error for a bad path.
            read_model_info(path)
            raise
        state = _FileState(path, status.st_size, status.st_mtime_ns)
        if state not in self._files:
            info = read_model_info(path)
            require_chat_model(info)
            tensors = tuple(tensor for _, header in read_shards(path) for tensor in header.tensors)
            for other in [one for one in self._files if one.path == path]:
                self._forget(other)
            self._files[state] = ModelFile(info, tensors)
            while len(self._files) > FILES_KEPT:
                self._forget(next(iter(self._files)))
        self._files.move_to_end(state)
        return self._files[state]

    def _forget(self, state: _FileState) -> None:
        file = self._files.pop(state)
        for key in [one for one in self._models if one[0] == file.info.path]:
            self._models.pop(key).native.close()

    def _model(self, file: ModelFile, settings: LoadSettings) -> _ModelWithoutMemory:
        key = (
            file.info.path,
            settings.n_gpu_layers,
            settings.main_gpu,
            settings.split_mode,
            settings.tensor_split,
            settings.use_extra_bufts,
        )
        if key in self._models:
            self._models.move_to_end(key)
            return self._models[key]
        native = NativeModel(file.info.path, settings, self._log, no_alloc=True)
        self._models[key] = model = _ModelWithoutMemory(native, read_load(native.load_log))
        while len(self._models) > MODELS_KEPT:
            self._models.popitem(last=False)[1].native.close()
        return model


def free_devices(devices: Sequence[Device], given_back: Sequence[DeviceMemory]) -> tuple[Device, ...]:
    """The devices with their free memory at the time of the load, ``given_back`` included.

    Weights in RAM are mostly memory-mapped file pages, which count as free already.
    """
    host_free = available_ram_bytes()
    returned = {memory.name: memory for memory in given_back}
    result = []
    for device in planning.memory_devices(devices):
        free = host_free if device.is_ram else device.free_bytes
        if (memory := returned.get(device.name)) is not None:
            free += memory.held_bytes - (memory.weights_bytes if device.is_ram else 0)
        result.append(dataclasses.replace(device, free_bytes=min(free, device.total_bytes)))
    return tuple(result)


def device_plan(device: Device, memory: DeviceMemory) -> DevicePlan:
    return DevicePlan(**vars(memory), free_bytes=device.free_bytes, total_bytes=device.total_bytes)


def fits_with_margin(plan: MemoryPlan) -> bool:
    """Whether every GPU keeps its margin free; RAM is not checked, since it must take what the GPUs don't."""
    return all(
        device.held_bytes + autofit.margin_bytes(device.total_bytes) <= device.free_bytes
        for device in plan.devices
        if device.name != planning.HOST
    )


def most_that_fits(n_most: int, fits: Callable[[int], bool]) -> int:
    """Binary search for the largest number from 0 to ``n_most`` that fits; ``fits`` is monotonic, 0 always fits."""
    low, high = 0, n_most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low

"""Derives exact bytes per device from llama.cpp's log of a load.

llama.cpp's log rounds to 0.01 MiB, so cells, layers and devices are taken from it, and bytes from the header and the
geometry; if the two disagree by more than the rounding, the log's figure is used.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from engine.api.messages import Device, DeviceMemory
from engine.api.settings import LoadSettings
from engine.models import geometry
from engine.models.gguf import ModelInfo
from engine.models.header import TensorInfo
from engine.native.report import Buffer, ContextReport, KvCache, LoadReport, RecurrentState, is_same_size

HOST = "CPU"
"""ggml's name of the device whose memory is this machine's RAM."""

_INPUT_TENSORS = frozenset(
    {"token_embd.weight", "position_embd.weight", "token_types.weight", "per_layer_token_embd.weight"}
)
_OUTPUT_TENSORS = re.compile(r"(output|cls|dense_|dec\.output|enc\.output|hc_head|altup_)")
_LAYER_TENSOR = re.compile(r"blk\.(\d+)\.")
_ROPE_TENSOR = re.compile(r"rope_(freqs|factors)")
EMBEDDING, _OUTPUT = "token_embd.weight", "output.weight"
_MAPPED = "_Mapped"


@dataclass(frozen=True)
class Weights:
    """All tensors of a model, and whether its output layer repacks the token embedding, which is duplicated then."""

    tensors: tuple[TensorInfo, ...]
    is_embedding_repacked: bool


@dataclass
class Placement:
    """Bytes per device, which are added on first use. ``kv_k`` and ``kv_v`` are sums over all devices."""

    kv_k: int = 0
    kv_v: int = 0
    _devices: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, device: str, **n_bytes: int) -> None:
        """Add bytes on a device; the names are those of `DeviceMemory`."""
        self._devices[device].update(n_bytes)

    def on(self, device: str) -> DeviceMemory:
        """The bytes on a device."""
        parts = (part.name for part in fields(DeviceMemory)[1:])
        return DeviceMemory(device, **{part: self._devices[device][part] for part in parts})


def memory(placement: Placement, devices: Sequence[Device]) -> tuple[tuple[Device, DeviceMemory], ...]:
    """The bytes on each of these devices."""
    return tuple((device, placement.on(device.name)) for device in devices)


def memory_devices(devices: Sequence[Device]) -> tuple[Device, ...]:
    """The devices that have memory; accelerators such as BLAS use the CPU's."""
    return tuple(device for device in devices if device.is_gpu or device.is_ram)


def place(info: ModelInfo, settings: LoadSettings, context: ContextReport, devices: Sequence[Device]) -> Placement:
    """The bytes of K and V, recurrent state, compute and output buffers per device.

    KV is exact to the byte wherever the geometry of the architecture is known; compute and output buffers are as exact
    as the log, 0.01 MiB each. Weights are added by `place_weights`.
    """
    placement = Placement()
    for cache in context.caches:
        _place_cache(placement, info, settings, cache, context.is_v_padded)
    for state in context.recurrent:
        _place_state(placement, info, state)
    for buffer in context.compute_buffers:
        placement.add(buffer_device(buffer, devices), compute_bytes=buffer.n_bytes)
    for buffer in context.output_buffers:
        placement.add(buffer_device(buffer, devices), output_bytes=buffer.n_bytes)
    return placement


def place_weights(placement: Placement, weights: Weights, load: LoadReport) -> None:
    """Add the weights to their devices, exact to the byte.

    With tied embeddings the token embedding is also the output layer; it is duplicated if the two are on different
    devices or it is repacked. RoPE factors are on every device that has layers.
    """
    # If the log names no devices, everything is in RAM.
    *layers, output = load.layer_devices or (HOST,)
    first = layers[0] if layers else HOST
    names = {tensor.name for tensor in weights.tensors}
    for tensor in weights.tensors:
        if tensor.name in load.unused_tensors:
            continue
        if match := _LAYER_TENSOR.match(tensor.name):
            homes = [layers[int(match[1])] if int(match[1]) < len(layers) else HOST]
        elif tensor.name in _INPUT_TENSORS:
            homes = [HOST]
        elif _ROPE_TENSOR.match(tensor.name):
            homes = sorted(set(layers)) or [HOST]
        elif _OUTPUT_TENSORS.match(tensor.name):
            homes = [output]
        else:
            homes = [first]
        if tensor.name == EMBEDDING and _OUTPUT not in names and (output != HOST or weights.is_embedding_repacked):
            homes.append(output)
        for home in homes:
            placement.add(home, weights_bytes=tensor.n_bytes)


def confirmed(
    planned: DeviceMemory, load: LoadReport, context: ContextReport, devices: Sequence[Device]
) -> DeviceMemory:
    """The memory that a finished load holds on a device.

    The planned bytes if the buffer sizes in llama.cpp's log agree with them, otherwise the sizes in the log.

    A memory-mapped file counts with its used part: its buffer spans from the first to the last tensor in it, including
    tensors that were copied elsewhere.
    """

    def logged(buffers: Sequence[Buffer]) -> list[int]:
        return [buffer.n_bytes for buffer in buffers if buffer_device(buffer, devices) == planned.name]

    copied = logged([buffer for buffer in load.model_buffers if not buffer.name.endswith(_MAPPED)])
    mapped = logged([buffer for buffer in load.model_buffers if buffer.name.endswith(_MAPPED)])
    n_mapped = min(sum(mapped), max(0, planned.weights_bytes - sum(copied)))
    return DeviceMemory(
        name=planned.name,
        weights_bytes=_planned_or_logged(planned.weights_bytes, [*copied, n_mapped]),
        kv_bytes=_planned_or_logged(planned.kv_bytes, logged(context.kv_buffers)),
        recurrent_bytes=_planned_or_logged(planned.recurrent_bytes, logged(context.recurrent_buffers)),
        compute_bytes=_planned_or_logged(planned.compute_bytes, logged(context.compute_buffers)),
        output_bytes=_planned_or_logged(planned.output_bytes, logged(context.output_buffers)),
    )


def _planned_or_logged(planned: int, logged: Sequence[int]) -> int:
    return planned if is_same_size(planned, sum(logged), n_numbers=len(logged)) else sum(logged)


def buffer_device(buffer: Buffer, devices: Sequence[Device]) -> str:
    """The device whose memory a buffer occupies: a GPU's host buffers are in RAM."""
    for device in devices:
        if device.is_gpu and re.match(re.escape(device.name) + r"($|\[|_)", buffer.name):
            return device.name
    return HOST


def _place_cache(
    placement: Placement, info: ModelInfo, settings: LoadSettings, cache: KvCache, is_v_padded: bool
) -> None:
    shapes = [info.layers[layer] if layer < info.n_layer else None for layer, _ in cache.layers]
    k = [
        cache.n_cells * geometry.bytes_per_row(settings.type_k, shape.row_k) if shape is not None else 0
        for shape in shapes
    ]
    v = [
        cache.n_cells * geometry.bytes_per_row(settings.type_v, geometry.row_v(info, shape, not is_v_padded))
        if shape is not None
        else 0
        for shape in shapes
    ]
    k, v = _as_logged(k, cache.k_bytes), _as_logged(v, cache.v_bytes)
    for (_, device), k_bytes, v_bytes in zip(cache.layers, k, v, strict=True):
        placement.add(device, kv_bytes=k_bytes + v_bytes)
    placement.kv_k += sum(k)
    placement.kv_v += sum(v)


def _place_state(placement: Placement, info: ModelInfo, state: RecurrentState) -> None:
    sizes = [
        state.n_cells * geometry.STATE_BYTES * info.layers[layer].state_size if layer < info.n_layer else 0
        for layer, _ in state.layers
    ]
    for (_, device), n_bytes in zip(state.layers, _as_logged(sizes, state.n_bytes), strict=True):
        placement.add(device, recurrent_bytes=n_bytes)


def _as_logged(per_layer: list[int], logged: int) -> list[int]:
    """The layers' bytes; if their sum disagrees with the logged one, the logged sum spread over the layers."""
    if is_same_size(sum(per_layer), logged) or not per_layer:
        return per_layer
    share, rest = divmod(logged, len(per_layer))
    return [share + rest, *[share] * (len(per_layer) - 1)]

"""Parses llama.cpp's log of a load; unknown lines are skipped.

Sizes in the log are rounded to 0.01 MiB. The log is never used to classify errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Buffer:
    """Memory of one buffer type, such as "CPU", "CUDA0", "Vulkan_Host" or "RPC0[host:port]", as the log rounds it."""

    name: str
    n_bytes: int


@dataclass(frozen=True)
class LoadReport:
    """The placement of a model. ``layer_devices``: layer -> device, the output layer last.

    ``model_buffers`` have 0 bytes if nothing was allocated; ``unused_tensors``: names of weights that are not loaded.
    """

    layer_devices: tuple[str, ...]
    model_buffers: tuple[Buffer, ...]
    unused_tensors: frozenset[str]


@dataclass(frozen=True)
class KvCache:
    """One KV cache (models with a sliding window have two). ``layers`` are pairs of layer and device.

    ``k_bytes`` and ``v_bytes`` are as rounded by the log.
    """

    n_cells: int
    layers: tuple[tuple[int, str], ...]
    k_bytes: int
    v_bytes: int


@dataclass(frozen=True)
class RecurrentState:
    """The recurrent state, one cell for each sequence; ``layers`` are pairs of layer and device."""

    n_cells: int
    layers: tuple[tuple[int, str], ...]
    n_bytes: int


@dataclass(frozen=True)
class ContextReport:
    """A created context; ``n_ctx`` is the effective number of cells.

    ``flash_attn``: the effective value, whatever was requested; ``device_mismatch``: it is off because some layer's
    device doesn't support it. ``is_v_padded``: V has the widest layer's rows in all layers.
    """

    n_ctx: int
    n_batch: int
    n_ubatch: int
    flash_attn: bool
    is_v_padded: bool
    has_rotated_k: bool
    has_rotated_v: bool
    caches: tuple[KvCache, ...]
    recurrent: tuple[RecurrentState, ...]
    kv_buffers: tuple[Buffer, ...]
    recurrent_buffers: tuple[Buffer, ...]
    compute_buffers: tuple[Buffer, ...]
    output_buffers: tuple[Buffer, ...]
    device_mismatch: bool


_SIZE = r"\s*(\d+\.\d+) MiB"
_LAYER_PLACED = re.compile(r"layer\s+(\d+) assigned to device (.+), is_swa")
_UNUSED = re.compile(r"model has unused tensor (\S+) \(size")
_BUFFER = re.compile(r"^\w+:\s+(\S.*?)\s+(model|KV|RS|compute|output) buffer size =\s*(\d+\.\d+) MiB")
_CACHE_LAYER = re.compile(r"^(\w+)[:,] layer\s+(\d+): dev = (.+)$")
_KV_SIZE = re.compile(rf"size ={_SIZE} \(\s*(\d+) cells,\s*(\d+) layers,.*K \(\S+\):{_SIZE}, V \(\S+\):{_SIZE}")
_RECURRENT_SIZE = re.compile(rf"size ={_SIZE} \(\s*(\d+) cells,\s*(\d+) layers,.*R \(\S+\):")
_FIELD = re.compile(r"^llama_context: (n_ctx|n_batch|n_ubatch|flash_attn)\s+= (\w+)$")
_ROTATED = re.compile(r"attn_rot_([kv]) = (\d)")
_FLASH_ENDED = re.compile(r"Flash Attention (enabled|not supported)")
_MISMATCH = re.compile(r"layer \d+ is assigned to device .+ but Flash Attention is assigned")


def is_same_size(n_bytes: int, logged: int, *, n_numbers: int = 1) -> bool:
    """Whether ``logged``, a sum of ``n_numbers`` rounded numbers in the log, is consistent with ``n_bytes``.

    Each is off by at most half of its last digit, plus the rounding of the float behind it.
    """
    return abs(n_bytes - logged) <= 0.00501 * MIB * n_numbers + logged / 2**23


def read_load(lines: Iterable[str]) -> LoadReport:
    """Parse the log of a model's load, debug lines included."""
    placed: dict[int, str] = {}
    buffers: list[Buffer] = []
    unused: set[str] = set()
    for line in lines:
        if match := _LAYER_PLACED.search(line):
            placed[int(match[1])] = match[2]
        elif " MiB" in line and (buffer := _buffer(line)) and buffer[0] == "model":
            buffers.append(buffer[1])
        elif match := _UNUSED.search(line):
            unused.add(match[1])
    devices = tuple(device for _, device in sorted(placed.items()))
    return LoadReport(devices, tuple(buffers), frozenset(unused))


def read_context(lines: Iterable[str]) -> ContextReport:
    """Parse the log of a context's creation, debug lines included."""
    reader = _ContextReader()
    for line in lines:
        reader.read(line)
    return reader.report()


def _bytes(mib: str) -> int:
    return round(float(mib) * MIB)


def _buffer(line: str) -> tuple[str, Buffer] | None:
    match = _BUFFER.search(line)
    return (match[2], Buffer(match[1], _bytes(match[3]))) if match else None


class _ContextReader:
    """Stateful, since layers are logged before the size of the cache that they belong to."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}
        self._layers: list[tuple[int, str]] = []
        self._caches: list[KvCache] = []
        self._recurrent: list[RecurrentState] = []
        self._buffers: dict[str, list[Buffer]] = {kind: [] for kind in ("KV", "RS", "compute", "output")}
        self._rotated: set[str] = set()
        self._flash_attn: bool | None = None
        self._is_v_padded = False
        self._mismatch = False

    def read(self, line: str) -> None:
        # A context logs thousands of lines: a cheap substring test first, a regular expression only if it may match.
        if " MiB" in line:
            self._read_size(line)
        elif " dev = " in line:
            if match := _CACHE_LAYER.search(line):
                self._layers.append((int(match[2]), match[3]))
        elif "attn" in line or "Attention" in line:
            self._read_attention(line)
        elif "padding V cache" in line:
            self._is_v_padded = True
        if "llama_context: " in line and (match := _FIELD.search(line)):
            self._fields[match[1]] = match[2]

    def _read_size(self, line: str) -> None:
        if match := _KV_SIZE.search(line):
            layers = self._take_layers()
            self._caches.append(KvCache(int(match[2]), layers, _bytes(match[4]), _bytes(match[5])))
        elif match := _RECURRENT_SIZE.search(line):
            self._recurrent.append(RecurrentState(int(match[2]), self._take_layers(), _bytes(match[1])))
        elif buffer := _buffer(line):
            self._buffers.get(buffer[0], []).append(buffer[1])

    def _read_attention(self, line: str) -> None:
        if (match := _ROTATED.search(line)) and match[2] == "1":
            self._rotated.add(match[1])
        elif match := _FLASH_ENDED.search(line):
            self._flash_attn = match[1] == "enabled"
        elif _MISMATCH.search(line):
            self._mismatch = True

    def _take_layers(self) -> tuple[tuple[int, str], ...]:
        layers, self._layers = tuple(self._layers), []
        return layers

    def report(self) -> ContextReport:
        asked_on = self._fields.get("flash_attn") == "enabled"
        return ContextReport(
            n_ctx=int(self._fields.get("n_ctx", 0)),
            n_batch=int(self._fields.get("n_batch", 0)),
            n_ubatch=int(self._fields.get("n_ubatch", 0)),
            flash_attn=asked_on if self._flash_attn is None else self._flash_attn,
            is_v_padded=self._is_v_padded,
            has_rotated_k="k" in self._rotated,
            has_rotated_v="v" in self._rotated,
            caches=tuple(self._caches),
            recurrent=tuple(self._recurrent),
            kv_buffers=tuple(self._buffers["KV"]),
            recurrent_buffers=tuple(self._buffers["RS"]),
            compute_buffers=tuple(self._buffers["compute"]),
            output_buffers=tuple(self._buffers["output"]),
            device_mismatch=self._mismatch,
        )

"""Plain values that the engine reports: devices, the loaded model, cache usage, request statistics."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.api.settings import LoadSettings

BACKENDS_WITHOUT_GPU = frozenset({"CPU", "RPC", "BLAS"})
"""Back ends that compute on no GPU of this computer."""


MAX_MEMORY_BYTES = 1 << 50
"""An upper bound for plausible memory sizes: drivers report unknown sizes with all bits set."""


def known_memory(total: object, part: object) -> tuple[int, int] | None:
    """``total`` and ``part`` in bytes as a driver reports them; None if the values are implausible."""
    if not (isinstance(total, int) and isinstance(part, int)):
        return None
    if not (0 <= total <= MAX_MEMORY_BYTES and 0 <= part <= MAX_MEMORY_BYTES):
        return None
    return int(total), min(int(part), int(total))


@dataclass(frozen=True)
class Device:
    """A device that can hold weights and KV, as llama.cpp lists it. Bytes; ``kind``: "cpu", "gpu", "igpu" or "accel".

    ``bus_id`` is the PCI address, such as "0000:c1:00.0"; None if the back end doesn't report it.
    """

    name: str
    description: str
    kind: str
    backend: str
    free_bytes: int
    total_bytes: int
    bus_id: str | None = None

    @property
    def is_gpu(self) -> bool:
        """Whether layers can be offloaded to it; an integrated GPU counts."""
        return self.kind in ("gpu", "igpu")

    @property
    def has_own_memory(self) -> bool:
        """Whether its memory is separate from this machine's RAM; an integrated GPU shares it."""
        return self.kind == "gpu"

    @property
    def is_ram(self) -> bool:
        """Whether it is the CPU, whose memory is this machine's RAM."""
        return self.kind == "cpu"


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes that a load puts, or has put, on one device."""

    name: str
    weights_bytes: int
    kv_bytes: int
    recurrent_bytes: int
    compute_bytes: int
    output_bytes: int

    @property
    def held_bytes(self) -> int:
        """The sum of all parts, in bytes."""
        return self.weights_bytes + self.kv_bytes + self.recurrent_bytes + self.compute_bytes + self.output_bytes


@dataclass(frozen=True)
class KvTerm:
    """A group of equal layers: each stores ``n_head`` heads of K and V in each of its ``n_cells`` cells.

    Sizes are in elements; ``head_size_v`` is 0 where V is derived from K (MLA).
    """

    n_layer: int
    n_head: int
    head_size_k: int
    head_size_v: int
    n_cells: int


@dataclass(frozen=True)
class KvFormula:
    """The formula for the bytes of one token in the cache: the sum over ``terms`` of
    n_layer × n_head × (head_size_k × element_bytes_k + head_size_v × element_bytes_v).

    ``attention`` is "mha", "gqa", "mqa", "mla" or "none". ``f16_bytes_per_token``: with f16 for K and V;
    ``mha_bytes_per_token``: these types, if every query head had its own K and V; ``mha_f16_bytes_per_token``: both.
    """

    attention: str
    terms: tuple[KvTerm, ...]
    element_bytes_k: float
    element_bytes_v: float
    bytes_per_token: int
    f16_bytes_per_token: int
    mha_bytes_per_token: int
    mha_f16_bytes_per_token: int


@dataclass(frozen=True)
class ModelFacts:
    """The loaded model and its context, as llama.cpp created them.

    ``settings`` are the effective ones, with automatic values filled in; ``load_ms`` is the load time.
    ``kv_k_bytes`` and ``kv_v_bytes`` are planned sizes, the bytes in ``devices`` are allocated ones. ``rope_stretch``:
    the longest usable context as a multiple of the trained length.
    """

    path: str
    name: str
    architecture: str
    quantization: str
    n_params: int
    size_bytes: int
    n_layer: int
    n_layer_gpu: int
    n_ctx: int
    n_ctx_train: int
    n_batch: int
    n_ubatch: int
    type_k: str
    type_v: str
    flash_attn: bool
    kv_bytes_per_token: float
    kv_k_bytes: int
    kv_v_bytes: int
    policies: tuple[str, ...]
    default_policy: str
    devices: tuple[DeviceMemory, ...]
    kv_formula: KvFormula | None = None
    settings: LoadSettings = LoadSettings()
    load_ms: float | None = None
    rope_stretch: float = 1.0

    @property
    def n_ctx_reach(self) -> int:
        """The longest context in tokens that RoPE positions support; 0 if the file doesn't say."""
        return round(self.n_ctx_train * self.rope_stretch)


class SpanState(StrEnum):
    """The state of a run of tokens of the sequence."""

    CACHED = "cached"
    EVICTED = "evicted"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Span:
    """A run of tokens ``[start, end)`` of the sequence that share a turn and a state.

    ``message_index`` points into the messages of the request (None: template tokens that belong to no message);
    ``is_sink`` marks tokens that are never evicted. ``first_position`` is that of the token at ``start``, the next
    ones follow it; None for tokens without cells.
    """

    start: int
    end: int
    state: SpanState
    role: str
    message_index: int | None
    is_sink: bool
    first_position: int | None = None


@dataclass(frozen=True)
class CacheUsage:
    """Current cache usage. ``n_cells`` = used + free; tokens and cells are the same unit, ``*_bytes`` are bytes.

    The first ``n_reused`` tokens of the sequence were there before the request. ``tokens_per_second``: the current
    decode speed; None while no answer is generated.
    """

    chat_id: str
    n_cells: int
    n_used: int
    n_sink: int
    n_window: int
    n_evicted: int
    n_skipped: int
    n_reused: int
    n_until_eviction: int | None
    n_renumbered: int
    n_recomputed: int
    next_position: int
    used_bytes: int
    allocated_bytes: int
    spans: tuple[Span, ...]
    tokens_per_second: float | None = None


class Tier(StrEnum):
    """The storage tier of a chat's cached state: the context, RAM, or disk."""

    ACTIVE = "active"
    RAM = "ram"
    DISK = "disk"


@dataclass(frozen=True)
class ChatTier:
    """A chat with cached state in a tier: its bytes there and its number of cached tokens.

    ``is_stored``: all of it is also on disk, so it outlives the engine process.
    """

    chat_id: str
    tier: Tier
    n_bytes: int
    n_tokens: int
    is_stored: bool


@dataclass(frozen=True)
class GenerationStats:
    """Statistics of one request, in tokens, milliseconds and tokens per second.

    ``n_prompt`` = ``n_reused`` + ``n_skipped`` + ``n_fed``: already in the sequence (evicted or not), never fed, and
    evaluated by this request. ``n_fed`` includes the last token sampled by the previous request, which is evaluated
    only now. ``read_tps`` is the prefill speed of the last prompt long enough to measure; ``reuse_saved_ms`` is the
    prefill time saved at that speed by reused tokens that still have cells. None: not measured yet.
    ``ttft_ms``: from the request to the first token of the answer; None where it has none.
    """

    n_prompt: int
    n_reused: int
    n_skipped: int
    n_fed: int
    n_generated: int
    n_evicted: int
    n_recomputed: int
    prefill_tps: float
    decode_tps: float
    ttft_ms: float | None
    seed: int
    read_tps: float | None = None
    reuse_saved_ms: float | None = None

    @classmethod
    def nothing(cls, seed: int) -> GenerationStats:
        """Statistics of a request that was cancelled while it was queued."""
        return cls(0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, None, seed)

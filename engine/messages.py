"""What crosses the pipe between a client and the engine process: commands in the imperative, events in the past tense.

Everything here is a frozen dataclass of plain values, so it pickles, compares and prints. Each ``Generate`` is answered
by exactly one of ``Finished``, ``Failed`` and ``EngineLost``; ``Rejected`` answers nothing else.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.cache.plan import MemoryPlan
from engine.errors import ErrorCode
from engine.settings import LoadSettings, PolicySettings, SamplingSettings
from engine.text.chat import Message as Message  # noqa: PLC0414 - part of what crosses the pipe


@dataclass(frozen=True)
class Command:
    """Something a client asks of the engine."""


@dataclass(frozen=True)
class LoadModel(Command):
    """Load a GGUF file, in place of the model loaded before; answered by ModelLoaded or Failed(request_id)."""

    request_id: int
    path: str
    settings: LoadSettings = LoadSettings()


@dataclass(frozen=True)
class PlanMemory(Command):
    """What a load would take; answered by MemoryPlanned or Failed, unless a newer question comes before the answer.

    ``given_back``: what the model loaded now holds, and gives back before the load asked about.
    """

    request_id: int
    path: str
    settings: LoadSettings = LoadSettings()
    given_back: tuple[DeviceMemory, ...] = ()


@dataclass(frozen=True)
class Generate(Command):
    """Answer a chat. ``messages`` is the whole chat; what the cache already holds of it is not evaluated again."""

    request_id: int
    chat_id: str
    messages: tuple[Message, ...]
    sampling: SamplingSettings = SamplingSettings()
    policy: PolicySettings = PolicySettings()
    stop: tuple[str, ...] = ()
    continue_last: bool = False


@dataclass(frozen=True)
class CountTokens(Command):
    """How many tokens a chat would be, with ``draft`` as its next user message; answered by TokensCounted or Failed."""

    request_id: int
    messages: tuple[Message, ...]
    draft: str


@dataclass(frozen=True)
class Cancel(Command):
    """Stop a request: the one running, one still waiting, or a load. Unknown ids are ignored."""

    request_id: int


@dataclass(frozen=True)
class ForgetChat(Command):
    """Free the cells of a chat."""

    chat_id: str


@dataclass(frozen=True)
class Shutdown(Command):
    """End the process; all memory goes back."""


@dataclass(frozen=True)
class Device:
    """A place where weights and KV can lie, as llama.cpp sees it. Bytes; ``kind`` is "cpu", "gpu", "igpu" or "accel"."""

    name: str
    description: str
    kind: str
    backend: str
    free_bytes: int
    total_bytes: int


class LoadStage(StrEnum):
    READING = "reading"
    WEIGHTS = "weights"
    CONTEXT = "context"
    WARM_UP = "warm_up"


class FinishReason(StrEnum):
    """Why an answer ended."""

    END_OF_TURN = "end_of_turn"
    STOP_STRING = "stop_string"
    MAX_TOKENS = "max_tokens"
    CACHE_FULL = "cache_full"
    CANCELLED = "cancelled"


class TextKind(StrEnum):
    ANSWER = "answer"
    REASONING = "reasoning"


class SpanState(StrEnum):
    """What became of a run of tokens of the sequence."""

    CACHED = "cached"
    EVICTED = "evicted"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Span:
    """A run of tokens ``[start, end)`` of the sequence that share a turn and a state.

    ``message_index`` points into the messages of the request (None: template tokens that belong to no message);
    ``is_sink`` marks tokens that are never evicted.
    """

    start: int
    end: int
    state: SpanState
    role: str
    message_index: int | None
    is_sink: bool


@dataclass(frozen=True)
class CacheUsage:
    """The cache as it is. ``n_cells`` = used + free; tokens and cells are the same unit, ``*_bytes`` are bytes."""

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


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes that a load put on one device."""

    device: str
    weights_bytes: int
    kv_bytes: int
    recurrent_bytes: int
    compute_bytes: int
    output_bytes: int


@dataclass(frozen=True)
class ModelFacts:
    """The loaded model and the context it runs in, as llama.cpp made them."""

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


@dataclass(frozen=True)
class GenerationStats:
    """What a request cost, in tokens, milliseconds and tokens per second.

    ``n_prompt`` = ``n_reused`` + ``n_skipped`` + ``n_fed``: the sequence had it already (evicted or not), it never needs
    to be fed, it was evaluated. ``n_fed`` counts the last token sampled before, whose evaluation this request pays.
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
    ttft_ms: float
    seed: int


class NoticeCode(StrEnum):
    """Things done differently from what was asked, told once."""

    CPU_FALLBACK = "cpu_fallback"
    SETTING_ADJUSTED = "setting_adjusted"
    TEMPLATE = "template"
    CACHE = "cache"
    CPU_ONLY = "cpu_only"
    BACKEND_UNUSABLE = "backend_unusable"
    ENGINE_RESTARTED = "engine_restarted"


@dataclass(frozen=True)
class Event:
    """Something that happened in the engine (or, for EngineLost, to it)."""

    def to_json(self) -> dict[str, Any]:
        """JSON-ready, with the event's name under "event"."""
        plain = {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}
        return {"event": type(self).__name__, **plain}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


@dataclass(frozen=True)
class EngineReady(Event):
    """The process is up. ``versions`` by library; ``backends`` as loaded; a CPU-only build has no GPU in ``devices``."""

    versions: dict[str, str]
    backends: tuple[str, ...]
    devices: tuple[Device, ...]
    cpu_variant: str
    cpu_variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class LoadProgress(Event):
    """``fraction`` of the stage, 0 to 1."""

    request_id: int
    stage: LoadStage
    fraction: float


@dataclass(frozen=True)
class ModelLoaded(Event):
    request_id: int
    facts: ModelFacts


@dataclass(frozen=True)
class LoadCancelled(Event):
    """A load was stopped; no model is loaded now."""

    request_id: int


@dataclass(frozen=True)
class ModelUnloaded(Event):
    """The engine holds no model any more; its process has ended and its memory is free."""


@dataclass(frozen=True)
class Notice(Event):
    """A sentence the person should read once; ``detail`` for the log."""

    code: NoticeCode
    message: str
    detail: str = ""


@dataclass(frozen=True)
class RenderStarted(Event):
    """The chat template (untrusted code) is about to run; the next event of the request says it ended."""

    request_id: int


@dataclass(frozen=True)
class PrefillProgress(Event):
    """``n_done`` of ``n_total`` prompt tokens are in the cache, ``n_reused`` of them from before."""

    request_id: int
    n_done: int
    n_total: int
    n_reused: int


@dataclass(frozen=True)
class TextGenerated(Event):
    request_id: int
    kind: TextKind
    text: str


@dataclass(frozen=True)
class CacheChanged(Event):
    usage: CacheUsage


@dataclass(frozen=True)
class TokensCounted(Event):
    """``n_tokens`` of the whole chat with the draft, ``n_draft`` for the draft's turn alone, ``n_room`` for a newest message."""

    request_id: int
    n_tokens: int
    n_draft: int
    n_room: int


@dataclass(frozen=True)
class MemoryPlanned(Event):
    request_id: int
    plan: MemoryPlan


@dataclass(frozen=True)
class Finished(Event):
    """A request ended as it should, also by Stop. ``token_ids``: what was sampled, without the end-of-turn token."""

    request_id: int
    reason: FinishReason
    stats: GenerationStats
    text: str
    reasoning: str
    token_ids: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """The costs stand beside the rest, not one level down."""
        plain = super().to_json()
        return {**plain, **plain.pop("stats")}


@dataclass(frozen=True)
class Failed(Event):
    """A request could not be done; the engine lives on. ``request_id`` None: nothing in particular was asked."""

    request_id: int | None
    code: ErrorCode
    message: str
    detail: str = ""


class LossOutcome(StrEnum):
    """What the client did about a lost engine."""

    RESTARTED = "restarted"
    GAVE_UP = "gave_up"


@dataclass(frozen=True)
class EngineLost(Event):
    """The process died. ``exit_code`` as multiprocessing says it (negative: the signal); made by the client.

    ``request_ids``: what was under way and will not be answered otherwise.
    """

    exit_code: int | None
    outcome: LossOutcome
    code: ErrorCode
    message: str
    log_tail: str
    request_ids: tuple[int, ...]

"""The messages between a client and the engine process: commands (imperative names) and events (past tense).

Everything here is a frozen dataclass of plain values, so it pickles, compares and prints. Each ``Generate`` is answered
by exactly one of ``Finished``, ``Failed`` and ``EngineLost``; ``Rejected`` answers nothing else.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.api.chat import Message as Message
from engine.api.errors import ErrorCode
from engine.api.facts import BACKENDS_WITHOUT_GPU as BACKENDS_WITHOUT_GPU
from engine.api.facts import CacheUsage as CacheUsage
from engine.api.facts import ChatTier as ChatTier
from engine.api.facts import Device as Device
from engine.api.facts import DeviceMemory as DeviceMemory
from engine.api.facts import GenerationStats as GenerationStats
from engine.api.facts import KvFormula as KvFormula
from engine.api.facts import KvTerm as KvTerm
from engine.api.facts import ModelFacts as ModelFacts
from engine.api.facts import Span as Span
from engine.api.facts import SpanState as SpanState
from engine.api.facts import Tier as Tier
from engine.api.plan import Choice, Fit, MemoryPlan
from engine.api.sentences import Said, Sentence
from engine.api.settings import LoadSettings, PolicySettings, SamplingSettings, TierSettings


@dataclass(frozen=True)
class Command:
    """Base class of the requests that a client sends to the engine."""


@dataclass(frozen=True)
class LoadModel(Command):
    """Load a GGUF file, replacing the loaded model; answered by ModelLoaded, LoadCancelled or Failed(request_id)."""

    request_id: int
    path: str
    settings: LoadSettings = LoadSettings()


@dataclass(frozen=True)
class PlanQuestion(Command):
    """A question for the planner, which has its own process; answered by one PlanAnswer.

    ``given_back``: memory of the currently loaded model, which is freed before the load in question.
    """

    path: str
    settings: LoadSettings = LoadSettings()
    given_back: tuple[DeviceMemory, ...] = ()


@dataclass(frozen=True)
class PlanMemory(PlanQuestion):
    """Plan the memory of a load: MemoryPlanned. ``policy`` is checked against the cells of the planned context."""

    policy: PolicySettings = PolicySettings()


@dataclass(frozen=True)
class FindFit(PlanQuestion):
    """Find settings that fit into memory, with the fewest changes to these: FitFound."""


@dataclass(frozen=True)
class ChooseSettings(PlanQuestion):
    """Choose GPU layers, context and cache types for the free memory: SettingsChosen."""


@dataclass(frozen=True)
class Generate(Command):
    """Generate an answer. ``messages`` is the whole chat; the prefix that the cache holds is not evaluated again."""

    request_id: int
    chat_id: str
    messages: tuple[Message, ...]
    sampling: SamplingSettings = SamplingSettings()
    policy: PolicySettings = PolicySettings()
    stop: tuple[str, ...] = ()
    continue_last: bool = False


@dataclass(frozen=True)
class RestoreChat(Command):
    """Restore a chat's snapshot into the context; answered by ChatRestored or Failed.

    ``messages`` and ``continue_last`` as in Generate. With ``evaluate`` the rest of the chat is prefilled as for an
    answer; without it, and without a snapshot, the context stays as it is.
    """

    request_id: int
    chat_id: str
    messages: tuple[Message, ...]
    policy: PolicySettings = PolicySettings()
    continue_last: bool = False
    evaluate: bool = False


@dataclass(frozen=True)
class CountTokens(Command):
    """Count a chat's tokens with ``draft`` as its next user message; answered by TokensCounted or Failed."""

    request_id: int
    messages: tuple[Message, ...]
    draft: str


@dataclass(frozen=True)
class Cancel(Command):
    """Cancel a request: the running one, a queued one, or a load. Unknown ids are ignored."""

    request_id: int


@dataclass(frozen=True)
class ForgetChat(Command):
    """Free the cells of a chat, and delete its snapshots."""

    chat_id: str


@dataclass(frozen=True)
class ForgetOtherChats(Command):
    """Delete the snapshots of all chats but these: the others were deleted while no engine process was running."""

    chat_ids: tuple[str, ...]


@dataclass(frozen=True)
class ForgetAllChats(Command):
    """Free all cells, and delete the snapshots of every chat and model."""


@dataclass(frozen=True)
class SetTierBudgets(Command):
    """Set the budgets of the snapshot tiers from now on; snapshots beyond them are deleted."""

    settings: TierSettings


@dataclass(frozen=True)
class Shutdown(Command):
    """End the process, which frees all of its memory."""


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


class NoticeCode(StrEnum):
    """A way in which the engine deviated from what was asked, reported once."""

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
        return {"event": type(self).__name__, **_plain(self)}


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum | Sentence):
        return str(value)
    if isinstance(value, StrEnum | Sentence):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {"message" if name == "sentence" else name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


@dataclass(frozen=True)
class EngineReady(Event):
    """The process is ready. ``versions`` by library; ``backends`` as loaded; a CPU-only build lists no GPU.

    ``process_id`` is the operating system's id of the engine process; ``without_gpu``: GPU back ends were not loaded,
    because a driver hangs.
    """

    versions: dict[str, str]
    backends: tuple[str, ...]
    devices: tuple[Device, ...]
    cpu_variant: str
    cpu_variants: tuple[str, ...] = ()
    process_id: int | None = None
    without_gpu: bool = False


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
    """A load was cancelled; no model is loaded now."""

    request_id: int


@dataclass(frozen=True)
class ModelUnloaded(Event):
    """The model was unloaded: the engine process has ended and its memory is free."""


@dataclass(frozen=True)
class Notice(Said, Event):
    """A sentence for the person, shown once; ``detail`` is for the log."""

    code: NoticeCode
    sentence: Sentence
    detail: str = ""


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
class ChatTiersChanged(Event):
    """Every chat with cached state for the loaded model; all others are evaluated when they are opened."""

    tiers: tuple[ChatTier, ...]


@dataclass(frozen=True)
class ChatRestored(Event):
    """A RestoreChat was carried out or cancelled; a CacheChanged comes before it if the context's content changed.

    ``stats``: the request's statistics, if anything was evaluated.
    """

    request_id: int
    stats: GenerationStats | None = None


@dataclass(frozen=True)
class TokensCounted(Event):
    """``n_tokens`` of the chat with the draft, ``n_draft`` of the draft's turn; ``n_room`` for a newest message.

    ``is_estimate``: counting took too long or was interrupted.
    """

    request_id: int
    n_tokens: int
    n_draft: int
    n_room: int
    is_estimate: bool = False


@dataclass(frozen=True)
class MemoryPlanned(Event):
    plan: MemoryPlan


@dataclass(frozen=True)
class FitFound(Event):
    fit: Fit


@dataclass(frozen=True)
class SettingsChosen(Event):
    choice: Choice


@dataclass(frozen=True)
class Finished(Event):
    """A request ended normally or was cancelled. ``token_ids``: the sampled tokens, without the end-of-turn token."""

    request_id: int
    reason: FinishReason
    stats: GenerationStats
    text: str
    reasoning: str
    token_ids: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """As in the base class, with the statistics flattened into the top level."""
        plain = super().to_json()
        costs = plain.pop("stats")
        return {**plain, **costs}


@dataclass(frozen=True)
class Failed(Said, Event):
    """A request failed; the engine goes on. ``request_id`` None: the error belongs to no request."""

    request_id: int | None
    code: ErrorCode
    sentence: Sentence
    detail: str = ""


@dataclass(frozen=True)
class Superseded(Event):
    """A PlanQuestion was dropped: its asker has sent a newer one, or has withdrawn it."""


PlanAnswer = MemoryPlanned | FitFound | SettingsChosen | Failed | Superseded


class LossOutcome(StrEnum):
    """How the client reacted to a lost engine."""

    RESTARTED = "restarted"
    GAVE_UP = "gave_up"


@dataclass(frozen=True)
class EngineLost(Said, Event):
    """The process died; sent by the client. ``exit_code`` as in multiprocessing (negative: the signal).

    ``request_ids``: pending requests, which get no other answer. ``reload_id``: the load that the client starts by
    itself, if a model was loaded.
    """

    exit_code: int | None
    outcome: LossOutcome
    code: ErrorCode
    sentence: Sentence
    log_tail: str
    request_ids: tuple[int, ...]
    reload_id: int | None = None

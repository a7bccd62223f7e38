"""Suggested first models: well-known, permissively licensed, for machines of all sizes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.models.hub.remote import Reference, RemoteModel

if TYPE_CHECKING:
    from engine.models.hub.client import Hub

N_CTX = 4096
"""The context length, in tokens, for which memory needs are estimated."""
COMPUTE_SHARE = 10
"""A tenth more for compute and output buffers, as a guess: the exact plan is made from the file itself."""
SPARE_SHARE = 16
"""A sixteenth of the memory is left to other programs."""
CPU_BYTES_PER_S = 30e9
"""A guess at what the processor of a usual computer reads from its RAM; it reads all weights for every token."""
CPU_TOKENS_PER_S = 10
"""Slower ones are not suggested to somebody without a GPU for them: that is about what a person reads."""


class Purpose(StrEnum):
    """The main use of a model."""

    ANYWHERE = "anywhere"
    EVERYDAY = "everyday"
    ENGLISH = "english"
    REASONING = "reasoning"
    WRITING = "writing"
    EXACT = "exact"
    ALL_ROUND = "all_round"
    STRONGEST = "strongest"


@dataclass(frozen=True)
class Suggestion:
    """``size_bytes`` is the file's; ``kv_bytes_per_token``: bytes per token with f16 K and V."""

    repo: str
    quantization: str
    name: str
    size_bytes: int
    kv_bytes_per_token: int
    licence: str
    purpose: Purpose

    @property
    def needed_bytes(self) -> int:
        """The approximate memory of a load with N_CTX tokens, in bytes."""
        together = self.size_bytes + N_CTX * self.kv_bytes_per_token
        return together + together // COMPUTE_SHARE

    @property
    def cpu_tokens_per_s(self) -> float:
        """A rough estimate of its decode speed on a CPU."""
        return CPU_BYTES_PER_S / self.size_bytes


@dataclass(frozen=True)
class Suggested:
    """A suggestion for one machine: whether it fits the GPUs completely, and whether it fits at all."""

    model: Suggestion
    is_on_gpu: bool
    fits: bool


def _kv(n_layer: int, n_head_kv: int, head_size: int = 128) -> int:
    return 2 * n_layer * n_head_kv * head_size * 2


_QWEN_2_5, _QWEN_3, _BARTOWSKI = "Qwen/Qwen2.5-{}-Instruct-GGUF", "Qwen/Qwen3-{}-GGUF", "bartowski/{}-GGUF"
_Q4, _APACHE = "Q4_K_M", "apache-2.0"

SUGGESTIONS = (
    Suggestion(
        _QWEN_2_5.format("0.5B"), _Q4, "Qwen2.5 0.5B Instruct", 491_400_032, _kv(24, 2, 64), _APACHE, Purpose.ANYWHERE
    ),
    Suggestion(
        "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
        _Q4,
        "SmolLM2 1.7B Instruct",
        1_055_609_536,
        _kv(24, 32, 64),
        _APACHE,
        Purpose.ENGLISH,
    ),
    Suggestion(
        _QWEN_2_5.format("1.5B"), _Q4, "Qwen2.5 1.5B Instruct", 1_117_320_736, _kv(28, 2), _APACHE, Purpose.EVERYDAY
    ),
    Suggestion(_QWEN_3.format("4B"), _Q4, "Qwen3 4B", 2_497_280_256, _kv(36, 8), _APACHE, Purpose.REASONING),
    Suggestion(
        _BARTOWSKI.format("Mistral-7B-Instruct-v0.3"),
        _Q4,
        "Mistral 7B Instruct v0.3",
        4_372_812_000,
        _kv(32, 8),
        _APACHE,
        Purpose.WRITING,
    ),
    Suggestion(_QWEN_3.format("8B"), _Q4, "Qwen3 8B", 5_027_783_488, _kv(36, 8), _APACHE, Purpose.REASONING),
    Suggestion(_BARTOWSKI.format("phi-4"), _Q4, "Phi-4 14B", 9_053_114_816, _kv(40, 10), "mit", Purpose.EXACT),
    Suggestion(
        _BARTOWSKI.format("Mistral-Small-24B-Instruct-2501"),
        _Q4,
        "Mistral Small 24B",
        14_333_908_672,
        _kv(40, 8),
        _APACHE,
        Purpose.ALL_ROUND,
    ),
    Suggestion(_QWEN_3.format("32B"), _Q4, "Qwen3 32B", 19_762_149_024, _kv(64, 8), _APACHE, Purpose.STRONGEST),
)


def suggestions_for(gpu_bytes: int, ram_bytes: int, n_most: int = 3) -> tuple[Suggested, ...]:
    """The largest models that fit the free memory of all GPUs, or else the RAM; largest first, at least one.

    For RAM, models that would be too slow for a chat on the CPU are left out.
    """
    fitting = []
    for one in SUGGESTIONS:
        is_on_gpu = one.needed_bytes <= _usable(gpu_bytes)
        if is_on_gpu or (one.needed_bytes <= _usable(ram_bytes) and one.cpu_tokens_per_s >= CPU_TOKENS_PER_S):
            fitting.append(Suggested(one, is_on_gpu, fits=True))
    found = fitting or [Suggested(SUGGESTIONS[0], is_on_gpu=False, fits=False)]
    return tuple(sorted(found, key=lambda one: -one.model.size_bytes)[:n_most])


def find_suggested(hub: Hub, suggestion: Suggestion) -> RemoteModel:
    """The current file of a suggestion on the hub.

    Raises what `Hub.repo` raises; HUB_NOT_FOUND has a sentence of its own, since the person has typed no name.
    """
    reference = Reference(suggestion.repo, quantization=suggestion.quantization)
    try:
        models = hub.repo(reference).models
    except EngineError as error:
        if error.code is not ErrorCode.HUB_NOT_FOUND:
            raise
        raise _moved(suggestion, hub.host, error.detail) from error
    if not models:
        raise _moved(suggestion, hub.host, f"{suggestion.repo} has no {suggestion.quantization}")
    return models[0]


def _moved(suggestion: Suggestion, host: str, detail: str) -> EngineError:
    return EngineError(
        ErrorCode.HUB_NOT_FOUND,
        say(
            "“{0}” is no longer where it was on {1}: take another one, or look for it by its name.",
            suggestion.name,
            host,
        ),
        detail,
    )


def _usable(free_bytes: int) -> int:
    return free_bytes - free_bytes // SPARE_SHARE

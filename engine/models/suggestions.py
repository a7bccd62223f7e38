"""Models to begin with: well-known, with a permissive licence, in sizes from a phone's to a workstation's."""

from __future__ import annotations

from dataclasses import dataclass

MARGIN_SHARE = 4
"""A quarter of the memory is for K and V, for compute and for what else runs."""

COMFORTABLE_ON_CPU_BYTES = 3_000_000_000
"""A processor reads all weights for every token: at some 20 to 40 GB a second that is about ten tokens a second."""


@dataclass(frozen=True)
class Suggestion:
    """``size_bytes`` is about what the file takes; what it really takes is read before it is downloaded."""

    repo: str
    quantization: str
    name: str
    size_bytes: int


SUGGESTIONS = (
    Suggestion("Qwen/Qwen2.5-0.5B-Instruct-GGUF", "Q4_K_M", "Qwen2.5 0.5B Instruct", 491_000_000),
    Suggestion("Qwen/Qwen2.5-1.5B-Instruct-GGUF", "Q4_K_M", "Qwen2.5 1.5B Instruct", 1_120_000_000),
    Suggestion("HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", "Q4_K_M", "SmolLM2 1.7B Instruct", 1_060_000_000),
    Suggestion("Qwen/Qwen3-4B-GGUF", "Q4_K_M", "Qwen3 4B", 2_500_000_000),
    Suggestion("bartowski/Mistral-7B-Instruct-v0.3-GGUF", "Q4_K_M", "Mistral 7B Instruct v0.3", 4_370_000_000),
    Suggestion("Qwen/Qwen3-8B-GGUF", "Q4_K_M", "Qwen3 8B", 5_030_000_000),
    Suggestion("bartowski/phi-4-GGUF", "Q4_K_M", "Phi-4 14B", 9_050_000_000),
    Suggestion("bartowski/Mistral-Small-24B-Instruct-2501-GGUF", "Q4_K_M", "Mistral Small 24B", 14_300_000_000),
    Suggestion("Qwen/Qwen3-32B-GGUF", "Q4_K_M", "Qwen3 32B", 19_760_000_000),
)


def suggestions_for(memory_bytes: int, *, has_gpu: bool, n_most: int = 3) -> tuple[Suggestion, ...]:
    """The largest that fit the memory that is free with room to spare, the largest first; the smallest one always.

    Without a GPU none is suggested that would be too slow to talk with, however much RAM there is.
    """
    room = memory_bytes - memory_bytes // MARGIN_SHARE
    if not has_gpu:
        room = min(room, COMFORTABLE_ON_CPU_BYTES)
    fitting = [one for one in SUGGESTIONS if one.size_bytes <= room] or [SUGGESTIONS[0]]
    return tuple(sorted(fitting, key=lambda one: -one.size_bytes)[:n_most])

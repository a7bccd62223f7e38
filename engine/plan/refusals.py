"""The impossible values of each setting for a model, with the reasons."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from engine.api.errors import EngineError
from engine.api.plan import Refusal
from engine.api.settings import CacheType, FlashAttention, LoadSettings, Policy
from engine.cache.memory import MemoryKind
from engine.cache.window import allowed_policies, unfit_policy
from engine.models.gguf import ModelInfo
from engine.plan.check import check_load, types_must_match


def refusals(info: ModelInfo, settings: LoadSettings, kind: MemoryKind) -> tuple[Refusal, ...]:
    """Every cache type, flash attention mode and policy that is impossible with the other settings unchanged."""
    return (*_of_load(info, settings), *_of_policy(kind))


def _of_load(info: ModelInfo, settings: LoadSettings) -> Iterator[Refusal]:
    choices: dict[str, type[CacheType] | type[FlashAttention]] = {
        "type_k": CacheType,
        "type_v": CacheType,
        "flash_attn": FlashAttention,
    }
    for name, values in choices.items():
        for value in values:
            changes: dict[str, Any] = {name: value}
            if name.startswith("type_") and types_must_match(info):
                changes = {"type_k": value, "type_v": value}
            try:
                check_load(info, dataclasses.replace(settings, **changes))
            except EngineError as error:
                yield Refusal(name, value, error.sentence)


def _of_policy(kind: MemoryKind) -> Iterator[Refusal]:
    for policy in Policy:
        if policy not in allowed_policies(kind):
            yield Refusal("policy", policy, unfit_policy(policy, kind).sentence)

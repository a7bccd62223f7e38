"""The options for a full cache, each with its cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.api.facts import CacheUsage, ModelFacts
from engine.api.plan import MemoryPlan
from engine.api.sentences import Sentence
from engine.api.settings import CacheType, FlashAttention, LoadSettings, Policy

GROWTH = 2
"""A larger context has so many times the cells, but not more than the model's positions reach."""
RECOMPUTE_SHARE = 2
"""The policy recompute evaluates the newer half of the window again."""


class FullCacheOption(StrEnum):
    """A way to continue when the cache is full."""

    SLIDE = "slide"
    RECOMPUTE = "recompute"
    LARGER = "larger"
    SMALLER_TYPE = "smaller_type"


class Obstacle(StrEnum):
    """The reason why an option is unavailable."""

    MEMORY_KIND = "memory_kind"
    """The model's memory can't give single tokens up."""
    TRAINED_LENGTH = "trained_length"
    """The context is as long as the model's positions reach."""
    NO_KV = "no_kv"
    """There is nothing that a smaller type of K and V would make smaller."""
    NO_SMALLER_TYPE = "no_smaller_type"
    DOES_NOT_FIT = "does_not_fit"
    REFUSED = "refused"
    """`refusal` says why."""


@dataclass(frozen=True)
class PricedOption:
    """An option with its cost. ``load``: settings of the reload, ``policy``: the new policy; None: unchanged.

    ``extra_bytes``: needed beyond the current allocation; ``seconds``: until the answer continues; None: unknown.
    """

    option: FullCacheOption
    load: LoadSettings | None = None
    policy: Policy | None = None
    n_ctx: int | None = None
    extra_bytes: int | None = 0
    seconds: float | None = 0.0
    obstacle: Obstacle | None = None
    refusal: Sentence | None = None


def loads_to_plan(facts: ModelFacts) -> dict[FullCacheOption, LoadSettings]:
    """The load settings whose plans `priced_options` needs."""
    n_ctx = facts.n_ctx * GROWTH
    if facts.n_ctx_reach > 0:
        n_ctx = min(n_ctx, facts.n_ctx_reach)
    loads = {FullCacheOption.LARGER: replace(facts.settings, n_ctx=n_ctx)}
    kind = _smaller_type(facts)
    if kind is not None:
        flash = facts.settings.flash_attn
        flash = FlashAttention.AUTO if flash is FlashAttention.OFF else flash
        loads[FullCacheOption.SMALLER_TYPE] = replace(
            facts.settings, n_ctx=n_ctx, type_k=kind, type_v=kind, flash_attn=flash
        )
    if facts.n_ctx >= facts.n_ctx_reach > 0:
        return {}
    return loads


def priced_options(
    facts: ModelFacts,
    usage: CacheUsage | None,
    read_tps: float | None,
    plans: Mapping[FullCacheOption, MemoryPlan | Sentence],
) -> tuple[PricedOption, ...]:
    """Every option with its cost.

    ``plans``: for each of `loads_to_plan`, its plan or the sentence of its error.
    """
    loads = loads_to_plan(facts)
    options = [_policy_option(facts, FullCacheOption.SLIDE, Policy.SINKS, 0.0)]
    n_again = (usage.n_used if usage is not None else facts.n_ctx) // RECOMPUTE_SHARE
    options.append(
        _policy_option(facts, FullCacheOption.RECOMPUTE, Policy.RECOMPUTE, n_again / read_tps if read_tps else None)
    )
    for option in (FullCacheOption.LARGER, FullCacheOption.SMALLER_TYPE):
        if option in loads:
            options.append(
                _load_option(facts, option, loads[option], plans.get(option), reload_seconds(facts, usage, read_tps))
            )
        elif option is FullCacheOption.SMALLER_TYPE and _smaller_type(facts) is None:
            obstacle = Obstacle.NO_SMALLER_TYPE if facts.kv_bytes_per_token > 0 else Obstacle.NO_KV
            options.append(PricedOption(option, obstacle=obstacle))
        else:
            options.append(PricedOption(option, obstacle=Obstacle.TRAINED_LENGTH))
    return tuple(options)


def _policy_option(facts: ModelFacts, option: FullCacheOption, policy: Policy, seconds: float | None) -> PricedOption:
    obstacle = None if policy in facts.policies else Obstacle.MEMORY_KIND
    return PricedOption(option, policy=policy, seconds=seconds, obstacle=obstacle)


def _load_option(
    facts: ModelFacts,
    option: FullCacheOption,
    load: LoadSettings,
    plan: MemoryPlan | Sentence | None,
    seconds: float | None,
) -> PricedOption:
    if isinstance(plan, Sentence):
        return PricedOption(option, load, obstacle=Obstacle.REFUSED, refusal=plan)
    if plan is None:
        return PricedOption(option, load, n_ctx=load.n_ctx, extra_bytes=None, seconds=seconds)
    held = sum(device.held_bytes for device in facts.devices)
    obstacle = None if plan.fits else Obstacle.DOES_NOT_FIT
    return PricedOption(
        option, load, n_ctx=plan.n_ctx, extra_bytes=plan.total_bytes - held, seconds=seconds, obstacle=obstacle
    )


def reload_seconds(facts: ModelFacts, usage: CacheUsage | None, read_tps: float | None) -> float | None:
    """Estimated seconds of a reload and a prefill of the chat, from measured speeds; None if not measured."""
    if facts.load_ms is None or (usage is not None and read_tps is None):
        return None
    n_tokens = usage.n_used if usage is not None else 0
    return facts.load_ms / 1000 + n_tokens / (read_tps or 1.0)


def _smaller_type(facts: ModelFacts) -> CacheType | None:
    """A type of about half the size of the larger of K's and V's; None if there is none, or no K and V."""
    if facts.kv_bytes_per_token <= 0:
        return None
    types = (facts.settings.type_k, facts.settings.type_v)
    if not all(kind.is_quantized for kind in types):
        return CacheType.Q8_0
    return CacheType.Q4_0 if CacheType.Q8_0 in types else None

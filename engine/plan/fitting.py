"""Finds settings that fit into memory with the least loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from engine.api.errors import EngineError
from engine.api.plan import Fit, MemoryPlan, Proposal
from engine.api.settings import CacheType, FlashAttention, GpuLayers, LoadSettings
from engine.models.geometry import CELL_STEP
from engine.models.gguf import ModelInfo

PROPOSALS_MAX = 4
SMALL_UBATCH = 128
WORTHWHILE_SHARE = 2
"""A smaller context is proposed before smaller types while it is at least one in this many of what was asked."""

Measure = Callable[[LoadSettings], MemoryPlan]
"""What a load would take; raises EngineError for one that is impossible."""


def find_fit(info: ModelInfo, settings: LoadSettings, measure: Measure) -> Fit:
    """The fit of one model; ``measure`` is called some ten to forty times."""

    def plan_of(changed: LoadSettings) -> MemoryPlan | None:
        try:
            return measure(changed)
        except EngineError:
            return None

    now = plan_of(settings)
    # Layers stay on their devices: otherwise a larger context would always fit, on the CPU.
    fixed = settings if now is None else replace(settings, n_gpu_layers=now.n_gpu_layers)
    largest = largest_n_ctx(fixed, longest_n_ctx(info, settings), plan_of)
    if now is not None and now.fits:
        return Fit(largest, ())
    proposals: list[Proposal] = []
    for candidate in _candidates(info, settings, largest, plan_of):
        plan = plan_of(candidate)
        if plan is not None and plan.fits and all(candidate != one.settings for one in proposals):
            proposals.append(Proposal(candidate, plan))
        if len(proposals) == PROPOSALS_MAX:
            break
    return Fit(largest, tuple(proposals))


def longest_n_ctx(info: ModelInfo, settings: LoadSettings) -> int:
    """The longest context to search for: the trained length times the settings' RoPE stretch."""
    return max(CELL_STEP, info.n_ctx_reach(settings) // CELL_STEP * CELL_STEP)


def largest_n_ctx(
    settings: LoadSettings, n_most: int, plan_of: Callable[[LoadSettings], MemoryPlan | None]
) -> int | None:
    """The largest context up to ``n_most`` that fits, a multiple of CELL_STEP; None if not even the smallest does.

    Memory grows almost linearly with the context, so linear interpolation between two plans converges quickly.
    """

    def excess(n_steps: int) -> int | None:
        plan = plan_of(replace(settings, n_ctx=n_steps * CELL_STEP))
        return None if plan is None else max(device.held_bytes - device.free_bytes for device in plan.devices)

    low, high = 1, max(1, n_most // CELL_STEP)
    above = excess(high)
    if above is not None and above <= 0:
        return high * CELL_STEP
    below = excess(low)
    if below is None or below > 0:
        return None
    while high - low > 1:
        # Every other probe is right next to the largest known fit, since the interpolation is nearly exact.
        for guess in (_on_line(low, below, high, above), low + 1):
            if not low < guess < high:
                continue
            found = excess(guess)
            if found is not None and found <= 0:
                low, below = guess, found
            else:
                high, above = guess, found
    return low * CELL_STEP


def _on_line(low: int, below: int, high: int, above: int | None) -> int:
    """The zero of the line through both points; the midpoint if one of them could not be measured."""
    if above is None:
        return (low + high) // 2
    guess = low + (high - low) * -below // (above - below)
    return max(low + 1, min(guess, high - 1))


def _candidates(
    info: ModelInfo,
    settings: LoadSettings,
    largest: int | None,
    plan_of: Callable[[LoadSettings], MemoryPlan | None],
) -> Iterator[LoadSettings]:
    """Changed settings by increasing loss: nothing, speed, a little exactness, length, more exactness."""
    wanted = settings.n_ctx_or(info.n_ctx_train)
    changed = settings
    for changed in _without_loss(info, settings):
        yield changed
    smaller = [kind for kind in (CacheType.Q8_0, CacheType.Q4_0) if _is_smaller(kind, settings)]
    for kind in smaller[:1]:
        yield _with_types(changed, kind)
    if largest is not None and largest * WORTHWHILE_SHARE >= wanted:
        yield replace(settings, n_ctx=largest)
    for kind in smaller:
        typed = _with_types(changed, kind)
        yield typed
        whole = plan_of(typed)
        if whole is not None and whole.fits:
            continue
        found = largest_n_ctx(_fixed(typed, plan_of), min(wanted, longest_n_ctx(info, settings)), plan_of)
        if found is not None:
            yield replace(typed, n_ctx=found)
    if largest is not None:
        yield replace(settings, n_ctx=largest)


def _without_loss(info: ModelInfo, settings: LoadSettings) -> Iterator[LoadSettings]:
    """Changes that cost no quality, cumulative."""
    n_reach = info.n_ctx_reach(settings)
    if settings.n_ctx is not None and settings.n_ctx > n_reach > 0:
        settings = replace(settings, n_ctx=n_reach)
        yield settings
    if settings.swa_full and info.n_swa:
        settings = replace(settings, swa_full=False)
        yield settings
    if settings.flash_attn is FlashAttention.OFF:
        settings = replace(settings, flash_attn=FlashAttention.AUTO)
        yield settings
    if settings.n_ubatch > SMALL_UBATCH:
        settings = replace(settings, n_ubatch=SMALL_UBATCH)
        yield settings
    if settings.n_gpu_layers is not GpuLayers.AUTO:
        yield replace(settings, n_gpu_layers=GpuLayers.AUTO)


def _fixed(settings: LoadSettings, plan_of: Callable[[LoadSettings], MemoryPlan | None]) -> LoadSettings:
    plan = plan_of(replace(settings, n_ctx=CELL_STEP))
    return settings if plan is None else replace(settings, n_gpu_layers=plan.n_gpu_layers)


def _with_types(settings: LoadSettings, kind: CacheType) -> LoadSettings:
    flash = FlashAttention.AUTO if settings.flash_attn is FlashAttention.OFF else settings.flash_attn
    return replace(settings, type_k=kind, type_v=kind, flash_attn=flash)


def _is_smaller(kind: CacheType, than: LoadSettings) -> bool:
    """Whether K or V would be smaller in this type."""
    order = list(CacheType)
    return order.index(kind) > min(order.index(than.type_k), order.index(than.type_v))

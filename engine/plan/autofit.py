"""Chooses GPU layers, context and cache types for the free memory, with reasons.

First as many GPU layers as fit with a short context in compact types, since each one speeds up every token; then the
context, up to a useful length; then more exact types, if they cost neither layers nor context.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.api.errors import EngineError
from engine.api.facts import Device
from engine.api.plan import Choice, Defaults, DevicePlan, Home, MemoryPlan
from engine.api.sentences import Bytes, Sentence, say
from engine.api.settings import CacheType, FlashAttention, GpuLayers, LoadSettings
from engine.models import geometry
from engine.models.gguf import ModelInfo
from engine.plan.estimate import rough_bytes
from engine.plan.fitting import Measure, largest_n_ctx

HOST = "CPU"
MARGIN_BYTES_MAX = 1 << 30
MARGIN_SHARE = 16
"""A sixteenth of each device, at most 1 GiB, is left for what grows later and for other programs."""
SHORT_N_CTX = 4096
"""The minimum useful context, with which GPU layers are fitted."""
SHORTEST_N_CTX = 1024
SENSIBLE_N_CTX = {Home.GPU: 32_768, Home.PARTLY: 16_384, Home.CPU: 8_192}
"""Longer ones are for people who ask for them: they cost memory, and the time to read that much."""
ROUND_N_CTX = 1024
TYPES = (CacheType.F16, CacheType.Q8_0, CacheType.Q4_0)
"""From the best on. q8_0 is the compact one: next to no loss; q4_0 only where nothing else fits."""
EVIDENT_SHARE = 2
"""A load estimated to take less than this fraction (1/n) of the free bytes fits without a plan."""


def choose_settings(info: ModelInfo, settings: LoadSettings, measure: Measure) -> Choice:
    """The choice for one model; other settings are taken from ``settings``.

    ``measure`` is called some ten to thirty times; it raises EngineError for an impossible load. Raises that error if
    every load is impossible.
    """
    types = _possible_types(info)
    settings = replace(settings, flash_attn=FlashAttention.AUTO, n_gpu_layers=GpuLayers.AUTO)
    short = min(SHORT_N_CTX, info.n_ctx_train or SHORT_N_CTX)
    start = _first_that_fits(settings, short, types, measure)
    if start is None:
        smallest, plan = _smallest(settings, min(short, SHORTEST_N_CTX), types, measure)
        return _choice(info, replace(smallest, n_gpu_layers=plan.n_gpu_layers), plan, fits=False)
    fixed, plan = start
    plan_of = _leaving_margin(measure)
    sensible = min(SENSIBLE_N_CTX[_home(info, plan)], info.n_ctx_train or short)
    longest = largest_n_ctx(fixed, sensible, plan_of)
    if longest is not None and longest > plan.n_ctx:
        fixed = replace(fixed, n_ctx=_rounded(longest, sensible))
    for kind in types:
        better = _with(fixed, fixed.n_ctx or short, kind)
        found = plan_of(better)
        if found is not None and found.fits:
            return _choice(info, better, measure(better), fits=True)
    return _choice(info, fixed, measure(fixed), fits=True)


def evident_defaults(info: ModelInfo, settings: LoadSettings, devices: Sequence[Device]) -> Defaults | None:
    """The choice of `choose_settings`, if header and free memory suffice to know it; None if plans are needed."""
    if info.n_ctx_train <= 0:
        return None
    gpus = [device for device in devices if device.is_gpu]
    hosts = [device for device in devices if device.is_ram]
    if len(gpus) > 1 or not all(device.has_own_memory for device in gpus) or not hosts:
        return None
    home, device = (Home.GPU, gpus[0]) if gpus else (Home.CPU, hosts[0])
    n_ctx = min(SENSIBLE_N_CTX[home], info.n_ctx_train)
    settings = replace(settings, flash_attn=FlashAttention.AUTO, n_gpu_layers=GpuLayers.AUTO)
    settings = _with(settings, n_ctx, _possible_types(info)[0])
    if rough_bytes(info, settings) * EVIDENT_SHARE > device.free_bytes:
        return None
    n_gpu = info.n_layer + 1 if gpus else 0
    return Defaults(settings, _fitting_reasons(info, settings, _Place(home, n_gpu, n_ctx, has_gpu=bool(gpus))))


def margin_bytes(total_bytes: int) -> int:
    """Bytes that a chosen plan leaves free on a device."""
    return min(MARGIN_BYTES_MAX, total_bytes // MARGIN_SHARE)


def _first_that_fits(
    settings: LoadSettings, short: int, types: tuple[CacheType, ...], measure: Measure
) -> tuple[LoadSettings, MemoryPlan] | None:
    """The most layers with a short context in compact types; a smaller context only if that does not fit at all."""
    compact, smallest = types[min(1, len(types) - 1)], types[-1]
    half, shortest = max(1, min(short, 2 * SHORTEST_N_CTX)), max(1, min(short, SHORTEST_N_CTX))
    plan_of = _leaving_margin(measure)
    steps = [(short, compact), (half, compact), (half, smallest), (shortest, smallest)]
    # Some models refuse every quantized type, which only a measurement shows.
    steps += [(n_ctx, types[0]) for n_ctx in (short, half, shortest)]
    for n_ctx, kind in dict.fromkeys(steps):
        asked = _with(settings, n_ctx, kind)
        try:
            plan = measure(asked)
        except EngineError:
            continue
        fixed = replace(asked, n_gpu_layers=plan.n_gpu_layers)
        found = plan_of(fixed)
        if found is not None and found.fits:
            return fixed, plan
    return None


def _smallest(
    settings: LoadSettings, n_ctx: int, types: tuple[CacheType, ...], measure: Measure
) -> tuple[LoadSettings, MemoryPlan]:
    """The smallest possible settings; raises what ``measure`` raises for the best type."""
    for kind in reversed(types[1:]):
        asked = _with(settings, n_ctx, kind)
        with contextlib.suppress(EngineError):
            return asked, measure(asked)
    asked = _with(settings, n_ctx, types[0])
    return asked, measure(asked)


def _leaving_margin(measure: Measure) -> Callable[[LoadSettings], MemoryPlan | None]:
    """A measure that subtracts each device's margin from its free memory; None if the load is impossible."""

    def plan_of(settings: LoadSettings) -> MemoryPlan | None:
        try:
            plan = measure(settings)
        except EngineError:
            return None
        return replace(plan, devices=tuple(_without_margin(device) for device in plan.devices))

    return plan_of


def _without_margin(device: DevicePlan) -> DevicePlan:
    if not device.held_bytes:
        return device
    return replace(device, free_bytes=max(0, device.free_bytes - margin_bytes(device.total_bytes)))


def _possible_types(info: ModelInfo) -> tuple[CacheType, ...]:
    return tuple(kind for kind in TYPES if geometry.can_hold_heads(info, kind, kind)) or (CacheType.F16,)


def _with(settings: LoadSettings, n_ctx: int, kind: CacheType) -> LoadSettings:
    return replace(settings, n_ctx=n_ctx, type_k=kind, type_v=kind)


def _rounded(n_ctx: int, sensible: int) -> int:
    """A round number of tokens, unless it is the model's own length."""
    return n_ctx if n_ctx == sensible or n_ctx < 2 * ROUND_N_CTX else n_ctx // ROUND_N_CTX * ROUND_N_CTX


def _home(info: ModelInfo, plan: MemoryPlan) -> Home:
    if plan.n_gpu_layers == 0:
        return Home.CPU
    # The output layer counts as one.
    return Home.GPU if plan.n_gpu_layers > info.n_layer else Home.PARTLY


def _choice(info: ModelInfo, settings: LoadSettings, plan: MemoryPlan, *, fits: bool) -> Choice:
    home = _home(info, plan)
    return Choice(settings, plan, home, info.n_layer + 1, fits, _reasons(info, settings, plan, home, fits))


def _reasons(info: ModelInfo, settings: LoadSettings, plan: MemoryPlan, home: Home, fits: bool) -> tuple[Sentence, ...]:
    if not fits:
        missing = max(
            device.held_bytes - device.free_bytes + margin_bytes(device.total_bytes) for device in plan.devices
        )
        return (
            say("Even with the shortest context {0} of memory are missing: choose a smaller file.", Bytes(missing)),
        )
    has_gpu = any(device.name != HOST for device in plan.devices)
    place = _Place(home, plan.n_gpu_layers, settings.n_ctx or plan.n_ctx, has_gpu=has_gpu)
    return _fitting_reasons(info, settings, place)


@dataclass(frozen=True)
class _Place:
    """The placement of a model's layers with the number of cells."""

    home: Home
    n_gpu_layers: int
    n_ctx: int
    has_gpu: bool


def _fitting_reasons(info: ModelInfo, settings: LoadSettings, place: _Place) -> tuple[Sentence, ...]:
    layers = {
        Home.GPU: say("All {0} layers fit on the GPU.", info.n_layer + 1),
        Home.PARTLY: say(
            "{0} of {1} layers fit on the GPU; the processor computes the others, which is slower.",
            place.n_gpu_layers,
            info.n_layer + 1,
        ),
        Home.CPU: say("No layer fits on the GPU, so the processor computes.")
        if place.has_gpu
        else say("The processor computes: there is no GPU."),
    }[place.home]
    n_ctx = place.n_ctx
    if n_ctx >= info.n_ctx_train > 0:
        context = say("The context window of {0} tokens is all that the model was trained for.", n_ctx)
    elif n_ctx >= SENSIBLE_N_CTX[place.home]:
        context = say("A context window of {0} tokens is long enough for most chats; more can be asked for.", n_ctx)
    else:
        context = say("A context window of {0} tokens is what the free memory has room for.", n_ctx)
    reasons = [layers, context]
    if settings.type_k is not CacheType.F16:
        reasons.append(say("K and V in {0} leave room for that; f16 would not.", settings.type_k.value))
    return tuple(reasons)

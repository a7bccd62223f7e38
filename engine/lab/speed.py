"""Baseline measurements: the bare llama.cpp loop, the cost of evictions and snapshots."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.api.settings import LoadSettings, SamplingSettings
from engine.cache.memory import MemoryKind
from engine.cache.window import EVICT_SHARE
from engine.lab.loading import loaded_context
from engine.native.context import NativeContext
from engine.native.log import NativeLog
from engine.native.sampler import Sampler


@dataclass(frozen=True)
class BareSpeed:
    """Seconds of one run of the basic llama.cpp loop: prefill the prompt, then sample and decode."""

    prefill_s: float
    decode_s: float


@dataclass(frozen=True)
class CacheCosts:
    """Milliseconds: freeing ``n_evicted`` cells in place (None where nothing can be freed), copying the state out, and
    putting it back."""

    evict_ms: float | None
    n_evicted: int
    snapshot_ms: float
    restore_ms: float
    snapshot_bytes: int


def bare_loop(context: NativeContext, prompt: Sequence[int], n_gen: int) -> BareSpeed:
    """Prefill ``prompt`` in micro-batches and generate ``n_gen`` tokens greedily, without the engine."""
    context.clear()
    sampler = Sampler(SamplingSettings(temperature=0.0), seed=0, n_vocab=context.n_vocab)
    started = time.perf_counter()
    for start in range(0, len(prompt), context.n_ubatch):
        context.decode(prompt[start : start + context.n_ubatch], start)
    context.synchronize()
    token = context.sample(sampler)
    fed = time.perf_counter()
    for position in range(len(prompt), len(prompt) + n_gen - 1):
        context.decode([token], position)
        token = context.sample(sampler)
    ended = time.perf_counter()
    sampler.close()
    return BareSpeed(fed - started, ended - fed)


def cache_costs(context: NativeContext, tokens: Sequence[int]) -> CacheCosts:
    """Fill the cache with ``tokens``, copy the state out, put it back, and evict an eighth of it behind four sinks."""
    context.clear()
    for start in range(0, len(tokens), context.n_ubatch):
        context.decode(tokens[start : start + context.n_ubatch], start)
    context.synchronize()
    started = time.perf_counter()
    state = context.snapshot()
    copied = time.perf_counter()
    context.clear()
    cleared = time.perf_counter()
    is_restored = context.restore(state)
    restored = time.perf_counter()
    if not is_restored:
        raise EngineError(ErrorCode.CACHE_INCONSISTENT, say("The copy of the cache could not be put back."))
    n_evicted = max(1, len(tokens) // EVICT_SHARE)
    evict_started = time.perf_counter()
    is_evicted = context.traits.kind in (MemoryKind.ATTENTION, MemoryKind.SLIDING) and context.remove(4, 4 + n_evicted)
    evicted = time.perf_counter()
    return CacheCosts(
        evict_ms=1000 * (evicted - evict_started) if is_evicted else None,
        n_evicted=n_evicted if is_evicted else 0,
        snapshot_ms=1000 * (copied - started),
        restore_ms=1000 * (restored - cleared),
        snapshot_bytes=len(state),
    )


def measure_bare(  # noqa: PLR0913 - flat arguments, sent to another process
    log: NativeLog, options: EngineOptions, path: Path, settings: LoadSettings, text: str, n_prompt: int, n_gen: int
) -> tuple[BareSpeed, CacheCosts]:
    """One bare run on ``n_prompt`` tokens of ``text`` and the cache's costs; to be run in a separate process."""
    with loaded_context(path, settings, options, log) as make_context:
        context = make_context(settings)
        tokens = make_context.tokenize(text)
        # The cost does not depend on the ids: a text that is too short is repeated.
        prompt = (tokens * (1 + n_prompt // len(tokens)))[:n_prompt]
        context.evaluate_blank(8)
        return bare_loop(context, prompt, n_gen), cache_costs(context, prompt)

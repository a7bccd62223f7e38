"""Measures the perplexity of a text under a cache policy."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.api.chat import Prompt, PromptTurn
from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.api.settings import Policy, PolicySettings
from engine.cache.manager import CacheManager
from engine.native.context import NativeContext

BLOCK_TOKENS = 128
"""Tokens evaluated at once: one row of logits is kept for each."""


@dataclass(frozen=True)
class Perplexity:
    """``perplexity`` over all tokens but the first, ``perplexity_after`` over those from index ``n_before`` on.

    None if there was no token to measure. ``n_evicted``: cells freed, ``n_recomputed``: tokens evaluated again,
    ``n_renumbered``: renumberings. ``losses``: -log p of each token but the first.
    """

    perplexity: float | None
    perplexity_after: float | None
    n_before: int
    n_tokens: int
    tokens_per_second: float
    n_evicted: int
    n_recomputed: int
    n_renumbered: int
    losses: tuple[float, ...]


def measure(
    context: NativeContext,
    tokens: Sequence[int],
    policy: PolicySettings,
    *,
    n_before: int,
    renumber_at: int | None = None,
) -> Perplexity:
    """Feed ``tokens`` as a stream and compute the loss of each, given the tokens that the policy kept.

    Between two evictions tokens are decoded in batches; each token attends to the same ones as if fed one by one, as in
    the streaming evaluation of StreamingLLM (Xiao et al. 2024, section 4.1). Raises EngineError(SETTING_INVALID) for a
    text that does not fit if the policy evicts nothing. ``renumber_at`` sets the position before which kept tokens are
    renumbered: the capacity renumbers with every eviction, as llama.cpp's own context shift does.
    """
    manager = CacheManager(context, renumber_at=renumber_at)
    turn = PromptTurn(0, 1, "user", None)
    manager.begin(Prompt(tuple(tokens[:1]), (turn,)), policy)
    capacity = manager.limits.capacity
    if manager.limits.policy is Policy.STOP and len(tokens) > capacity:
        raise EngineError(
            ErrorCode.SETTING_INVALID,
            say(
                "The text has {0} tokens, and {1} can be kept: measure only the first {1}, make the context "
                "window larger, or let a policy evict.",
                len(tokens),
                capacity,
            ),
        )
    started = time.perf_counter()
    for _done in manager.feed():
        pass
    losses: list[float] = []
    last_row = context.logits(-1)
    index = 1
    while index < len(tokens):
        room = manager.n_free if manager.n_free > 0 else manager.limits.n_evict
        # At most a micro-batch: in a longer batch after freed cells llama.cpp is not exact with `swa_full`.
        block = tokens[index : index + min(room, BLOCK_TOKENS, context.n_ubatch)]
        manager.extend(block, all_logits=True)
        rows = [last_row, *(context.logits(i) for i in range(len(block) - 1))]
        losses.extend(_loss(row, token) for row, token in zip(rows, block, strict=True))
        last_row = context.logits(len(block) - 1)
        index += len(block)
    seconds = time.perf_counter() - started
    after = losses[max(0, n_before - 1) :]
    return Perplexity(
        perplexity=_perplexity(losses),
        perplexity_after=_perplexity(after),
        n_before=n_before,
        n_tokens=len(tokens),
        tokens_per_second=len(tokens) / seconds,
        n_evicted=manager.counts.n_evicted,
        n_recomputed=manager.counts.n_recomputed,
        n_renumbered=manager.counts.n_renumbered,
        losses=tuple(losses),
    )


def _loss(logits: np.ndarray, token: int) -> float:
    """-log softmax(logits)[token], natural logarithm."""
    highest = float(logits.max())
    return highest + math.log(float(np.exp(logits - highest).sum())) - float(logits[token])


def _perplexity(losses: Sequence[float]) -> float | None:
    return math.exp(sum(losses) / len(losses)) if losses else None

"""Perplexity: what the measurement says agrees with evaluating token by token."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from engine.api.errors import EngineError
from engine.api.settings import Policy, PolicySettings
from engine.lab.perplexity import measure
from tests.native.contexts import ContextMaker, native_log, new_context
from tests.tiny import TinySpec

__all__ = ["native_log", "new_context"]

SPEC = TinySpec(n_ctx_train=2048)

TEXT = [1 + (7 * i + i * i // 3) % 250 for i in range(400)]


def one_by_one(context, tokens: list[int]) -> list[float]:
    """-log p of each token but the first, with one decode for each."""
    losses = []
    for position, (token, following) in enumerate(itertools.pairwise(tokens)):
        context.decode([token], position)
        logits = context.logits().astype(np.float64)
        losses.append(float(np.log(np.exp(logits - logits.max()).sum()) + logits.max() - logits[following]))
    return losses


def test_dense_perplexity_is_that_of_token_by_token_evaluation(new_context: ContextMaker) -> None:
    tokens = TEXT[:60]
    expected = one_by_one(new_context(SPEC), tokens)
    result = measure(new_context(SPEC), tokens, PolicySettings(policy=Policy.STOP), n_before=30)
    assert result.losses == pytest.approx(expected, abs=1e-3)
    assert result.perplexity == pytest.approx(math.exp(sum(expected) / len(expected)), rel=1e-3)
    assert result.perplexity_after == pytest.approx(math.exp(sum(expected[29:]) / len(expected[29:])), rel=1e-3)
    assert result.n_evicted == 0


def test_until_the_room_is_full_every_policy_predicts_the_same(new_context: ContextMaker) -> None:
    dense = measure(new_context(SPEC), TEXT[:250], PolicySettings(policy=Policy.STOP), n_before=1)
    for policy in (Policy.SINKS, Policy.WINDOW, Policy.RECOMPUTE):
        result = measure(new_context(SPEC), TEXT[:250], PolicySettings(policy=policy), n_before=1)
        assert result.losses == pytest.approx(dense.losses, abs=1e-3)


def test_a_full_room_evicts_and_still_measures_every_token(new_context: ContextMaker) -> None:
    policy = PolicySettings(policy=Policy.SINKS, n_sink=4, n_window=60, n_evict=16)
    result = measure(new_context(SPEC), TEXT, policy, n_before=64)
    assert len(result.losses) == len(TEXT) - 1
    assert result.n_evicted == 336
    dense = measure(new_context(SPEC, n_ctx=512), TEXT, PolicySettings(policy=Policy.STOP), n_before=64)
    assert result.losses[:63] == pytest.approx(dense.losses[:63], abs=1e-3)
    assert result.losses[200:] != pytest.approx(dense.losses[200:], abs=1e-3)


def test_renumbering_with_every_eviction_happens_only_when_asked(new_context: ContextMaker) -> None:
    policy = PolicySettings(policy=Policy.SINKS, n_sink=4, n_window=60, n_evict=16)
    assert measure(new_context(SPEC), TEXT, policy, n_before=64).n_renumbered == 0
    assert measure(new_context(SPEC), TEXT, policy, n_before=64, renumber_at=64).n_renumbered == 21


def test_one_token_has_no_perplexity(new_context: ContextMaker) -> None:
    result = measure(new_context(SPEC), TEXT[:1], PolicySettings(), n_before=1)
    assert (result.perplexity, result.perplexity_after) == (None, None)


def test_a_text_that_does_not_fit_is_refused_where_nothing_may_be_evicted(new_context: ContextMaker) -> None:
    policy = PolicySettings(policy=Policy.STOP)
    assert len(measure(new_context(SPEC), TEXT[:256], policy, n_before=1).losses) == 255
    with pytest.raises(EngineError, match="257 tokens, and 256"):
        measure(new_context(SPEC), TEXT[:257], policy, n_before=1)

"""`bench`: how the time of an answer is divided."""

from __future__ import annotations

import dataclasses

import pytest

from engine.api.messages import GenerationStats
from engine.commands.bench import timed_answer

# 100 tokens read in a second, and 20 generated in two.
STATS = GenerationStats(100, 0, 0, 100, 20, 0, 0, prefill_tps=100.0, decode_tps=10.0, ttft_ms=1000.0, seed=1)


def test_an_answer_is_divided_where_generating_began_whatever_showed_when() -> None:
    timed = timed_answer(STATS, 3.5)
    assert (timed.n_prompt, timed.n_generated) == (100, 20)
    assert (timed.prefill_s, timed.decode_s) == pytest.approx((1.5, 2.0))


def test_an_answer_of_nothing_divides_by_nothing() -> None:
    timed = timed_answer(dataclasses.replace(STATS, n_generated=0, decode_tps=0.0), 0.0)
    assert timed.prefill_s > 0
    assert timed.decode_s > 0

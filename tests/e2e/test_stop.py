"""Stop: in a long prompt, in an answer, for what still waits, and in a load; within a moment, and never lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.api.messages import (
    CacheChanged,
    Finished,
    FinishReason,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    PrefillProgress,
    TextGenerated,
)
from engine.api.settings import LoadSettings, SamplingSettings
from tests.e2e.conftest import SMALL
from tests.e2e.desk import Desk

pytestmark = pytest.mark.e2e

MOMENT_S = 2.0
"""What a Stop may take on a machine that many programs share; bench_stop.py measures what it does take."""
LONG_TEXT = "The quick brown fox jumps over the lazy dog. " * 300


def test_stop_acts_at_once_in_the_prompt_and_in_the_answer(shared_desk: Desk, starter: Path) -> None:
    shared_desk.load(starter, LoadSettings(n_ctx=8192, n_threads=1, n_gpu_layers=0))
    request_id = shared_desk.ask(LONG_TEXT)
    started = shared_desk.heard.wait(PrefillProgress)
    assert started.n_total > 3000
    asked = time.perf_counter()
    shared_desk.stop(request_id)
    finished = shared_desk.heard.wait(Finished)
    assert time.perf_counter() - asked < MOMENT_S
    assert (finished.request_id, finished.reason, finished.text) == (request_id, FinishReason.CANCELLED, "")
    assert finished.stats.n_fed < started.n_total, "no more was read than until the Stop"
    assert finished.stats.ttft_ms is None, "no token came"

    request_id = shared_desk.ask("Count to a thousand.", SamplingSettings(temperature=0.0, ignore_eos=True))
    shared_desk.heard.wait(TextGenerated)
    asked = time.perf_counter()
    shared_desk.stop(request_id)
    finished = shared_desk.heard.wait(Finished)
    assert time.perf_counter() - asked < MOMENT_S
    assert finished.reason is FinishReason.CANCELLED
    # What was said stays, and is in the cache: going on costs nothing twice.
    assert finished.text
    assert finished.stats.n_generated == len(finished.token_ids) > 0
    assert finished.stats.ttft_ms > 0


def test_a_stop_for_what_waits_leaves_the_cache_alone(shared_desk: Desk, tiny_model: Callable[..., Path]) -> None:
    shared_desk.load(tiny_model(), SMALL)
    first = shared_desk.answer("abc", SamplingSettings(temperature=0.0, max_tokens=4, ignore_eos=True))
    running = shared_desk.ask("abc", SamplingSettings(temperature=0.0, ignore_eos=True, max_tokens=100))
    waiting = shared_desk.ask("something else", chat_id="other")
    shared_desk.stop(waiting)
    assert shared_desk.heard.wait(Finished).request_id == running
    finished = shared_desk.heard.wait_for_answer(waiting)
    assert (finished.reason, finished.stats.n_prompt) == (FinishReason.CANCELLED, 0)
    again = shared_desk.answer("abc", SamplingSettings(temperature=0.0, max_tokens=4, ignore_eos=True))
    assert again.token_ids == first.token_ids
    assert again.stats.n_reused == first.stats.n_prompt - 1
    assert {event.usage.chat_id for event in shared_desk.heard.of(CacheChanged)}.isdisjoint({"other"})


def test_a_stop_before_and_after_its_request(shared_desk: Desk, tiny_model: Callable[..., Path]) -> None:
    shared_desk.load(tiny_model(), SMALL)
    request_id = shared_desk.client.next_request_id() + 1
    shared_desk.stop(request_id)
    assert shared_desk.ask("abc") == request_id
    assert shared_desk.heard.wait(Finished).reason is FinishReason.CANCELLED
    shared_desk.stop(request_id)
    assert shared_desk.answer("abc").reason is not FinishReason.CANCELLED


def test_a_load_can_be_stopped(shared_desk: Desk, starter: Path, tiny_model: Callable[..., Path]) -> None:
    request_id = shared_desk.send(lambda request_id: LoadModel(request_id, str(starter), SMALL))
    shared_desk.heard.wait(LoadProgress, lambda event: event.stage is LoadStage.READING)
    shared_desk.stop(request_id)
    assert isinstance(shared_desk.heard.wait_for_answer(request_id), LoadCancelled)
    waiting = [shared_desk.send(lambda request_id: LoadModel(request_id, str(starter), SMALL)) for _ in range(2)]
    for request_id in waiting:
        shared_desk.stop(request_id)
    for request_id in waiting:
        assert isinstance(shared_desk.heard.wait_for_answer(request_id), LoadCancelled)
    shared_desk.load(tiny_model(), SMALL)

"""What an answer is made of: seeds, reuse, and models without a template of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.messages import CacheChanged, CountTokens, Generate, Message, Notice, NoticeCode, TokensCounted
from engine.api.settings import SamplingSettings
from tests.e2e.conftest import SMALL
from tests.e2e.desk import GREEDY, Desk

pytestmark = pytest.mark.e2e

WILD = SamplingSettings(temperature=1.5, top_k=0, top_p=1.0, min_p=0.0, max_tokens=12, ignore_eos=True)


def test_the_same_seed_gives_the_same_text_and_a_random_one_is_drawn_and_shown(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path]
) -> None:
    drawn, texts = [], []
    for _start in range(2):
        one = desk()
        one.load(tiny_model(), SMALL)
        seeded = [one.answer("abc", replace(WILD, seed=42)) for _ in range(2)]
        texts += [finished.token_ids for finished in seeded]
        assert {finished.stats.seed for finished in seeded} == {42}
        free = one.answer("abc", WILD)
        drawn.append(free.stats.seed)
        # The seed that was shown brings the text back.
        assert one.answer("abc", replace(WILD, seed=free.stats.seed)).token_ids == free.token_ids
        one.client.close()
    assert len(set(texts)) == 1
    assert len(set(drawn)) == 2


def test_the_next_turn_is_fed_only_what_is_new(shared_desk: Desk, tiny_model: Callable[..., Path]) -> None:
    shared_desk.load(tiny_model(), SMALL)
    first = shared_desk.answer("abc", GREEDY)
    answer = Message("assistant", first.text, token_ids=first.token_ids)
    messages = (Message("user", "abc"), answer, Message("user", "def"))
    request_id = shared_desk.send(lambda request_id: Generate(request_id, "chat", messages, GREEDY))
    second = shared_desk.heard.wait_for_answer(request_id)
    # All but the last token sampled, which had not been fed yet.
    assert second.stats.n_reused == first.stats.n_prompt + first.stats.n_generated - 1


def test_reuse_saves_the_cells_that_were_filled_before_and_not_those_of_the_answer(
    shared_desk: Desk, tiny_model: Callable[..., Path]
) -> None:
    shared_desk.load(tiny_model(), replace(SMALL, n_ctx=256))
    asked = Message("user", "abc " * 20)
    many = replace(GREEDY, max_tokens=251, ignore_eos=True)
    request_id = shared_desk.send(lambda request_id: Generate(request_id, "chat", (asked,), many))
    first = shared_desk.heard.wait_for_answer(request_id)
    n_filled = shared_desk.heard.of(CacheChanged)[-1].usage.n_used
    answer = Message("assistant", first.text, token_ids=first.token_ids)
    messages = (asked, answer, Message("user", "def"))
    few = replace(many, max_tokens=2)
    request_id = shared_desk.send(lambda request_id: Generate(request_id, "chat", messages, few))
    stats = shared_desk.heard.wait_for_answer(request_id).stats
    assert first.stats.n_evicted > 0 == stats.n_evicted
    assert round(stats.reuse_saved_ms * stats.read_tps / 1000) == n_filled < stats.n_reused


@pytest.mark.parametrize("template", [None, "{% if %}", "{{ raise_exception('no') }}{% for %}"])
def test_a_model_without_a_usable_template_chats_and_says_so_once(
    shared_desk: Desk, tiny_model: Callable[..., Path], template: str | None
) -> None:
    n_before = len(shared_desk.heard.of(Notice))
    shared_desk.load(tiny_model(chat_template=template), SMALL)
    for _ in range(2):
        assert shared_desk.answer("abc").stats.n_generated > 0
    told = [notice for notice in shared_desk.heard.of(Notice)[n_before:] if notice.code is NoticeCode.TEMPLATE]
    assert len(told) == 1
    assert "template" in told[0].message


def test_tokens_of_a_draft_are_counted(shared_desk: Desk, tiny_model: Callable[..., Path]) -> None:
    shared_desk.load(tiny_model(), SMALL)
    counts = []
    for draft in ("a", "ab", "abc"):
        request_id = shared_desk.send(lambda count_id, draft=draft: CountTokens(count_id, (), draft))
        counted = shared_desk.heard.wait_for_answer(request_id)
        assert isinstance(counted, TokensCounted)
        counts.append(counted.n_draft)
    assert counts == [counts[0], counts[0] + 1, counts[0] + 2]
    asked = shared_desk.answer("abc")
    assert asked.stats.n_prompt == counted.n_tokens


def test_penalties_reach_the_sampler(shared_desk: Desk, tiny_model: Callable[..., Path]) -> None:
    shared_desk.load(tiny_model(), SMALL)
    plain = SamplingSettings(temperature=0.0, max_tokens=30, ignore_eos=True)
    repeated = shared_desk.answer("abc", plain)
    varied = shared_desk.answer("abc", replace(plain, repeat_penalty=5.0))
    assert len(set(varied.token_ids)) > len(set(repeated.token_ids))

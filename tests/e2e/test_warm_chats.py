"""Chats kept warm by a real engine: switched between, through a reload, and after a restart."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.api.messages import (
    CacheChanged,
    ChatRestored,
    ChatTier,
    ChatTiersChanged,
    Finished,
    ForgetAllChats,
    ForgetChat,
    ForgetOtherChats,
    Generate,
    Message,
    ModelUnloaded,
    PrefillProgress,
    RestoreChat,
    SetTierBudgets,
    TextGenerated,
    Tier,
)
from engine.api.settings import CacheType, FlashAttention, RopeScaling, SamplingSettings, TierSettings
from engine.client.client import EngineClient
from tests.e2e.conftest import SMALL
from tests.e2e.desk import GREEDY, Desk

pytestmark = pytest.mark.e2e

A, B = "What a long question this is, about nothing at all.", "Another question, which is just as long as the first."


def wait_for_tiers(desk: Desk, where: Callable[[dict[str, ChatTier]], bool]) -> dict[str, ChatTier]:
    """The next tiers of which something is true."""

    def by_chat(event: ChatTiersChanged) -> dict[str, ChatTier]:
        return {one.chat_id: one for one in event.tiers}

    return by_chat(desk.heard.wait(ChatTiersChanged, lambda event: where(by_chat(event))))


def is_warm(finished: Finished) -> bool:
    return finished.stats.n_fed == 1


def files(folder: Path) -> list[Path]:
    return list(folder.glob("*.snapshot"))


def test_switching_and_reloading_and_forgetting(desk: Callable[..., Desk], tiny_model: Callable[..., Path]) -> None:
    one, model = desk(), tiny_model()
    one.load(model, SMALL)
    assert not is_warm(one.answer(A, chat_id="a"))
    assert not is_warm(one.answer(B, chat_id="b"))
    tiers = wait_for_tiers(one, lambda tiers: "b" in tiers)
    assert {name: chat.tier for name, chat in tiers.items()} == {"a": Tier.RAM, "b": Tier.ACTIVE}
    assert tiers["a"].n_bytes > 0
    assert is_warm(one.answer(A, chat_id="a"))
    # More cells and another batch change nothing about K and V; another type does.
    one.load(model, replace(SMALL, n_ctx=512, n_batch=32))
    assert is_warm(one.answer(A, chat_id="a"))
    one.load(model, replace(SMALL, type_k=CacheType.F32))
    assert not is_warm(one.answer(A, chat_id="a"))
    one.load(model, SMALL)
    assert is_warm(one.answer(B, chat_id="b"))
    one.client.send(ForgetChat("a"))
    assert not is_warm(one.answer(A, chat_id="a"))


def test_the_active_chat_is_told_long_before_its_answer_ends(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path]
) -> None:
    one = desk()
    one.load(tiny_model(), SMALL)
    one.answer(A, chat_id="a")
    wait_for_tiers(one, lambda tiers: tiers["a"].tier is Tier.ACTIVE)
    endless = SamplingSettings(temperature=0.0, ignore_eos=True)
    request_id = one.ask(B, endless, chat_id="b")
    tiers = wait_for_tiers(one, lambda tiers: "b" in tiers)
    assert [event for event in one.heard.of(Finished) if event.request_id == request_id] == []
    assert {name: chat.tier for name, chat in tiers.items()} == {"a": Tier.RAM, "b": Tier.ACTIVE}
    one.stop(request_id)
    one.heard.wait_for_answer(request_id)


@pytest.mark.parametrize(
    "changed",
    [
        {"type_k": CacheType.Q8_0},
        {"type_v": CacheType.F32},
        {"flash_attn": FlashAttention.OFF},
        {"rope_freq_base": 20_000.0},
        {"rope_freq_scale": 0.5},
        {"rope_scaling": RopeScaling.LINEAR},
        {"swa_full": True},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_nothing_is_restored_into_a_context_whose_k_and_v_would_be_others(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], tmp_path: Path, changed: dict[str, Any]
) -> None:
    one, model = desk(snapshot_folder=str(tmp_path / "snapshots")), tmp_path / "model.gguf"
    shutil.copy(tiny_model(arch="gemma3"), model)

    def n_reused() -> int:
        return one.answer(A, chat_id="a").stats.n_reused

    one.load(model, SMALL)
    assert n_reused() == 0
    one.load(model, replace(SMALL, **changed))
    assert n_reused() == 0
    one.load(model, SMALL)
    assert n_reused() > 0
    # The same bytes, written again.
    os.utime(model, ns=(1, 1))
    one.load(model, SMALL)
    assert n_reused() == 0


def test_another_model_of_the_same_shape_gets_none_of_it(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path]
) -> None:
    one = desk()
    one.load(tiny_model(), SMALL)
    one.answer(A, chat_id="a")
    one.load(tiny_model(seed=1), SMALL)
    assert not is_warm(one.answer(A, chat_id="a"))


def test_a_restart_finds_chats_on_disk(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    folder, model = tmp_path / "snapshots", tiny_model()
    one = desk(snapshot_folder=str(folder))
    one.load(model, SMALL)
    answered = one.answer(A, chat_id="a")
    wait_for_tiers(one, lambda tiers: tiers["a"].is_stored)
    one.client.close()
    (file,) = files(folder)
    other = desk(snapshot_folder=str(folder))
    other.load(model, SMALL)
    assert wait_for_tiers(other, lambda tiers: "a" in tiers)["a"].tier is Tier.DISK
    again = other.answer(A, chat_id="a")
    assert is_warm(again)
    assert again.text == answered.text
    # A crash loses nothing of it either, and damage only time.
    other.client.close()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    third = desk(snapshot_folder=str(folder))
    third.load(model, SMALL)
    evaluated = third.answer(A, chat_id="a")
    assert not is_warm(evaluated)
    assert evaluated.text == answered.text
    wait_for_tiers(third, lambda tiers: "a" in tiers and tiers["a"].is_stored)
    third.client.send(ForgetAllChats())
    wait_for_tiers(third, lambda tiers: not tiers)
    assert not files(folder)


def test_a_chat_that_is_opened_is_in_the_context_and_nothing_is_evaluated(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    folder, model = tmp_path / "snapshots", tiny_model()
    one = desk(snapshot_folder=str(folder))
    one.load(model, SMALL)
    first = one.answer(A, chat_id="a")
    said = (Message("user", A), Message("assistant", first.text, token_ids=first.token_ids))
    n_cached = one.heard.of(CacheChanged)[-1].usage.n_used
    one.answer(B, chat_id="b")

    def open_chat(desk: Desk) -> None:
        request_id = desk.send(lambda request_id: RestoreChat(request_id, "a", said, continue_last=True))
        assert isinstance(desk.heard.wait_for_answer(request_id), ChatRestored)

    def go_on(desk: Desk) -> int:
        messages = (*said, Message("user", "abc"))
        request_id = desk.send(lambda request_id: Generate(request_id, "a", messages, GREEDY))
        finished = desk.heard.wait_for_answer(request_id)
        assert isinstance(finished, Finished)
        return finished.stats.n_reused

    n_before = len(one.heard.of(PrefillProgress))
    open_chat(one)
    usage = one.heard.of(CacheChanged)[-1].usage
    assert (usage.chat_id, usage.n_used) == ("a", n_cached)
    assert [span.message_index for span in usage.spans if span.role == "assistant"][-1] == 1
    assert len(one.heard.of(PrefillProgress)) == n_before
    wait_for_tiers(one, lambda tiers: tiers["a"].tier is Tier.ACTIVE)
    assert go_on(one) == n_cached
    one.client.close()
    # After a restart it comes from disk.
    other = desk(snapshot_folder=str(folder))
    other.load(model, SMALL)
    open_chat(other)
    assert other.heard.of(CacheChanged)[-1].usage.n_used >= n_cached
    assert go_on(other) >= n_cached
    other.client.close()
    # What is damaged is not evaluated either.
    for file in files(folder):
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    third = desk(snapshot_folder=str(folder))
    third.load(model, SMALL)
    open_chat(third)
    assert not third.heard.of(CacheChanged)
    assert go_on(third) == 0


@pytest.mark.parametrize("end", [EngineClient.close, EngineClient.unload], ids=["exit", "unload"])
def test_what_was_said_a_moment_ago_is_on_disk_after_the_end(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], tmp_path: Path, end: Callable[[EngineClient], None]
) -> None:
    folder, model = tmp_path / "snapshots", tiny_model()
    one = desk(snapshot_folder=str(folder))
    one.load(model, SMALL)
    for text, chat_id in ((A, "a"), (B, "b")):
        one.answer(text, chat_id=chat_id)
    # Before there was an idle second.
    assert not files(folder)
    end(one.client)
    if end is EngineClient.unload:
        one.heard.wait(ModelUnloaded)
    assert len(files(folder)) == 2
    other = desk(snapshot_folder=str(folder))
    other.load(model, SMALL)
    assert is_warm(other.answer(A, chat_id="a"))
    assert is_warm(other.answer(B, chat_id="b"))


def test_a_reload_that_may_end_the_process_finds_chats_on_disk(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    one = desk(snapshot_folder=str(tmp_path))
    one.load(tiny_model(), SMALL)
    one.answer(A, chat_id="a")
    one.load(tiny_model(seed=1), SMALL)
    assert len(files(tmp_path)) == 1


def test_a_new_engine_is_told_which_chats_there_are(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    one = desk(snapshot_folder=str(tmp_path))
    one.load(tiny_model(), SMALL)
    for text, chat_id in ((A, "a"), (B, "b")):
        one.answer(text, chat_id=chat_id)
    one.client.close()
    other = desk(snapshot_folder=str(tmp_path))
    # Also before a model is there.
    other.client.send(ForgetOtherChats(("b",)))
    other.load(tiny_model(), SMALL)
    assert wait_for_tiers(other, bool).keys() == {"b"}
    assert len(files(tmp_path)) == 1
    other.answer(B, chat_id="b")
    other.client.send(ForgetOtherChats(()))
    wait_for_tiers(other, lambda tiers: not tiers)
    assert not files(tmp_path)


def test_budgets_outlive_the_process(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    one = desk(snapshot_folder=str(tmp_path))
    one.client.send(SetTierBudgets(TierSettings(ram_mib=0, disk_gib=0)))
    one.client.unload()
    one.load(tiny_model(), SMALL)
    one.answer(A, chat_id="a")
    one.answer(B, chat_id="b")
    assert not is_warm(one.answer(A, chat_id="a"))
    assert all(len(event.tiers) == 1 for event in one.heard.of(ChatTiersChanged))


@pytest.mark.parametrize("arch", ["gemma3", "lfm2", "mamba"])
def test_every_kind_of_memory(desk: Callable[..., Desk], tiny_model: Callable[..., Path], arch: str) -> None:
    one = desk()
    fields = {"n_layer": 3, "n_head_kv": (0, 2, 0)} if arch == "lfm2" else {}
    one.load(tiny_model(arch=arch, **fields), SMALL)
    answered = one.answer(A, chat_id="a")
    one.answer(B, chat_id="b")
    again = one.answer(A, chat_id="a")
    assert again.stats.n_fed < answered.stats.n_fed // 2
    assert again.text == answered.text


def test_a_chat_is_read_into_the_context_without_an_answer(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path]
) -> None:
    one = desk()
    one.load(tiny_model(), SMALL)
    said = (Message("user", A), Message("assistant", "abc def"))
    request_id = one.send(lambda request_id: RestoreChat(request_id, "a", said, continue_last=True, evaluate=True))
    restored = one.heard.wait_for_answer(request_id)
    assert isinstance(restored, ChatRestored)
    assert restored.stats is not None
    assert restored.stats.n_fed == restored.stats.n_prompt > 0
    assert (restored.stats.n_generated, one.heard.of(TextGenerated)) == (0, [])
    usage = one.heard.of(CacheChanged)[-1].usage
    assert (usage.chat_id, usage.n_used) == ("a", restored.stats.n_prompt)
    assert one.heard.of(PrefillProgress)[-1].n_done == restored.stats.n_prompt
    messages = (*said, Message("user", "abc"))
    finished = one.heard.wait_for_answer(one.send(lambda request_id: Generate(request_id, "a", messages, GREEDY)))
    assert isinstance(finished, Finished)
    assert finished.stats.n_reused == restored.stats.n_prompt

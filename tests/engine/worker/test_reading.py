"""A chat is read into the context without an answer: evaluated once, stopped at once, never longer than its room."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from engine.api.chat import Prompt, PromptNotice
from engine.api.errors import EngineError, ErrorCode
from engine.api.facts import SpanState
from engine.api.messages import CacheChanged, ChatRestored, Event, Message, PrefillProgress, RestoreChat
from engine.api.settings import Policy, PolicySettings, TierSettings
from engine.cache.manager import CacheManager
from engine.cache.memory import MemoryKind, MemoryTraits
from engine.snapshots.active_chat import ActiveChat
from engine.snapshots.tiers import Tiers
from engine.worker.reading import restore
from tests.engine.cache.chats import Chat, text
from tests.engine.cache.fake_memory import FakeMemory
from tests.engine.cache.lab import N_CELLS, RecordedMemory

SINKS = PolicySettings(policy=Policy.SINKS, n_sink=4)


class Loaded:
    """A loaded model on a fake memory: its template makes the tokens of the chats that were given to it."""

    def __init__(self) -> None:
        traits = MemoryTraits(MemoryKind.ATTENTION, N_CELLS, 0, True, 4 * N_CELLS)
        self.context = RecordedMemory(FakeMemory(traits))
        self.context.synchronize = lambda: None  # type: ignore[attr-defined]
        self.manager = CacheManager(self.context)
        self.active = ActiveChat(self.manager, traits, Tiers(TierSettings(), None, lambda: 1 << 30), lambda n: n)
        self.read_tps: float | None = None
        self.chats: dict[str, Chat] = {}

    def prompt(self, messages: tuple[Message, ...], *, continue_last: bool = False, look=None):
        return self.chats[messages[0].text].prompt(continue_last=continue_last)

    def untold(self, prompt: Prompt) -> tuple[PromptNotice, ...]:
        return ()

    def usage(self, chat_id: str, n_reused: int, rate: float | None = None):
        sequence = self.manager.sequence
        n_skipped = sequence.count(SpanState.SKIPPED)
        return SimpleNamespace(chat_id=chat_id, n_used=sequence.n_cached, n_skipped=n_skipped, n_reused=n_reused)


@pytest.fixture
def loaded() -> Loaded:
    loaded = Loaded()
    loaded.chats["short"] = Chat().say("user", text(1, 40)).say("assistant", text(2, 30))
    loaded.chats["long"] = Chat()
    for turn in range(20):
        loaded.chats["long"].say("user", text(turn, 20)).say("assistant", text(turn + 50, 20))
    return loaded


def read(
    loaded: Loaded,
    chat: str,
    policy: PolicySettings = SINKS,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> list[Event]:
    events: list[Event] = []
    command = RestoreChat(1, chat, (Message("user", chat),), policy, continue_last=True, evaluate=True)
    restore(loaded, command, events.append, is_cancelled)  # type: ignore[arg-type]
    return events


def of(events: list[Event], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


def n_tokens(loaded: Loaded, chat: str) -> int:
    return len(loaded.chats[chat].prompt(continue_last=True).tokens)


def test_a_chat_is_evaluated_once_and_nothing_is_sampled(loaded: Loaded) -> None:
    n_prompt = n_tokens(loaded, "short")
    events = read(loaded, "short")
    assert loaded.context.n_decoded == n_prompt
    assert (loaded.manager.sequence.n_cached, loaded.active.chat_id) == (n_prompt, "short")
    progress = [event.n_done for event in of(events, PrefillProgress)]
    assert (progress[0], progress[-1]) == (0, n_prompt)
    assert progress == sorted(progress)
    assert of(events, CacheChanged)[-1].usage.n_used == n_prompt
    ends = of(events, ChatRestored)
    assert ends == events[-1:]
    stats = ends[0].stats
    assert (stats.n_prompt, stats.n_fed, stats.n_reused, stats.n_generated, stats.ttft_ms) == (
        n_prompt,
        n_prompt,
        0,
        0,
        None,
    )
    assert stats.read_tps == loaded.read_tps is not None


def test_a_next_message_costs_only_its_own_tokens(loaded: Loaded) -> None:
    read(loaded, "short")
    n_before = loaded.context.n_decoded
    prompt = loaded.chats["short"].say("user", text(3, 10)).prompt()
    feed = loaded.manager.begin(prompt, SINKS)
    assert feed.n_fed == len(prompt.tokens) - n_before


def test_of_a_chat_that_is_longer_than_its_room_only_what_stays_is_evaluated(loaded: Loaded) -> None:
    n_prompt = n_tokens(loaded, "long")
    assert n_prompt > 2 * N_CELLS
    stats = of(read(loaded, "long"), ChatRestored)[0].stats
    assert loaded.context.n_decoded == stats.n_fed <= N_CELLS
    assert stats.n_fed + stats.n_skipped == n_prompt
    assert loaded.manager.sequence.is_cached(0, 4), "its sinks"
    assert loaded.manager.sequence.is_cached(n_prompt - 64, n_prompt), "its last window"


def test_one_for_which_the_policy_has_no_room_costs_nothing(loaded: Loaded) -> None:
    read(loaded, "short")
    n_before = loaded.context.n_decoded
    with pytest.raises(EngineError) as refusal:
        read(loaded, "long", PolicySettings(policy=Policy.STOP))
    assert refusal.value.code is ErrorCode.PROMPT_TOO_LONG
    assert loaded.context.n_decoded == n_before


def test_a_stop_while_it_is_read_keeps_what_was_read(loaded: Loaded) -> None:
    asked = iter(range(1000))
    events = read(loaded, "short", is_cancelled=lambda: next(asked) > 4)
    n_cached = loaded.manager.sequence.n_cached
    assert 0 < n_cached < n_tokens(loaded, "short")
    assert of(events, CacheChanged)[-1].usage.n_used == n_cached
    assert of(events, ChatRestored)[0].stats.n_fed == n_cached
    assert events[-1] == of(events, ChatRestored)[0]
    read(loaded, "short")
    assert loaded.context.n_decoded == n_tokens(loaded, "short"), "only the rest"


def test_one_that_was_stopped_while_it_waited_is_answered_all_the_same(loaded: Loaded) -> None:
    assert read(loaded, "short", is_cancelled=lambda: True) == [ChatRestored(1)]
    assert loaded.context.n_decoded == 0

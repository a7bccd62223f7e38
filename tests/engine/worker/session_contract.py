"""What a session does with any back end: load, answer, stop, evict, edit, restore, unload."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.api.chat import Message
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import (
    CacheChanged,
    ChatRestored,
    ChatTiersChanged,
    Command,
    CountTokens,
    Event,
    Finished,
    FinishReason,
    ForgetChat,
    Generate,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    ModelLoaded,
    PrefillProgress,
    RestoreChat,
    TextGenerated,
    Tier,
    TokensCounted,
)
from engine.api.options import EngineOptions
from engine.api.settings import LoadSettings, Policy, PolicySettings, SamplingSettings
from engine.worker.backend import Backend
from engine.worker.session import Session

SMALL = LoadSettings(n_ctx=256, n_batch=64, n_ubatch=16, n_threads=1, n_gpu_layers=0)
LONG = "hello there\n" * 9
"""Long enough to be worth keeping, and short enough for the cache of any vocabulary."""
SAMPLING = SamplingSettings(seed=1, temperature=0.0, max_tokens=6, ignore_eos=True)


def of(events: list[Event], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


@dataclass
class SessionDesk:
    """A session in this process, and the chats of someone who talks with it."""

    path: Path
    folder: Path
    events: list[Event] = field(default_factory=list)
    is_cancelled: Callable[[int], bool] = lambda _request_id: False
    session: Session = field(init=False)

    def open(self, backend: Backend) -> None:
        options = EngineOptions(log_path="", snapshot_folder=str(self.folder))
        self.session = Session(backend, options, self.events.append, self._is_cancelled, lambda: False)

    def _is_cancelled(self, request_id: int) -> bool:
        return self.is_cancelled(request_id)

    def do(self, command: Command) -> list[Event]:
        """What the session says while it carries a command out."""
        self.events.clear()
        self.session.carry_out(command)
        return list(self.events)

    def load(self, settings: LoadSettings = SMALL) -> list[Event]:
        return self.do(LoadModel(1, str(self.path), settings))

    def ask(
        self,
        chat: list[Message],
        text: str,
        chat_id: str = "a",
        policy: PolicySettings | None = None,
        sampling: SamplingSettings = SAMPLING,
    ) -> Finished:
        """Ask, and keep the answer in ``chat``."""
        chat.append(Message("user", text))
        request = Generate(2, chat_id, tuple(chat), sampling, policy or PolicySettings(policy=Policy.STOP))
        (finished,) = of(self.do(request), Finished)
        chat.append(Message("assistant", finished.text, token_ids=finished.token_ids or None))
        return finished

    def tiers(self) -> dict[str, Tier]:
        """Where chats are, as was said last."""
        self.session.tell_tiers()
        said = of(self.events, ChatTiersChanged)
        return {one.chat_id: one.tier for one in said[-1].tiers} if said else {}


class SessionContract:
    """Subclasses give the fixture ``backend``, and ``model_path``, a model without a template of its own."""

    @pytest.fixture
    def desk(self, backend: Backend, model_path: Path, tmp_path: Path) -> Iterator[SessionDesk]:
        desk = SessionDesk(model_path, tmp_path / "snapshots")
        desk.open(backend)
        yield desk
        desk.session.close()

    @pytest.fixture
    def loaded(self, desk: SessionDesk) -> SessionDesk:
        desk.load()
        return desk

    def test_it_says_what_there_is_and_answers_nothing_without_a_model(self, desk: SessionDesk, backend: Backend):
        assert desk.events[0] == backend.ready
        with pytest.raises(EngineError) as caught:
            desk.ask([], "hello")
        assert caught.value.code is ErrorCode.NO_MODEL

    def test_a_load_goes_through_its_stages_and_tells_what_came_of_it(self, desk: SessionDesk):
        events = desk.load()
        stages = list(dict.fromkeys(event.stage for event in of(events, LoadProgress)))
        assert stages == [LoadStage.READING, LoadStage.WEIGHTS, LoadStage.CONTEXT, LoadStage.WARM_UP]
        (loaded,) = of(events, ModelLoaded)
        assert (loaded.facts.n_ctx, loaded.facts.path) == (256, str(desk.path))
        assert loaded.facts.settings.n_gpu_layers == 0
        assert sum(memory.held_bytes for memory in loaded.facts.devices) > 0

    def test_an_answer_is_streamed_and_its_account_adds_up(self, loaded: SessionDesk):
        finished = loaded.ask([], "hello there")
        events = loaded.events
        assert finished.reason is FinishReason.MAX_TOKENS
        assert finished.text == "".join(event.text for event in of(events, TextGenerated))
        stats = finished.stats
        assert (stats.n_generated, len(finished.token_ids)) == (6, 6)
        assert stats.n_prompt == stats.n_fed + stats.n_reused
        assert of(events, PrefillProgress)[-1].n_done == stats.n_prompt
        usage = of(events, CacheChanged)[-1].usage
        assert usage.n_used == stats.n_prompt + stats.n_generated - 1, "the last token is sampled and not yet evaluated"

    def test_a_next_turn_feeds_its_own_tokens_and_no_more(self, loaded: SessionDesk):
        chat: list[Message] = []
        first = loaded.ask(chat, "hello").stats
        second = loaded.ask(chat, "hello there").stats
        assert second.n_reused == first.n_prompt + first.n_generated - 1
        assert second.n_fed == second.n_prompt - second.n_reused

    def test_an_edited_turn_costs_what_follows_it(self, loaded: SessionDesk):
        chat: list[Message] = []
        loaded.ask(chat, "hello")
        n_first = loaded.ask(chat, "hello there").stats.n_reused
        edited = loaded.ask(chat[:2], "user").stats
        assert edited.n_reused >= n_first - 1
        assert edited.n_fed < edited.n_prompt

    @pytest.mark.parametrize("n_looks", range(1, 9))
    def test_a_stop_ends_an_answer_wherever_it_comes(self, loaded: SessionDesk, n_looks: int):
        looks = iter(range(n_looks))
        loaded.is_cancelled = lambda _request_id: next(looks, None) is None
        chat: list[Message] = []
        finished = loaded.ask(chat, "hello " * 10)
        assert finished.reason is FinishReason.CANCELLED
        assert finished.stats.n_generated < 6
        loaded.is_cancelled = lambda _request_id: False
        if not chat[-1].text:
            chat.pop()
            chat.pop()
        assert loaded.ask(chat, "hello").reason is FinishReason.MAX_TOKENS

    def test_a_full_cache_stops_or_makes_room_as_the_policy_says(self, loaded: SessionDesk):
        many = SamplingSettings(seed=1, temperature=0.0, max_tokens=400, ignore_eos=True)
        stopped = loaded.ask([], "hello", sampling=many)
        assert (stopped.reason, stopped.stats.n_evicted) == (FinishReason.CACHE_FULL, 0)
        sinks = PolicySettings(policy=Policy.SINKS, n_sink=4, n_evict=16)
        went_on = loaded.ask([], "hello", "b", sinks, many)
        assert (went_on.reason, went_on.stats.n_generated) == (FinishReason.MAX_TOKENS, 400)
        assert went_on.stats.n_evicted > 0
        assert of(loaded.events, CacheChanged)[-1].usage.n_used <= 256

    def test_a_chat_that_was_left_is_back_without_being_read(self, loaded: SessionDesk):
        first: list[Message] = []
        used = loaded.ask(first, LONG).stats
        loaded.ask([], "hello there", "b")
        assert loaded.tiers() == {"a": Tier.RAM, "b": Tier.ACTIVE}
        restored = loaded.do(RestoreChat(3, "a", tuple(first), PolicySettings(policy=Policy.STOP), continue_last=True))
        assert of(restored, CacheChanged)[-1].usage.n_used == used.n_prompt + used.n_generated - 1
        assert of(restored, PrefillProgress) == []
        assert len(of(restored, ChatRestored)) == 1
        assert loaded.ask(first, "hello").stats.n_reused >= used.n_prompt

    def test_a_chat_outlives_a_load_of_the_same_model(self, loaded: SessionDesk):
        chat: list[Message] = []
        used = loaded.ask(chat, LONG).stats
        loaded.load()
        assert loaded.ask(chat, "hello").stats.n_reused >= used.n_prompt

    def test_a_forgotten_chat_is_read_again(self, loaded: SessionDesk):
        chat: list[Message] = []
        loaded.ask(chat, "hello")
        loaded.do(ForgetChat("a"))
        assert loaded.ask(chat, "hello").stats.n_reused == 0

    def test_a_draft_is_counted_as_it_would_be_fed(self, loaded: SessionDesk):
        (counted,) = of(loaded.do(CountTokens(4, (), "hello there")), TokensCounted)
        assert not counted.is_estimate
        assert counted.n_tokens == loaded.ask([], "hello there").stats.n_prompt

    @pytest.mark.parametrize("n_looks", range(4))
    def test_a_load_that_is_stopped_leaves_nothing_and_the_next_one_works(self, desk: SessionDesk, n_looks: int):
        looks = iter(range(n_looks))
        desk.is_cancelled = lambda _request_id: next(looks, None) is None
        events = desk.load()
        assert len(of(events, LoadCancelled)) == 1
        assert of(events, ModelLoaded) == []
        desk.is_cancelled = lambda _request_id: False
        with pytest.raises(EngineError):
            desk.ask([], "hello")
        assert len(of(desk.load(), ModelLoaded)) == 1
        assert desk.ask([], "hello").reason is FinishReason.MAX_TOKENS

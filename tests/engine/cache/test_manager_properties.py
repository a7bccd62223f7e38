"""Random chats on tiny caches: whatever a person does, something is freed, it ends, or it is refused."""

from __future__ import annotations

import functools

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.api.chat import Prompt, Role
from engine.api.errors import EngineError, ErrorCode
from engine.api.settings import Align, Policy, PolicySettings
from engine.cache import window
from engine.cache.manager import AppendResult, CacheManager, Feed
from engine.cache.memory import MemoryKind, MemoryTraits
from engine.cache.snapshot import Snapshot
from engine.cache.window import allowed_policies
from tests.engine.cache.chats import Chat
from tests.engine.cache.fake_memory import FakeMemory
from tests.engine.cache.lab import After, RecordedMemory

KINDS = st.sampled_from(
    [
        (MemoryKind.ATTENTION, 0, True),
        (MemoryKind.ATTENTION, 0, False),
        (MemoryKind.ATTENTION, 6, True),
        (MemoryKind.SLIDING, 6, False),
        (MemoryKind.RECURRENT, 0, False),
        (MemoryKind.HYBRID, 0, False),
        (MemoryKind.HYBRID, 6, False),
    ]
)
POLICIES = st.builds(
    PolicySettings,
    policy=st.sampled_from([None, *Policy]),
    n_sink=st.integers(0, 6),
    n_window=st.none() | st.integers(2, 40),
    n_evict=st.none() | st.integers(1, 12),
    keep_system=st.booleans(),
    align=st.sampled_from(Align),
)
LENGTHS = st.integers(0, 12)
STOPS = st.none() | st.integers(0, 6)


class ManagedChat(RuleBasedStateMachine):
    """One chat on one cache; every token of it is another one, so that nothing wrong can look right."""

    @initialize(
        kind=KINDS,
        n_cells=st.integers(8, 64),
        n_more_positions=st.integers(0, 60),
        n_batch=st.integers(1, 16),
        n_ubatch=st.integers(1, 5),
        policy=POLICIES,
    )
    def load(
        self,
        kind: tuple[MemoryKind, int, bool],
        n_cells: int,
        n_more_positions: int,
        n_batch: int,
        n_ubatch: int,
        policy: PolicySettings,
    ) -> None:
        traits = MemoryTraits(kind[0], n_cells, kind[1], kind[2], n_cells + n_more_positions)
        self.new_memory = functools.partial(FakeMemory, traits, n_batch=n_batch, n_ubatch=n_ubatch)
        self.kept: list[Snapshot] = []
        self.start()
        self.policy = policy
        self.messages: list[tuple[Role, list[int]]] = []
        self.answering: list[int] | None = None
        self.n_tokens_made = 1000

    def start(self) -> None:
        self.fake = self.new_memory()
        self.memory = RecordedMemory(self.fake)
        self.manager = CacheManager(self.memory)

    def words(self, n_words: int) -> list[int]:
        self.n_tokens_made += n_words
        return list(range(self.n_tokens_made - n_words, self.n_tokens_made))

    # What a person does

    @rule(policy=POLICIES)
    def change_policy(self, policy: PolicySettings) -> None:
        self.policy = policy

    @precondition(lambda self: not self.messages)
    @rule(n_words=LENGTHS)
    def write_system_prompt(self, n_words: int) -> None:
        self.messages.append(("system", self.words(n_words)))

    @rule(n_words=LENGTHS, stop=STOPS)
    def ask(self, n_words: int, stop: int | None) -> None:
        self.end_answer()
        self.messages.append(("user", self.words(n_words)))
        self.request(stop)

    @precondition(lambda self: any(role == "user" for role, _words in self.messages))
    @rule(data=st.data(), n_words=LENGTHS, stop=STOPS)
    def edit(self, data: st.DataObject, n_words: int, stop: int | None) -> None:
        self.end_answer()
        questions = [index for index, (role, _words) in enumerate(self.messages) if role == "user"]
        index = data.draw(st.sampled_from(questions))
        kept = self.messages[index][1][: n_words // 2]
        self.messages[index:] = [("user", [*kept, *self.words(n_words)])]
        self.request(stop)

    @precondition(lambda self: self.messages and self.messages[-1][0] == "user")
    @rule(stop=STOPS)
    def regenerate(self, stop: int | None) -> None:
        self.answering = None
        self.request(stop)

    @precondition(lambda self: self.messages and self.messages[-1][0] == "assistant" and self.messages[-1][1])
    @rule(stop=STOPS)
    def continue_answer(self, stop: int | None) -> None:
        self.request(stop, continue_last=True)

    @precondition(lambda self: self.answering is not None)
    @rule(n_words=st.integers(1, 30), stop=STOPS)
    def sample(self, n_words: int, stop: int | None) -> None:
        assert self.answering is not None
        manager = self.manager
        for token in self.words(n_words):
            n_evicted, was_full = manager.counts.n_evicted, not manager.n_free
            n_tokens = len(manager.sequence)
            result = manager.append(token, None if stop is None else After(stop))
            if result is not AppendResult.CACHED:
                assert result is not AppendResult.FULL or manager.limits.policy is Policy.STOP
                assert result is not AppendResult.INTERRUPTED or stop is not None
                self.end_answer()
                return
            self.answering.append(token)
            assert len(manager.sequence) == n_tokens + 1
            assert not was_full or manager.counts.n_evicted > n_evicted

    @rule()
    def use_up_the_cache_elsewhere(self) -> None:
        self.end_answer()
        self.memory.clear()
        self.manager.forget()

    @rule()
    def leave(self) -> None:
        snapshot = self.manager.snapshot()
        if snapshot is not None:
            self.kept.append(snapshot)

    @precondition(lambda self: self.kept)
    @rule(data=st.data(), is_new=st.booleans())
    def come_back(self, data: st.DataObject, is_new: bool) -> None:
        self.end_answer()
        if is_new:
            self.start()
        assert self.manager.restore(data.draw(st.sampled_from(self.kept)))

    @precondition(lambda self: self.answering is not None)
    @rule()
    def fail(self) -> None:
        if self.manager.limits.policy is Policy.STOP and not self.manager.n_free:
            return
        self.fake.is_failing = True
        with pytest.raises(EngineError, match="evaluate this text") as failed:
            self.manager.append(self.words(1)[0])
        assert failed.value.code is ErrorCode.DECODE_FAILED
        assert len(self.manager.sequence) == 0
        self.end_answer()

    # How it is done

    def end_answer(self) -> None:
        if self.answering is not None:
            self.messages.append(("assistant", self.answering))
        self.answering = None

    def request(self, stop: int | None, *, continue_last: bool = False) -> None:
        chat = Chat([(role, tuple(words)) for role, words in self.messages])
        prompt = chat.prompt(continue_last=continue_last)
        n_decoded, n_same = self.memory.n_decoded, self.manager.sequence.common_prefix(prompt.tokens)
        planned = self.begin(prompt)
        if planned is None:
            return
        self.check_plan(planned, prompt, n_same)
        for _n_done in self.manager.feed(None if stop is None else After(stop)):
            self.nothing_is_wrong()
        assert self.manager.is_fed or stop is not None
        if stop is None and not self.manager.counts.n_renumbered:
            assert self.memory.n_decoded - n_decoded == planned.n_fed
        if stop is not None and stop % 2:
            for _n_done in self.manager.feed():
                self.nothing_is_wrong()
            assert self.manager.is_fed
        if not self.manager.is_fed:
            return
        sequence, limits = self.manager.sequence, self.manager.limits
        assert sequence.tokens(0, len(sequence)) == list(prompt.tokens)
        assert sequence.is_cached(0, min(limits.n_sink, len(sequence)))
        if prompt.turns[0].role == "system" and self.policy.keep_system and limits.policy is not Policy.STOP:
            assert sequence.is_cached(0, prompt.turns[0].end)
        newest = window.newest_message_start(prompt.turns)
        if newest is not None and len(sequence) - max(newest, limits.n_sink) <= limits.n_window:
            assert sequence.is_cached(newest, len(sequence)), "the newest message is whole"
        if continue_last:
            self.answering = self.messages.pop()[1]
        else:
            self.answering = []

    def begin(self, prompt: Prompt) -> Feed | None:
        """None if it is refused, which must change nothing."""
        before = self.manager.sequence.runs
        try:
            return self.manager.begin(prompt, self.policy)
        except EngineError as error:
            refusal = error
        assert refusal.code in (ErrorCode.PROMPT_TOO_LONG, ErrorCode.SETTING_INVALID)
        assert self.manager.sequence.runs == before
        return None

    def check_plan(self, planned: Feed, prompt: Prompt, n_same: int) -> None:
        limits = self.manager.limits
        assert planned.n_prompt == len(prompt.tokens) == planned.n_reused + planned.n_skipped + planned.n_fed
        assert 1 <= planned.n_fed <= limits.capacity
        assert 0 <= planned.n_reused <= n_same
        assert planned.n_skipped >= 0
        assert planned.n_recomputed <= planned.n_fed
        assert planned.n_recomputed > 0 or planned.reason is None
        assert limits.policy in allowed_policies(self.memory.traits.kind)
        if planned.reason is None and self.memory.traits.kind is MemoryKind.ATTENTION and not self.memory.traits.n_swa:
            assert planned.n_fed + planned.n_skipped == planned.n_prompt - min(n_same, planned.n_prompt - 1)

    # What holds after every step

    @invariant()
    def nothing_is_wrong(self) -> None:
        sequence, limits = self.manager.sequence, self.manager.limits
        assert not self.fake.faults(sequence)
        assert sequence.n_cached <= limits.capacity <= self.memory.traits.n_cells
        assert sequence.next_position <= self.memory.traits.n_positions


ManagedChat.TestCase.settings = settings(
    max_examples=150, stateful_step_count=25, suppress_health_check=list(HealthCheck)
)


class TestManagedChat(ManagedChat.TestCase):
    """Chats, one step at a time."""


@settings(max_examples=300)
@given(
    kind=KINDS,
    n_cells=st.integers(8, 20),
    system=LENGTHS,
    asked=st.integers(0, 20),
    policy=POLICIES,
    n_new=st.integers(1, 60),
)
def test_every_small_room_frees_something_ends_or_refuses(
    kind: tuple[MemoryKind, int, bool], n_cells: int, system: int, asked: int, policy: PolicySettings, n_new: int
):
    memory = FakeMemory(MemoryTraits(kind[0], n_cells, kind[1], kind[2], 2 * n_cells))
    manager = CacheManager(memory)
    chat = Chat([("system", tuple(range(100, 100 + system))), ("user", tuple(range(200, 200 + asked)))])
    try:
        manager.begin(chat.prompt(), policy)
    except EngineError:
        return
    list(manager.feed())
    for token in range(1000, 1000 + n_new):
        if manager.append(token) is AppendResult.FULL:
            assert manager.limits.policy is Policy.STOP
            break
        assert not memory.faults(manager.sequence)
        assert manager.sequence.n_cached <= manager.limits.capacity
    if policy.policy is not Policy.STOP:
        assert len(manager.sequence) == len(chat.prompt().tokens) + n_new

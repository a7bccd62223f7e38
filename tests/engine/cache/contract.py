"""What the cache manager promises, whatever memory is under it: inherited by the tests of the fake and of llama.cpp."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pytest

from engine.cache.manager import AppendResult, CacheManager, RecomputeReason
from engine.cache.memory import CacheMemory, DecodeOutcome, MemoryKind, MemoryTraits
from engine.cache.sequence import TokenSequence
from engine.cache.window import allowed_policies
from engine.errors import EngineError, ErrorCode
from engine.messages import SpanState
from engine.settings import Align, Policy, PolicySettings
from tests.engine.cache.chats import Chat, answer, feed, long_chat, text

N_CELLS = 256
"""What every memory of these tests has."""


class RecordedMemory:
    """A memory that remembers every batch it was given: the first position and the tokens."""

    def __init__(self, memory: CacheMemory) -> None:
        self.inner = memory
        self.batches: list[tuple[int, tuple[int, ...]]] = []

    @property
    def traits(self) -> MemoryTraits:
        return self.inner.traits

    @property
    def n_batch(self) -> int:
        return self.inner.n_batch

    @property
    def n_decoded(self) -> int:
        return sum(len(tokens) for _position, tokens in self.batches)

    def decode(
        self,
        tokens: Sequence[int],
        first_position: int,
        *,
        interrupt: Callable[[], bool] | None = None,
        all_logits: bool = False,
    ) -> DecodeOutcome:
        outcome = self.inner.decode(tokens, first_position, interrupt=interrupt, all_logits=all_logits)
        self.batches.append((first_position, tuple(tokens[: outcome.n_done])))
        return outcome

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Lab(Protocol):
    """One kind of memory, and how to look into it."""

    kind: MemoryKind
    is_exact: bool
    """Whether equal inputs give equal results to the last bit, whatever cells they lie in."""

    def new_memory(self) -> CacheMemory:
        """A memory of its own, with `N_CELLS` cells and nothing in it."""
        ...

    def check(self, memory: CacheMemory, sequence: TokenSequence) -> None:
        """Fail unless memory holds exactly what the sequence says."""
        ...

    def result(self, memory: CacheMemory) -> Any:
        """What the last decode gave, to compare."""
        ...

    def assert_same(self, one: Any, other: Any, *, exactly: bool) -> None: ...


class After:
    """An interrupt that says yes when asked for the nth time, and from then on."""

    def __init__(self, n_asked: int) -> None:
        self._n_left = n_asked

    def __call__(self) -> bool:
        self._n_left -= 1
        return self._n_left < 0


class CacheContract:
    """Inherited with a fixture `lab`."""

    @pytest.fixture
    def memory(self, lab: Lab) -> RecordedMemory:
        return RecordedMemory(lab.new_memory())

    @pytest.fixture
    def policies(self, lab: Lab) -> tuple[Policy, ...]:
        return allowed_policies(lab.kind)

    # Reuse changes nothing

    def test_reuse_gives_what_the_same_batches_give_without_it(self, lab: Lab, memory: RecordedMemory):
        manager, chat = CacheManager(memory), Chat()
        for pair in range(4):
            chat.say("user", text(pair, 11))
            feed(manager, chat.prompt(), PolicySettings())
            chat.say("assistant", text(pair + 50, 5))
            answer(manager, chat.messages[-1][1])
        fresh = lab.new_memory()
        for position, tokens in memory.batches:
            fresh.decode(tokens, position)
        lab.assert_same(lab.result(memory.inner), lab.result(fresh), exactly=True)

    def test_a_prompt_that_is_known_costs_one_token(self, lab: Lab, memory: RecordedMemory):
        manager, prompt = CacheManager(memory, feed_size=1), long_chat(2).prompt()
        feed(manager, prompt, PolicySettings())
        before = lab.result(memory.inner)
        planned = feed(manager, prompt, PolicySettings())
        if lab.kind is MemoryKind.ATTENTION:
            assert (planned.n_fed, planned.n_reused) == (1, len(prompt.tokens) - 1)
            answer(manager, text(9, N_CELLS))
            manager.forget()
            feed(manager, prompt, PolicySettings())
            assert feed(manager, prompt, PolicySettings()).n_fed == 1
        lab.assert_same(lab.result(memory.inner), before, exactly=lab.is_exact)
        lab.check(memory.inner, manager.sequence)

    # The sequence and native memory are equal

    def test_after_every_operation_the_cells_are_those_of_the_sequence(
        self, lab: Lab, memory: RecordedMemory, policies: tuple[Policy, ...]
    ):
        for policy in policies:
            manager, settings = CacheManager(memory), PolicySettings(policy=policy, n_evict=9)
            chat = Chat().say("system", text(99, 10))
            for turn in range(9):
                chat.say("user", text(turn, 13))
                prompt = chat.prompt()
                if policy is Policy.STOP and len(prompt.tokens) > N_CELLS:
                    break
                manager.begin(prompt, settings)
                lab.check(memory.inner, manager.sequence)
                for _n_done in manager.feed():
                    lab.check(memory.inner, manager.sequence)
                words = text(turn + 70, 25)
                for index, token in enumerate(words):
                    if manager.append(token) is AppendResult.FULL:
                        break
                    if index % 6 == 0:
                        lab.check(memory.inner, manager.sequence)
                chat.say("assistant", words)
            assert policy is Policy.STOP or manager.sequence.n_cached <= manager.limits.capacity
            assert policy is Policy.STOP or manager.sequence.n_cached < len(manager.sequence)
            manager.forget()
            lab.check(memory.inner, manager.sequence)
            assert len(manager.sequence) == 0

    def test_a_memory_that_someone_else_emptied_is_read_again(self, lab: Lab, memory: RecordedMemory):
        manager, prompt = CacheManager(memory), long_chat(2).prompt()
        feed(manager, prompt, PolicySettings())
        memory.clear()
        assert feed(manager, prompt, PolicySettings()).n_fed == len(prompt.tokens)
        lab.check(memory.inner, manager.sequence)

    # A next turn costs its new tokens

    def test_twenty_turns_each_cost_exactly_their_new_tokens(
        self, lab: Lab, memory: RecordedMemory, policies: tuple[Policy, ...]
    ):
        for policy, align in itertools.product(policies, Align):
            if policy is Policy.STOP:
                continue
            manager, chat, n_known = CacheManager(memory), Chat(), 0
            for turn in range(20):
                chat.say("user", text(turn, 8))
                prompt, n_before = chat.prompt(), memory.n_decoded
                planned = feed(manager, prompt, PolicySettings(policy=policy, align=align))
                assert planned.n_prompt == planned.n_reused + planned.n_skipped + planned.n_fed
                n_recomputed = manager.counts.n_recomputed - (planned.n_recomputed if planned.reason else 0)
                assert n_recomputed == 0 or (manager.counts.n_renumbered and not memory.traits.can_shift)
                assert memory.n_decoded - n_before == planned.n_fed + n_recomputed
                if planned.reason is not RecomputeReason.CACHE_FULL:
                    assert planned.n_fed == len(prompt.tokens) - n_known
                    assert (planned.n_reused, planned.n_recomputed) == (n_known, 0)
                words = text(turn + 60, 15)
                n_known = len(prompt.tokens) + len(words)
                assert set(answer(manager, words)) == {AppendResult.CACHED}
                chat.say("assistant", words)
            lab.check(memory.inner, manager.sequence)
            assert manager.sequence.count(SpanState.EVICTED) > 0
            manager.forget()

    # Edit and regenerate

    def test_regenerating_costs_one_short_turn(self, lab: Lab, memory: RecordedMemory):
        manager, prompt = CacheManager(memory, feed_size=1), long_chat(3, n_user=20).say("user", text(7, 20)).prompt()
        feed(manager, prompt, PolicySettings())
        expected = lab.result(memory.inner)
        for attempt in range(3):
            answer(manager, text(40 + attempt, 12))
            planned = feed(manager, prompt, PolicySettings())
            assert planned.n_fed <= prompt.turns[-1].end - prompt.turns[-1].start
            assert planned.reason is None
            lab.check(memory.inner, manager.sequence)
            lab.assert_same(lab.result(memory.inner), expected, exactly=lab.is_exact)

    def test_an_edit_costs_what_follows_the_turn_it_is_in(self, lab: Lab, memory: RecordedMemory):
        chat, edited = long_chat(5, n_user=15, n_answer=11), 6
        manager = CacheManager(memory, feed_size=1)
        for n_messages in range(1, len(chat.messages), 2):
            feed(manager, Chat(chat.messages[:n_messages]).prompt(), PolicySettings())
            answer(manager, chat.messages[n_messages][1])
        new = Chat([*chat.messages[:edited], ("user", text(500, 15))])
        prompt = new.prompt()
        planned = feed(manager, prompt, PolicySettings())
        assert planned.n_fed <= len(prompt.tokens) - prompt.turns[edited].start
        assert planned.reason is None
        lab.check(memory.inner, manager.sequence)
        fresh = lab.new_memory()
        feed(CacheManager(fresh, feed_size=1), prompt, PolicySettings())
        lab.assert_same(lab.result(memory.inner), lab.result(fresh), exactly=lab.is_exact)

    def test_regenerating_after_evictions_close_to_the_question(self, lab: Lab, memory: RecordedMemory):
        policy = allowed_policies(lab.kind)[0]
        manager, settings = CacheManager(memory), PolicySettings(policy=policy, n_window=40, n_evict=1)
        prompt = long_chat(1).say("user", (77,)).prompt()
        feed(manager, prompt, settings)
        newest = prompt.turns[-2].start
        while not (lost := [run.end for run in manager.sequence.runs if run.state is SpanState.EVICTED]) or (
            lost[-1] < newest - 1
        ):
            manager.append(10 + len(manager.sequence) % 230)
        planned = feed(manager, prompt, settings)
        assert planned.reason is None or lab.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID)
        assert planned.reason is not None or planned.n_fed <= 3
        lab.check(memory.inner, manager.sequence)

    def test_an_edit_before_everything_cached_reads_again_and_says_so(
        self, lab: Lab, memory: RecordedMemory, policies: tuple[Policy, ...]
    ):
        manager, chat = CacheManager(memory), long_chat(14, n_user=15, n_answer=15)
        settings = PolicySettings(policy=policies[0])
        for n_messages in range(1, len(chat.messages), 2):
            feed(manager, Chat(chat.messages[:n_messages]).prompt(), settings)
            answer(manager, chat.messages[n_messages][1])
        edited = Chat([*chat.messages[:4], ("user", text(500, 15))]).prompt()
        planned = feed(manager, edited, settings)
        assert planned.reason in (RecomputeReason.EVICTED_BEFORE_CHANGE, RecomputeReason.NO_CHECKPOINT)
        assert planned.n_recomputed > 0
        assert manager.sequence.n_cached == len(edited.tokens)
        lab.check(memory.inner, manager.sequence)
        fresh = lab.new_memory()
        feed(CacheManager(fresh), edited, settings)
        lab.assert_same(lab.result(memory.inner), lab.result(fresh), exactly=False)

    def test_a_question_whose_answer_pushed_it_out_is_read_again(self, lab: Lab, memory: RecordedMemory):
        if lab.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID):
            pytest.skip("nothing is pushed out of a state")
        manager, prompt = CacheManager(memory), Chat().say("user", text(1, 60)).prompt()
        feed(manager, prompt, PolicySettings())
        answer(manager, text(2, N_CELLS))
        planned = feed(manager, prompt, PolicySettings())
        assert planned.reason is not None
        assert manager.sequence.n_cached == len(prompt.tokens)
        lab.check(memory.inner, manager.sequence)

    def test_room_for_a_longer_question_is_not_taken_from_its_beginning(self, lab: Lab, memory: RecordedMemory):
        settings = PolicySettings(policy=allowed_policies(lab.kind)[0], n_window=40, n_evict=34)
        manager, short = CacheManager(memory), long_chat(1).say("user", text(1, 8))
        feed(manager, short.prompt(), settings)
        longer = long_chat(1).say("user", (*text(1, 8), *text(2, 14))).prompt()
        feed(manager, longer, settings)
        assert manager.sequence.is_cached(longer.turns[-2].start, len(longer.tokens))
        lab.check(memory.inner, manager.sequence)

    def test_turning_sinks_on_later_reads_them_again(self, lab: Lab, memory: RecordedMemory):
        if lab.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID):
            pytest.skip("a state has no sinks")
        manager, chat = CacheManager(memory), long_chat(3, system=20)
        feed(manager, chat.prompt(), PolicySettings(policy=Policy.WINDOW, keep_system=False))
        answer(manager, text(3, N_CELLS))
        chat.say("assistant", text(3, N_CELLS)).say("user", text(4, 9))
        planned = feed(manager, chat.prompt(), PolicySettings())
        assert planned.reason is RecomputeReason.EVICTED_BEFORE_CHANGE
        assert manager.sequence.is_cached(0, manager.limits.n_sink)
        lab.check(memory.inner, manager.sequence)

    def test_sinks_of_which_only_the_first_are_gone_are_all_read_again(self, lab: Lab, memory: RecordedMemory):
        if lab.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID):
            pytest.skip("a state has no sinks")
        manager, chat = CacheManager(memory), long_chat(3)
        n_tokens = len(chat.prompt().tokens)
        feed(manager, chat.prompt(), PolicySettings(policy=Policy.WINDOW, n_window=n_tokens, n_evict=3))
        answer(manager, text(3, 2))
        assert next(manager.sequence.cached_runs()).start == 3
        chat.say("assistant", text(3, 2)).say("user", text(4, 9))
        feed(manager, chat.prompt(), PolicySettings(policy=Policy.SINKS, n_sink=8))
        assert manager.sequence.is_cached(0, 8)
        lab.check(memory.inner, manager.sequence)

    def test_a_checkpoint_of_a_text_that_was_edited_away_is_never_used(self, lab: Lab, memory: RecordedMemory):
        manager, settings = CacheManager(memory, feed_size=1), PolicySettings(n_evict=2)
        short, longer = long_chat(1).say("user", text(1, 6)), long_chat(1).say("user", text(2, 30))
        feed(manager, short.prompt(), settings)
        feed(manager, longer.prompt(), settings)
        # One eviction, of what stands before the question, where memory can do without a recompute.
        answer(manager, text(3, manager.n_free + (lab.kind in (MemoryKind.ATTENTION, MemoryKind.SLIDING))))
        # Between the end of the short question and the end of the longer one.
        edited = long_chat(1).say("user", (*text(2, 20), *text(5, 6)))
        planned = feed(manager, edited.prompt(), settings)
        lab.check(memory.inner, manager.sequence)
        assert planned.reason is None
        if manager.sequence.n_cached == len(manager.sequence):
            fresh = lab.new_memory()
            feed(CacheManager(fresh, feed_size=1), edited.prompt(), settings)
            lab.assert_same(lab.result(memory.inner), lab.result(fresh), exactly=lab.is_exact)

    def test_after_an_answer_was_read_again_regenerating_is_cheap(self, lab: Lab, memory: RecordedMemory):
        manager, settings = CacheManager(memory), PolicySettings(policy=Policy.RECOMPUTE)
        prompt = long_chat(7).say("user", text(1, 6)).prompt()
        feed(manager, prompt, settings)
        answer(manager, text(3, manager.n_free + 9))
        assert manager.counts.n_recomputed > 0
        planned = feed(manager, prompt, settings)
        assert planned.reason is None
        assert planned.n_fed <= 3
        lab.check(memory.inner, manager.sequence)

    # More than there is room for

    def test_a_chat_longer_than_the_room_is_fed_from_its_sinks_and_its_end(
        self, lab: Lab, memory: RecordedMemory, policies: tuple[Policy, ...]
    ):
        prompt = long_chat(40, system=12).say("user", text(8, 20)).prompt()
        for policy, align in itertools.product(policies, Align):
            manager = CacheManager(memory)
            settings, n_before = PolicySettings(policy=policy, align=align), memory.n_decoded
            if policy is Policy.STOP:
                with pytest.raises(EngineError) as refused:
                    manager.begin(prompt, settings)
                assert refused.value.code is ErrorCode.PROMPT_TOO_LONG
                continue
            planned = feed(manager, prompt, settings)
            assert memory.n_decoded - n_before == planned.n_fed <= manager.limits.capacity
            assert planned.n_skipped == len(prompt.tokens) - planned.n_fed
            assert (planned.n_reused, planned.n_recomputed, planned.reason) == (0, 0, None)
            assert manager.sequence.is_cached(0, manager.limits.n_sink)
            assert manager.sequence.is_cached(prompt.turns[-2].start, len(prompt.tokens))
            lab.check(memory.inner, manager.sequence)
            manager.forget()

    def test_a_message_that_alone_has_no_room_is_refused_and_nothing_changes(
        self, lab: Lab, memory: RecordedMemory, policies: tuple[Policy, ...]
    ):
        manager, chat = CacheManager(memory), long_chat(2)
        feed(manager, chat.prompt(), PolicySettings())
        n_before = len(manager.sequence)
        chat.say("user", text(1, N_CELLS + 1))
        for policy in policies:
            with pytest.raises(EngineError) as refused:
                manager.begin(chat.prompt(), PolicySettings(policy=policy))
            assert refused.value.code is ErrorCode.PROMPT_TOO_LONG
        assert len(manager.sequence) == n_before
        lab.check(memory.inner, manager.sequence)

    def test_the_policy_stop_says_full_and_loses_nothing(self, lab: Lab, memory: RecordedMemory):
        manager, chat = CacheManager(memory), long_chat(2)
        feed(manager, chat.prompt(), PolicySettings(policy=Policy.STOP))
        results = answer(manager, text(1, N_CELLS))
        n_room = N_CELLS - len(chat.prompt().tokens)
        assert results == [AppendResult.CACHED] * n_room + [AppendResult.FULL] * (N_CELLS - n_room)
        assert manager.sequence.n_cached == len(manager.sequence) == N_CELLS
        lab.check(memory.inner, manager.sequence)

    # What stays

    def test_the_system_prompt_is_never_evicted(self, lab: Lab, memory: RecordedMemory, policies: tuple[Policy, ...]):
        for policy in policies:
            if policy is Policy.STOP:
                continue
            for keeps in (True, False):
                manager, chat = CacheManager(memory), long_chat(1, system=30)
                settings = PolicySettings(policy=policy, keep_system=keeps)
                n_system = chat.prompt().turns[0].end
                feed(manager, chat.prompt(), settings)
                answer(manager, text(5, 2 * N_CELLS))
                assert manager.sequence.is_cached(0, n_system) is keeps
                manager.forget()

    def test_no_finished_turn_is_cut_in_half(self, lab: Lab, memory: RecordedMemory, policies: tuple[Policy, ...]):
        for policy in policies:
            if policy is Policy.STOP:
                continue
            manager, chat = CacheManager(memory), Chat()
            settings = PolicySettings(policy=policy, align=Align.TURN)
            for turn in range(25):
                chat.say("user", text(turn, 5 + turn % 7))
                prompt = chat.prompt()
                feed(manager, prompt, settings)
                for token in text(turn + 90, 14):
                    manager.append(token)
                    for one in prompt.turns[:-1]:
                        n_cached = sum(run.length for run in manager.sequence.cached_runs(one.start, one.end))
                        assert n_cached in (0, one.end - one.start), one
                chat.say("assistant", text(turn + 90, 14))
            manager.forget()

    # Stop in the middle

    def test_a_stop_anywhere_while_feeding_leaves_a_true_state_that_can_go_on(
        self, lab: Lab, memory: RecordedMemory, stops: Sequence[int]
    ):
        chat = long_chat(4, n_user=14)
        prompt = chat.prompt()
        fresh = lab.new_memory()
        feed(CacheManager(fresh), prompt, PolicySettings())
        expected = lab.result(fresh)
        n_interrupted = 0
        for n_asked in stops:
            manager = CacheManager(memory)
            feed(manager, long_chat(2, n_user=14).prompt(), PolicySettings())
            manager.begin(prompt, PolicySettings())
            list(manager.feed(After(n_asked)))
            n_interrupted += not manager.is_fed
            lab.check(memory.inner, manager.sequence)
            list(manager.feed())
            assert manager.is_fed
            lab.check(memory.inner, manager.sequence)
            lab.assert_same(lab.result(memory.inner), expected, exactly=False)
            manager.forget()
        assert n_interrupted >= len(stops) // 2

    def test_a_stop_while_an_answer_makes_room_leaves_a_true_state(
        self, lab: Lab, memory: RecordedMemory, stops: Sequence[int]
    ):
        settings = PolicySettings(policy=Policy.RECOMPUTE)
        for n_asked in stops:
            manager, chat = CacheManager(memory), long_chat(8)
            feed(manager, chat.prompt(), settings)
            words = text(6, N_CELLS)
            while manager.n_free:
                manager.append(words[manager.n_free])
            n_tokens = len(manager.sequence)
            result = manager.append(7, After(n_asked))
            lab.check(memory.inner, manager.sequence)
            if result is AppendResult.INTERRUPTED and not manager.is_fed:
                result = manager.append(7)
            assert (len(manager.sequence) == n_tokens + 1) is (result is AppendResult.CACHED)
            lab.check(memory.inner, manager.sequence)
            manager.forget()

    # Positions

    def test_an_endless_answer_keeps_its_positions_low(
        self, lab: Lab, memory: RecordedMemory, policies: tuple[Policy, ...]
    ):
        for policy in policies:
            if policy is Policy.STOP:
                continue
            manager = CacheManager(memory)
            feed(manager, long_chat(1).prompt(), PolicySettings(policy=policy))
            n_renumbered = 0
            for index in range(memory.traits.n_positions + 2 * N_CELLS):
                assert manager.append(10 + index % 230) is AppendResult.CACHED
                assert manager.sequence.next_position <= memory.traits.n_positions
                if manager.counts.n_renumbered > n_renumbered:
                    n_renumbered = manager.counts.n_renumbered
                    lab.check(memory.inner, manager.sequence)
            assert n_renumbered > 0 or policy is Policy.RECOMPUTE
            lab.check(memory.inner, manager.sequence)
            manager.forget()

    def test_a_prompt_can_be_fed_across_a_renumbering_that_is_stopped(
        self, lab: Lab, memory: RecordedMemory, stops: Sequence[int]
    ):
        manager, chat = CacheManager(memory), Chat()
        n_renumbered = 0
        for turn in range(40):
            chat.say("user", text(turn, 40))
            prompt = chat.prompt()
            manager.begin(prompt, PolicySettings())
            list(manager.feed(After(stops[turn % len(stops)])))
            lab.check(memory.inner, manager.sequence)
            list(manager.feed())
            assert manager.is_fed
            assert manager.sequence.tokens(0, len(manager.sequence)) == list(prompt.tokens)
            assert manager.sequence.is_cached(prompt.turns[-2].start, len(prompt.tokens))
            n_renumbered += manager.counts.n_renumbered
            lab.check(memory.inner, manager.sequence)
            chat.say("assistant", ())
        assert n_renumbered > 0 or lab.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID)

    @pytest.fixture
    def stops(self) -> Sequence[int]:
        """After how many questions an interrupt says yes."""
        return (0, 1, 2, 3, 5, 8, 13, 40)

"""What the cache manager promises when there is not room for everything, whatever memory is under it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.api.settings import Align, Policy, PolicySettings
from engine.cache.manager import AppendResult, CacheManager
from engine.cache.memory import MemoryKind
from tests.engine.cache.chats import Chat, answer, feed, long_chat, text
from tests.engine.cache.lab import N_CELLS, After, Lab, LabFixtures, RecordedMemory


class RoomContract(LabFixtures):
    """Inherited with a fixture `lab`."""

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

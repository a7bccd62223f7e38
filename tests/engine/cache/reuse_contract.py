"""What the cache manager promises about reusing, editing and regenerating, whatever memory is under it."""

from __future__ import annotations

import itertools

import pytest

from engine.api.messages import SpanState
from engine.api.settings import Align, Policy, PolicySettings
from engine.cache.manager import AppendResult, CacheManager, RecomputeReason
from engine.cache.memory import MemoryKind
from engine.cache.window import allowed_policies
from tests.engine.cache.chats import Chat, answer, feed, long_chat, text
from tests.engine.cache.lab import N_CELLS, Lab, LabFixtures, RecordedMemory


class ReuseContract(LabFixtures):
    """Inherited with a fixture `lab`."""

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

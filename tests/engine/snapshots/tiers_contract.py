"""What warm chats promise, whatever memory is under them: a chat that comes back is as if it had never left."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.api.chat import Prompt
from engine.api.messages import ChatTier, SpanState, Tier
from engine.api.settings import Policy, PolicySettings, TierSettings
from engine.cache.manager import CacheManager, Feed
from engine.cache.memory import CacheMemory, StateBytes
from engine.cache.window import allowed_policies
from engine.snapshots.active_chat import ActiveChat
from engine.snapshots.folder import SnapshotFolder
from engine.snapshots.tiers import Tiers
from tests.engine.cache.chats import Chat, answer, feed, long_chat, text
from tests.engine.cache.lab import Lab, LabFixtures, RecordedMemory

BINDING = "b" * 32
POLICY = PolicySettings()
BUDGETS = TierSettings(ram_mib=64, disk_gib=1)


def plenty() -> int:
    """The memory that a machine can spare, where that is not what a test is about."""
    return 1 << 40


class WarmDesk:
    """A context whose chats are kept warm, as the engine does it."""

    def __init__(self, memory: CacheMemory, tiers: Tiers, n_bytes: int = 0) -> None:
        """``n_bytes``: what a chat is said to take before it is copied, beside its cells."""
        self.manager = CacheManager(memory)
        tiers.bind(BINDING)
        self.active = ActiveChat(self.manager, memory.traits, tiers, lambda n_used: n_bytes + n_used)

    def ask(self, chat_id: str, chat: Chat, policy: PolicySettings = POLICY, n_answer: int = 5) -> Feed:
        """Feed a chat and answer it; the answer becomes part of it."""
        prompt = chat.prompt()
        self.active.make_ready(chat_id, prompt.tokens, lambda: False)
        cost = feed(self.manager, prompt, policy)
        self.active.take(chat_id)
        words = text(len(prompt.tokens), n_answer)
        answer(self.manager, words)
        chat.say("assistant", words)
        return cost

    def write(self) -> None:
        for _pause in self.active.write_behind():
            pass

    def tiers(self) -> dict[str, ChatTier]:
        return {one.chat_id: one for one in self.active.chat_tiers()}


def first_question(seed: int, system: int = 0) -> Chat:
    chat = Chat().say("system", text(1000, system)) if system else Chat()
    return chat.say("user", text(seed, 60))


class TiersContract(LabFixtures):
    """Inherited with a fixture `lab`."""

    @pytest.fixture
    def tiers(self) -> Tiers:
        return Tiers(BUDGETS, None, plenty)

    def test_a_chat_that_comes_back_costs_its_new_tokens(self, lab: Lab, memory: RecordedMemory, tiers: Tiers):
        undisturbed = lab.new_memory()
        desk, alone, chat = (
            WarmDesk(memory, tiers),
            WarmDesk(undisturbed, Tiers(BUDGETS, None, plenty)),
            first_question(1),
        )
        desk.ask("a", chat)
        desk.ask("b", first_question(2))
        assert desk.tiers()["a"].tier is Tier.RAM
        chat.say("user", text(3, 9))
        back = desk.ask("a", chat)
        same = first_question(1)
        alone.ask("a", same)
        same.say("user", text(3, 9))
        assert alone.ask("a", same) == back
        assert back.n_fed < 20
        lab.check(memory.inner, desk.manager.sequence)
        lab.assert_same(lab.result(memory.inner), lab.result(undisturbed), exactly=lab.is_exact)
        assert {name: one.tier for name, one in desk.tiers().items()} == {"a": Tier.ACTIVE, "b": Tier.RAM}

    def test_after_a_restart_it_comes_from_disk(self, lab: Lab, tmp_path: Path):
        desk, chat = WarmDesk(lab.new_memory(), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)), first_question(1)
        desk.ask("a", chat)
        assert not desk.tiers()["a"].is_stored
        desk.write()
        assert desk.tiers()["a"].is_stored
        memory = lab.new_memory()
        again = WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
        assert again.tiers()["a"].tier is Tier.DISK
        chat.say("user", text(3, 9))
        assert again.ask("a", chat).n_fed < 20
        lab.check(memory, again.manager.sequence)

    def test_a_chat_that_is_opened_is_there_before_anything_is_asked(
        self, lab: Lab, memory: RecordedMemory, tiers: Tiers
    ):
        desk, chat = WarmDesk(memory, tiers), first_question(1)
        desk.ask("a", chat)
        n_cached = desk.manager.sequence.n_cached
        desk.ask("b", first_question(2))
        n_evaluated = len(memory.batches)
        opened = chat.prompt(continue_last=True)
        assert desk.active.open("a", opened, POLICY, lambda: False)
        assert (desk.manager.sequence.n_cached, desk.manager.turns) == (n_cached, opened.turns)
        assert len(memory.batches) == n_evaluated
        lab.check(memory.inner, desk.manager.sequence)
        assert {name: one.tier for name, one in desk.tiers().items()} == {"a": Tier.ACTIVE, "b": Tier.RAM}
        chat.say("user", text(3, 9))
        # Its own tokens, and the marks around them.
        assert desk.ask("a", chat).n_fed == 9 + 6
        lab.check(memory.inner, desk.manager.sequence)

    def test_what_was_evicted_stays_so(self, lab: Lab, tmp_path: Path):
        for policy in {Policy.WINDOW, Policy.SINKS}.intersection(allowed_policies(lab.kind)):
            settings = PolicySettings(policy=policy, n_window=100, n_evict=20)
            tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path / policy), plenty)
            desk, chat = WarmDesk(lab.new_memory(), tiers), first_question(1)
            for turn in range(4):
                desk.ask("a", chat, settings, n_answer=20)
                chat.say("user", text(turn, 15))
            before = desk.manager.sequence.runs
            assert desk.manager.sequence.count(SpanState.EVICTED)
            desk.write()
            memory = lab.new_memory()
            again = WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path / policy), plenty))
            again.active.make_ready("a", chat.prompt().tokens, lambda: False)
            assert again.manager.sequence.runs == before
            lab.check(memory, again.manager.sequence)
            assert again.ask("a", chat, settings).n_fed < 30
            lab.check(memory, again.manager.sequence)

    @pytest.mark.parametrize("is_on_disk", [False, True])
    def test_an_edit_of_a_chat_that_came_back_computes_what_a_new_one_does(
        self, lab: Lab, tmp_path: Path, is_on_disk: bool
    ):
        memory = lab.new_memory()
        desk, chat = WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)), first_question(1)
        for turn in range(2):
            desk.ask("a", chat)
            chat.say("user", text(20 + turn, 60))
        desk.ask("b", first_question(2))
        if is_on_disk:
            desk.write()
            memory = lab.new_memory()
            desk = WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
        edited = Chat([*chat.messages[:2], ("user", text(77, 40))])
        prompt = edited.prompt()
        assert desk.ask("a", edited, n_answer=0).n_fed <= len(prompt.tokens) - prompt.turns[2].start
        lab.check(memory, desk.manager.sequence)
        fresh = lab.new_memory()
        feed(CacheManager(fresh), prompt, POLICY)
        lab.assert_same(lab.result(memory), lab.result(fresh), exactly=False)

    def test_a_state_of_a_state_has_no_more_than_that_one(self, lab: Lab):
        memory, prompt = lab.new_memory(), long_chat(5, n_user=15, n_answer=11).prompt()
        manager = CacheManager(memory)
        feed(manager, prompt, POLICY)
        # Each time one token is forgotten and another state made: the windows of the last one lack as many.
        for n_tokens in range(len(prompt.tokens) - 1, len(prompt.tokens) - 4, -1):
            snapshot = manager.snapshot()
            assert snapshot is not None
            memory = lab.new_memory()
            manager = CacheManager(memory)
            assert manager.restore(snapshot)
            shorter = Prompt(prompt.tokens[:n_tokens], prompt.turns[:-1])
            manager.settle(shorter, POLICY)
        known = Prompt((*shorter.tokens, 99), prompt.turns[:-1])
        feed(manager, known, POLICY)
        lab.check(memory, manager.sequence)
        fresh = lab.new_memory()
        feed(CacheManager(fresh), known, POLICY)
        lab.assert_same(lab.result(memory), lab.result(fresh), exactly=False)

    def test_a_system_prompt_is_shared(self, lab: Lab, memory: RecordedMemory, tiers: Tiers):
        desk = WarmDesk(memory, tiers)
        desk.ask("a", first_question(1, system=80))
        desk.ask("b", first_question(2))
        assert desk.ask("c", first_question(3, system=80)).n_reused >= 80
        lab.check(memory.inner, desk.manager.sequence)

    def test_what_is_about_to_come_back_is_not_overwritten_by_what_makes_way(
        self, lab: Lab, memory: RecordedMemory, tiers: Tiers
    ):
        desk, chat = WarmDesk(memory, tiers), first_question(1, system=80)
        other = first_question(4, system=80)
        desk.ask("a", chat)
        desk.ask("b", first_question(2))
        # Another version of the same chat, in the place of which the first one comes back.
        desk.ask("a", other)
        assert desk.ask("a", chat.say("user", text(3, 9))).n_fed < 20
        lab.check(memory.inner, desk.manager.sequence)

    def test_a_chat_is_kept_again_and_again_where_it_lies(self, lab: Lab, memory: RecordedMemory, tiers: Tiers):
        desk, chat = WarmDesk(memory, tiers), first_question(1)
        for turn in range(4):
            desk.ask("a", chat)
            desk.active.save()
            chat.say("user", text(turn, 9))
        desk.ask("b", first_question(2))
        assert desk.ask("a", chat).n_fed < 20
        lab.check(memory.inner, desk.manager.sequence)

    def test_what_llama_cpp_refuses_is_evaluated(self, lab: Lab, memory: RecordedMemory, tiers: Tiers):
        desk, chat = WarmDesk(memory, tiers), first_question(1)
        desk.ask("a", chat)
        desk.ask("b", first_question(2))
        refusing = Refusing(memory)
        other = WarmDesk(refusing, tiers)
        chat.say("user", text(3, 9))
        cost = other.ask("a", chat)
        assert refusing.n_refused == 1
        assert (cost.n_reused, cost.n_fed) == (0, cost.n_prompt)
        lab.check(memory.inner, other.manager.sequence)
        # And it is not tried again.
        assert tiers.find(chat.prompt().tokens, memory.traits, 0) is None

    def test_a_chat_that_llama_cpp_refuses_is_seen_to_have_no_cells(
        self, lab: Lab, memory: RecordedMemory, tiers: Tiers
    ):
        desk, chat = WarmDesk(memory, tiers), first_question(1)
        desk.ask("a", chat)
        desk.ask("b", first_question(2))
        other = WarmDesk(Refusing(memory), tiers)
        assert other.active.open("a", chat.prompt(continue_last=True), POLICY, lambda: False)
        assert (other.active.chat_id, other.manager.sequence.n_cached) == ("a", 0)
        assert "a" not in other.tiers()
        lab.check(memory.inner, other.manager.sequence)


class Refusing(RecordedMemory):
    """Refuses a whole snapshot after having taken half of it, as llama.cpp does."""

    n_refused = 0

    def restore(self, state: StateBytes, *, partial: bool = False) -> bool:
        if partial:
            return self.inner.restore(state, partial=True)
        self.inner.restore(state)
        self.n_refused += 1
        return False

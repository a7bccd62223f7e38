"""Where snapshots are kept and for how long."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from engine.api.messages import Tier
from engine.api.settings import Policy, PolicySettings, TierSettings
from engine.cache.memory import MemoryKind
from engine.snapshots import tiers as tiers_module
from engine.snapshots.folder import SnapshotFolder
from engine.snapshots.tiers import MIB, Tiers
from tests.engine.cache.chats import Chat, text
from tests.engine.snapshots.tiers_contract import BUDGETS, WarmDesk, first_question, plenty
from tests.engine.snapshots.warm_chats import N_BIG, Recorder, stored_files

# Budgets


def test_ram_gives_up_what_was_kept_first() -> None:
    desk = WarmDesk(Recorder(N_BIG), Tiers(TierSettings(ram_mib=2, disk_gib=0), None, plenty))
    for seed, chat_id in enumerate("abcde"):
        desk.ask(chat_id, first_question(seed))
    assert {name: one.tier for name, one in desk.tiers().items()} == {"e": Tier.ACTIVE, "c": Tier.RAM, "d": Tier.RAM}
    assert sum(one.n_bytes for one in desk.tiers().values() if one.tier is Tier.RAM) <= 2 * MIB


def test_disk_gives_up_what_was_used_longest_ago(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers_module, "GIB", 2 * MIB)
    desk = WarmDesk(Recorder(N_BIG), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
    for seed, chat_id in enumerate("abc"):
        desk.ask(chat_id, first_question(seed))
        desk.write()
        for age, file in enumerate(sorted(stored_files(tmp_path), key=lambda path: path.stat().st_mtime, reverse=True)):
            os.utime(file, (10_000 - age, 10_000 - age))
    assert len(stored_files(tmp_path)) == 2
    assert not WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)).tiers().keys() ^ {"b", "c"}


def test_new_budgets_hold_at_once(tmp_path: Path) -> None:
    tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)
    desk = WarmDesk(Recorder(), tiers)
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    desk.write()
    tiers.set_budgets(TierSettings(ram_mib=0, disk_gib=1))
    assert desk.tiers()["a"].tier is Tier.DISK
    tiers.set_budgets(TierSettings(ram_mib=0, disk_gib=0))
    assert desk.tiers().keys() == {"b"}
    assert not stored_files(tmp_path)


def test_of_what_a_smaller_budget_leaves_no_room_for_the_latest_goes_to_disk(tmp_path: Path) -> None:
    tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)
    desk = WarmDesk(Recorder(), tiers)
    for seed, chat_id in enumerate("abc"):
        desk.ask(chat_id, first_question(seed))
    tiers.set_budgets(TierSettings(ram_mib=0, disk_gib=1))
    desk.write()
    assert {name: one.tier for name, one in desk.tiers().items()} == {"b": Tier.DISK, "c": Tier.ACTIVE}


def test_a_chat_too_large_for_ram_goes_to_disk_alone(tmp_path: Path) -> None:
    folder, chat = SnapshotFolder(tmp_path), first_question(1)
    desk = WarmDesk(Recorder(N_BIG), Tiers(TierSettings(ram_mib=0, disk_gib=1), folder, plenty))
    for chat_id, one in (("a", chat), ("b", first_question(2)), ("c", first_question(3))):
        desk.ask(chat_id, one)
    # Only the latest waits for the disk.
    assert desk.tiers().keys() == {"b", "c"}
    desk.write()
    assert {name: one.tier for name, one in desk.tiers().items()} == {"b": Tier.DISK, "c": Tier.ACTIVE}
    assert desk.tiers()["c"].is_stored
    desk.ask("a", chat)
    desk.write()
    desk.ask("b", first_question(2))
    desk.write()
    assert {name: one.tier for name, one in desk.tiers().items()} == {
        "b": Tier.ACTIVE,
        "a": Tier.DISK,
        "c": Tier.DISK,
    }
    assert desk.ask("a", chat.say("user", text(3, 9))).n_fed < 20


def test_what_waits_for_the_disk_is_not_in_the_way_of_what_is_kept_in_ram(tmp_path: Path) -> None:
    memory = Recorder(3 * MIB // 2)
    desk = WarmDesk(memory, Tiers(TierSettings(ram_mib=1, disk_gib=1), SnapshotFolder(tmp_path), plenty))
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    memory.n_padding = N_BIG
    desk.ask("c", first_question(3))
    desk.ask("d", first_question(4))
    assert {name: one.tier for name, one in desk.tiers().items()} == {
        "a": Tier.RAM,
        "c": Tier.RAM,
        "d": Tier.ACTIVE,
    }


def test_what_can_not_be_written_does_not_wait_for_ever(tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    memory, tiers = Recorder(), Tiers(TierSettings(ram_mib=0, disk_gib=1), SnapshotFolder(folder), plenty)
    desk = WarmDesk(memory, tiers)
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    assert tiers.is_in_ram
    shutil.rmtree(folder)
    desk.write()
    assert not tiers.is_in_ram
    n_copied = memory.n_copied
    desk.write()
    assert memory.n_copied == n_copied


def test_a_chat_too_large_for_any_budget_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers_module, "GIB", MIB // 2)
    memory = Recorder(N_BIG)
    desk = WarmDesk(memory, Tiers(TierSettings(ram_mib=0, disk_gib=1), SnapshotFolder(tmp_path), plenty), N_BIG)
    desk.ask("a", first_question(1))
    desk.write()
    desk.ask("b", first_question(2))
    assert memory.n_copied == 0
    assert desk.tiers().keys() == {"b"}


# Memory that others need


class Machine:
    """A machine that can spare so many bytes beside what chats take of it."""

    def __init__(self, n_spare: int) -> None:
        self.n_spare = n_spare

    def spare(self) -> int:
        return self.n_spare


def test_chats_leave_ram_when_the_machine_needs_it_and_those_on_disk_go_first(tmp_path: Path) -> None:
    machine = Machine(100 * MIB)
    tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path), machine.spare)
    desk = WarmDesk(Recorder(N_BIG), tiers)
    for seed, chat_id in enumerate("abcd"):
        desk.ask(chat_id, first_question(seed))
        if chat_id == "b":
            desk.write()
    before = {name: one.tier for name, one in desk.tiers().items()}
    assert before == {"a": Tier.RAM, "b": Tier.RAM, "c": Tier.RAM, "d": Tier.ACTIVE}
    assert tiers.is_in_ram
    machine.n_spare = -1
    tiers.relieve()
    assert {name: one.tier for name, one in desk.tiers().items()} == {**before, "a": Tier.DISK}
    machine.n_spare = -10 * MIB
    desk.write()
    assert {name: one.tier for name, one in desk.tiers().items()} == {
        "a": Tier.DISK,
        "b": Tier.DISK,
        "c": Tier.DISK,
        "d": Tier.ACTIVE,
    }
    assert not tiers.is_in_ram


def test_what_is_only_in_ram_leaves_it_after_what_is_on_disk_too(tmp_path: Path) -> None:
    machine = Machine(100 * MIB)
    tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path), machine.spare)
    desk = WarmDesk(Recorder(N_BIG), tiers)
    for seed, chat_id in enumerate("abc"):
        desk.ask(chat_id, first_question(seed))
    steps = tiers.write_behind()
    while not stored_files(tmp_path):
        next(steps)
    machine.n_spare = -1
    tiers.relieve()
    assert len(stored_files(tmp_path)) == 1
    assert {name: one.tier for name, one in desk.tiers().items()} == {"a": Tier.RAM, "c": Tier.ACTIVE, "b": Tier.DISK}


def test_what_a_chat_gives_up_itself_is_not_asked_of_others() -> None:
    machine = Machine(100 * MIB)
    desk, chat = WarmDesk(Recorder(N_BIG), Tiers(BUDGETS, None, machine.spare), N_BIG), first_question(1)
    desk.ask("a", chat)
    desk.ask("b", first_question(2))
    desk.ask("a", chat.say("user", text(3, 9)))
    machine.n_spare = 0
    desk.active.save()
    assert {name: one.tier for name, one in desk.tiers().items()} == {"a": Tier.ACTIVE, "b": Tier.RAM}


def test_a_chat_that_came_back_for_nothing_is_copied_again_if_need_be() -> None:
    machine, chat = Machine(100 * MIB), first_question(1)
    tiers = Tiers(BUDGETS, None, machine.spare)
    desk = WarmDesk(Recorder(), tiers)
    desk.ask("a", chat)
    desk.ask("b", first_question(2))
    desk.active.make_ready("a", chat.say("user", text(3, 9)).prompt().tokens, lambda: False)
    machine.n_spare = -100 * MIB
    tiers.relieve()
    machine.n_spare = 100 * MIB
    desk.ask("c", first_question(3))
    assert desk.ask("a", chat).n_fed < 20


def test_a_machine_with_little_memory_keeps_what_was_left_last() -> None:
    machine = Machine(3 * N_BIG // 2)
    desk = WarmDesk(Recorder(N_BIG), Tiers(BUDGETS, None, machine.spare), N_BIG)
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    machine.n_spare -= N_BIG
    desk.ask("c", first_question(3))
    assert {name: one.tier for name, one in desk.tiers().items()} == {"b": Tier.RAM, "c": Tier.ACTIVE}


def test_without_memory_to_spare_nothing_is_copied() -> None:
    memory = Recorder(N_BIG)
    desk = WarmDesk(memory, Tiers(BUDGETS, None, lambda: N_BIG - 1), N_BIG)
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    assert memory.n_copied == 0


def test_a_chat_whose_copy_was_given_up_is_copied_again_before_it_makes_way() -> None:
    machine, chat = Machine(100 * MIB), first_question(1)
    tiers = Tiers(BUDGETS, None, machine.spare)
    desk = WarmDesk(Recorder(), tiers)
    desk.ask("a", chat)
    desk.active.save()
    machine.n_spare = -100 * MIB
    tiers.relieve()
    assert not tiers.is_in_ram
    machine.n_spare = 100 * MIB
    desk.ask("b", first_question(2))
    assert desk.ask("a", chat.say("user", text(3, 9))).n_fed < 20


def test_the_memory_of_what_is_replaced_is_used_again() -> None:
    memory, chat = Recorder(), first_question(1)
    desk = WarmDesk(memory, Tiers(BUDGETS, None, plenty))
    for seed in range(3):
        desk.ask("a", chat)
        desk.active.save()
        chat.say("user", text(seed, 9))
    assert [room is not None for room in memory.rooms] == [False, True, True]


def test_without_a_budget_nothing_is_copied() -> None:
    desk = WarmDesk(Recorder(), Tiers(TierSettings(ram_mib=0), None, plenty))
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    assert desk.tiers().keys() == {"b"}


# Chats


def test_a_chat_that_goes_on_takes_the_place_of_what_it_was(tmp_path: Path) -> None:
    desk, chat = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)), first_question(1)
    for seed in range(3):
        desk.ask("a", chat)
        desk.write()
        chat.say("user", text(seed, 9))
    (file,) = stored_files(tmp_path)
    desk.ask("b", first_question(2))
    # The file says a little more about itself.
    assert desk.tiers()["a"].n_bytes <= file.stat().st_size


@pytest.mark.parametrize("through_disk", [False, True])
def test_a_long_branch_is_kept_beside_the_other(tmp_path: Path, through_disk: bool) -> None:
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
    branches = [Chat().say("system", text(0, 50)).say("user", text(seed, 400)) for seed in (1, 2)]
    for branch in branches:
        desk.ask("a", branch)
        branch.say("user", text(3, 9))
    if through_disk:
        desk.write()
        desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
    for branch in branches:
        assert desk.ask("a", branch).n_fed < 20


def test_a_chat_that_is_forgotten_leaves_nothing(tmp_path: Path) -> None:
    tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)
    desk = WarmDesk(Recorder(), tiers)
    for chat_id, seed in (("a", 1), ("b", 2), ("c", 3)):
        desk.ask(chat_id, first_question(seed))
    desk.write()
    tiers.forget("a")
    assert desk.tiers().keys() == {"b", "c"}
    assert len(stored_files(tmp_path)) == 2
    desk.active.forget()
    tiers.forget_others(("c", "never seen"))
    assert desk.tiers().keys() == {"c"}
    assert len(stored_files(tmp_path)) == 1
    tiers.forget_all()
    assert (desk.tiers(), stored_files(tmp_path)) == ({}, [])


def test_going_back_and_forth_between_chats_copies_nothing_again() -> None:
    memory = Recorder()
    desk = WarmDesk(memory, Tiers(BUDGETS, None, plenty))
    chats = {"a": first_question(1), "b": first_question(2)}
    for chat_id, chat in chats.items():
        desk.ask(chat_id, chat)

    def go_to(chat_id: str) -> bool:
        prompt = chats[chat_id].prompt(continue_last=True)
        return desk.active.open(chat_id, prompt, PolicySettings(), lambda: False)

    assert go_to("a")
    assert memory.n_copied == 2
    for chat_id in "baba":
        assert go_to(chat_id)
    assert memory.n_copied == 2
    # It is there already.
    assert not go_to("a")


def test_a_chat_of_which_nothing_is_kept_takes_nothing_away_when_it_is_opened() -> None:
    memory = Recorder()
    desk = WarmDesk(memory, Tiers(BUDGETS, None, plenty))
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    before = desk.manager.sequence.tokens()
    assert not desk.active.open("c", first_question(3).prompt(), PolicySettings(), lambda: False)
    assert (desk.active.chat_id, desk.manager.sequence.tokens()) == ("b", before)


def test_a_state_that_can_not_go_back_comes_back_to_the_end_of_its_chat() -> None:
    desk, chat = WarmDesk(Recorder(kind=MemoryKind.RECURRENT), Tiers(BUDGETS, None, plenty)), Chat()
    chat.say("user", text(1, 9))
    desk.ask("a", chat, n_answer=200)
    n_tokens = len(desk.manager.sequence)
    desk.ask("b", first_question(2))
    assert desk.active.open("a", chat.prompt(continue_last=True), PolicySettings(), lambda: False)
    assert len(desk.manager.sequence) == n_tokens


def test_of_a_chat_that_was_changed_what_is_still_the_same_comes_back() -> None:
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, None, plenty))
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    other = first_question(1).say("assistant", text(9, 9))
    assert desk.active.open("a", other.prompt(continue_last=True), PolicySettings(), lambda: False)
    tokens = other.prompt(continue_last=True).tokens
    assert 60 < len(desk.manager.sequence) == desk.manager.sequence.common_prefix(tokens) < len(tokens)


def test_a_short_gain_is_not_worth_a_restore() -> None:
    memory = Recorder()
    desk = WarmDesk(memory, Tiers(BUDGETS, None, plenty))
    desk.ask("a", Chat().say("system", text(5, 8)).say("user", text(1, 60)))
    desk.ask("b", first_question(2))
    desk.ask("c", Chat().say("system", text(5, 8)).say("user", text(3, 60)))
    # Nor is a large one for the little of it that is wanted.
    desk.ask("d", Chat().say("system", text(6, 40)).say("user", text(4, 1500)))
    desk.ask("e", first_question(9))
    desk.ask("f", Chat().say("system", text(6, 40)).say("user", text(7, 60)))
    assert memory.n_restored == 0


def test_nothing_is_copied_between_a_shift_and_the_decode_that_does_it() -> None:
    desk, settings = (
        WarmDesk(Recorder(), Tiers(BUDGETS, None, plenty)),
        PolicySettings(policy=Policy.SINKS, n_window=80),
    )
    desk.ask("a", first_question(1), settings, n_answer=50)
    assert desk.manager.snapshot() is not None
    assert desk.manager.renumber()
    assert desk.manager.snapshot() is None


def test_a_state_that_can_not_go_back_to_what_is_shared_is_left_where_it_is() -> None:
    memory = Recorder(kind=MemoryKind.RECURRENT)
    desk = WarmDesk(memory, Tiers(BUDGETS, None, plenty))
    desk.ask("a", Chat().say("user", text(1, 60)))
    desk.ask("b", first_question(2))
    desk.ask("c", Chat().say("user", (*text(1, 60), 7)))
    assert memory.n_restored == 0

"""Where snapshots are kept and for how long, and files that are damaged, foreign or hostile."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cache import tiers as tiers_module
from engine.cache.memory import MemoryKind, MemoryTraits
from engine.cache.snapshot_folder import PART_AGE_S, SnapshotFolder
from engine.cache.tiers import MIB, Tiers
from engine.messages import Tier
from engine.settings import Policy, PolicySettings, TierSettings
from tests.engine.cache.chats import Chat, text
from tests.engine.cache.fake_memory import FakeMemory
from tests.engine.cache.tiers_contract import BINDING, BUDGETS, WarmDesk, first_question

N_BIG = 700_000
"""Bytes of a state that is made larger than it is."""


class Recorder(FakeMemory):
    """Says which states it was given; its own may be padded to a size."""

    def __init__(self, n_padding: int = 0, kind: MemoryKind = MemoryKind.ATTENTION) -> None:
        can_shift = kind is MemoryKind.ATTENTION
        super().__init__(MemoryTraits(kind, 2048, 0, can_shift, n_positions=4096))
        self.n_restored = 0
        self._n_padding = n_padding

    def snapshot(self, *, partial: bool = False) -> bytes:
        return super().snapshot(partial=partial) + bytes(self._n_padding)

    def restore(self, state: bytes, *, partial: bool = False) -> bool:
        self.n_restored += 1
        return super().restore(state, partial=partial)


def stored_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.snapshot"))


def write_one(folder: Path, chat_id: str = "a", *, n_padding: int = 0, seed: int = 1) -> Chat:
    """Put a chat on disk, and ask its next question."""
    desk = WarmDesk(Recorder(n_padding), Tiers(BUDGETS, SnapshotFolder(folder)))
    chat = first_question(seed)
    desk.ask(chat_id, chat)
    desk.write()
    return chat.say("user", text(99, 9))


# Files


def test_files_are_private_and_only_whole_ones_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(folder)))
    desk.ask("../../a/b", first_question(1))
    for n_steps in itertools.count(1):
        steps = desk.active.write_behind()
        n_done = sum(1 for _pause in itertools.islice(steps, n_steps))
        steps.close()
        assert not list(folder.glob("*.part"))
        if n_done < n_steps:
            break
        assert not stored_files(folder)
    (file,) = stored_files(folder)
    assert file.parent == folder
    if sys.platform != "win32":
        assert [stat.S_IMODE(path.stat().st_mode) for path in (file, folder / "key")] == [0o600, 0o600]


def damages() -> dict[str, Callable[[bytearray], None]]:
    def cut(n: int) -> Callable[[bytearray], None]:
        return lambda content: content.__delitem__(slice(len(content) * n // 10, None))

    def flip(n: int) -> Callable[[bytearray], None]:
        def do(content: bytearray) -> None:
            content[(len(content) - 1) * n // 24] ^= 1 << n % 8

        return do

    def grow(content: bytearray) -> None:
        content += b"more"

    def claim(content: bytearray) -> None:
        content[8:16] = b"\xff" * 8

    found = {f"cut at {n}0 %": cut(n) for n in range(10)} | {f"bit {n} of 24": flip(n) for n in range(25)}
    return found | {"longer": grow, "huge lengths": claim, "empty": bytearray.clear}


@pytest.mark.parametrize("damage", damages().values(), ids=damages().keys())
def test_a_damaged_file_is_evaluated_instead_and_never_restored(
    tmp_path: Path, damage: Callable[[bytearray], None]
) -> None:
    chat = write_one(tmp_path)
    (file,) = stored_files(tmp_path)
    content = bytearray(file.read_bytes())
    damage(content)
    file.write_bytes(content)
    memory = Recorder()
    desk = WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path)))
    cost = desk.ask("a", chat)
    assert (cost.n_fed, memory.n_restored) == (cost.n_prompt, 0)
    assert not memory.faults(desk.manager.sequence)
    assert not stored_files(tmp_path)


def test_without_damage_it_is_restored(tmp_path: Path) -> None:
    chat = write_one(tmp_path)
    memory = Recorder()
    assert WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path))).ask("a", chat).n_fed < 20
    assert memory.n_restored == 1


def test_a_file_of_another_folder_or_chat_is_a_stranger(tmp_path: Path) -> None:
    chat = write_one(tmp_path / "theirs")
    write_one(tmp_path / "ours", "b", seed=2)
    (file,), (own,) = stored_files(tmp_path / "theirs"), stored_files(tmp_path / "ours")
    shutil.copy(file, tmp_path / "ours" / file.name)
    # Our own, under the name of that chat.
    shutil.copy(own, own.with_name(file.name[:32] + own.name[32:]))
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path / "ours")))
    assert desk.tiers().keys() == {"b"}
    assert desk.tiers()["b"].n_bytes == own.stat().st_size
    cost = desk.ask("a", chat)
    assert cost.n_fed == cost.n_prompt


def test_another_binding_finds_nothing_and_leaves_it_there(tmp_path: Path) -> None:
    write_one(tmp_path)
    tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path))
    tiers.bind("c" * 32)
    assert not tiers.chats()
    tiers.bind(BINDING)
    assert tiers.chats().keys() == {"a"}


def test_a_file_that_vanished_is_evaluated(tmp_path: Path) -> None:
    chat = write_one(tmp_path)
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path)))
    for file in stored_files(tmp_path):
        file.unlink()
    cost = desk.ask("a", chat)
    assert cost.n_fed == cost.n_prompt


def test_a_stop_while_a_file_is_read_keeps_the_file(tmp_path: Path) -> None:
    chat = write_one(tmp_path)
    memory = Recorder()
    desk = WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path)))
    desk.active.make_ready("a", chat.prompt().tokens, lambda: True)
    assert (memory.n_restored, len(stored_files(tmp_path))) == (0, 1)


@pytest.mark.parametrize("obstacle", ["a file stands there", "the key is short"])
def test_a_folder_that_can_not_be_used_keeps_chats_in_ram(tmp_path: Path, obstacle: str) -> None:
    folder = tmp_path / "snapshots"
    if obstacle == "a file stands there":
        folder.touch()
    else:
        folder.mkdir()
        (folder / "key").write_bytes(b"short")
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(folder)))
    chat = first_question(1)
    desk.ask("a", chat)
    desk.write()
    desk.ask("b", first_question(2))
    assert not desk.tiers()["a"].is_stored
    assert desk.ask("a", chat.say("user", text(3, 9))).n_fed < 20


def test_what_a_killed_engine_had_begun_is_cleared_away(tmp_path: Path) -> None:
    SnapshotFolder(tmp_path)
    old, young = tmp_path / "1.part", tmp_path / "2.part"
    old.touch()
    young.touch()
    an_hour_ago = young.stat().st_mtime - PART_AGE_S - 1
    os.utime(old, (an_hour_ago, an_hour_ago))
    SnapshotFolder(tmp_path)
    assert (old.exists(), young.exists()) == (False, True)


# Budgets


def test_ram_gives_up_what_was_kept_first() -> None:
    desk = WarmDesk(Recorder(N_BIG), Tiers(TierSettings(ram_mib=2, disk_gib=0), None))
    for seed, chat_id in enumerate("abcde"):
        desk.ask(chat_id, first_question(seed))
    assert {name: one.tier for name, one in desk.tiers().items()} == {"e": Tier.ACTIVE, "c": Tier.RAM, "d": Tier.RAM}
    assert sum(one.n_bytes for one in desk.tiers().values() if one.tier is Tier.RAM) <= 2 * MIB


def test_disk_gives_up_what_was_used_longest_ago(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers_module, "GIB", 2 * MIB)
    desk = WarmDesk(Recorder(N_BIG), Tiers(BUDGETS, SnapshotFolder(tmp_path)))
    for seed, chat_id in enumerate("abc"):
        desk.ask(chat_id, first_question(seed))
        desk.write()
        for age, file in enumerate(sorted(stored_files(tmp_path), key=lambda path: path.stat().st_mtime, reverse=True)):
            os.utime(file, (10_000 - age, 10_000 - age))
    assert len(stored_files(tmp_path)) == 2
    assert not WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path))).tiers().keys() ^ {"b", "c"}


def test_new_budgets_hold_at_once(tmp_path: Path) -> None:
    tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path))
    desk = WarmDesk(Recorder(), tiers)
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    desk.write()
    tiers.set_budgets(TierSettings(ram_mib=0, disk_gib=1))
    assert desk.tiers()["a"].tier is Tier.DISK
    tiers.set_budgets(TierSettings(ram_mib=0, disk_gib=0))
    assert desk.tiers().keys() == {"b"}
    assert not stored_files(tmp_path)


def test_without_a_budget_nothing_is_copied() -> None:
    desk = WarmDesk(Recorder(), Tiers(TierSettings(ram_mib=0), None))
    desk.ask("a", first_question(1))
    desk.ask("b", first_question(2))
    assert desk.tiers().keys() == {"b"}


# Chats


def test_a_chat_that_goes_on_takes_the_place_of_what_it_was(tmp_path: Path) -> None:
    desk, chat = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path))), first_question(1)
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
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path)))
    branches = [Chat().say("system", text(0, 50)).say("user", text(seed, 400)) for seed in (1, 2)]
    for branch in branches:
        desk.ask("a", branch)
        branch.say("user", text(3, 9))
    if through_disk:
        desk.write()
        desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path)))
    for branch in branches:
        assert desk.ask("a", branch).n_fed < 20


def test_a_chat_that_is_forgotten_leaves_nothing(tmp_path: Path) -> None:
    tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path))
    desk = WarmDesk(Recorder(), tiers)
    for chat_id, seed in (("a", 1), ("b", 2), ("c", 3)):
        desk.ask(chat_id, first_question(seed))
    desk.write()
    tiers.forget("a")
    assert desk.tiers().keys() == {"b", "c"}
    assert len(stored_files(tmp_path)) == 2
    desk.active.forget()
    tiers.forget_all()
    assert (desk.tiers(), stored_files(tmp_path)) == ({}, [])


def test_a_short_gain_is_not_worth_a_restore() -> None:
    memory = Recorder()
    desk = WarmDesk(memory, Tiers(BUDGETS, None))
    desk.ask("a", Chat().say("system", text(5, 8)).say("user", text(1, 60)))
    desk.ask("b", first_question(2))
    desk.ask("c", Chat().say("system", text(5, 8)).say("user", text(3, 60)))
    # Nor is a large one for the little of it that is wanted.
    desk.ask("d", Chat().say("system", text(6, 40)).say("user", text(4, 1500)))
    desk.ask("e", first_question(9))
    desk.ask("f", Chat().say("system", text(6, 40)).say("user", text(7, 60)))
    assert memory.n_restored == 0


def test_nothing_is_copied_between_a_shift_and_the_decode_that_does_it() -> None:
    desk, settings = WarmDesk(Recorder(), Tiers(BUDGETS, None)), PolicySettings(policy=Policy.SINKS, n_window=80)
    desk.ask("a", first_question(1), settings, n_answer=50)
    assert desk.manager.snapshot() is not None
    assert desk.manager.renumber()
    assert desk.manager.snapshot() is None


def test_a_state_that_can_not_go_back_to_what_is_shared_is_left_where_it_is() -> None:
    memory = Recorder(kind=MemoryKind.RECURRENT)
    desk = WarmDesk(memory, Tiers(BUDGETS, None))
    desk.ask("a", Chat().say("user", text(1, 60)))
    desk.ask("b", first_question(2))
    desk.ask("c", Chat().say("user", (*text(1, 60), 7)))
    assert memory.n_restored == 0

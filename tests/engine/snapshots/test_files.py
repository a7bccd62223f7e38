"""Snapshots as files: private, whole or not there, and harmless where they are damaged, foreign or hostile."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import shutil
import stat
import struct
import sys
from array import array
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.snapshots import file as snapshot_file
from engine.snapshots.file import SnapshotUnusable
from engine.snapshots.folder import SnapshotFolder
from engine.snapshots.tiers import Tiers
from tests.engine.cache.chats import text
from tests.engine.snapshots.tiers_contract import BINDING, BUDGETS, WarmDesk, first_question, plenty
from tests.engine.snapshots.warm_chats import Recorder, stored_files, write_one


def test_files_are_private_and_only_whole_ones_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(folder), plenty))
    desk.ask("../../a/b", first_question(1))
    for n_steps in itertools.count(1):
        steps = desk.active.write_behind()
        for _pause in itertools.islice(steps, n_steps):
            pass
        steps.close()
        assert not list(folder.glob("*.part"))
        if stored_files(folder):
            break
    (file,) = stored_files(folder)
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(folder), plenty))
    assert desk.ask("../../a/b", first_question(1).say("assistant", text(60, 5)).say("user", text(3, 9))).n_fed < 30
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
    desk = WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
    cost = desk.ask("a", chat)
    assert (cost.n_fed, memory.n_restored) == (cost.n_prompt, 0)
    assert not memory.faults(desk.manager.sequence)
    assert not stored_files(tmp_path)


def test_random_damage_is_found_before_anything_is_believed(tmp_path: Path) -> None:
    write_one(tmp_path)
    (file,) = stored_files(tmp_path)
    content, key, chance = file.read_bytes(), (tmp_path / "key").read_bytes(), random.Random(11)
    damaged_file = tmp_path / "damaged"
    for n_try in range(400):
        damaged = bytearray(content)
        at, n = chance.randrange(len(content)), chance.randrange(1, 200)
        match n_try % 4:
            case 0:
                damaged[at] ^= 1 << chance.randrange(8)
            case 1:
                damaged[at : at + n] = chance.randbytes(n)
            case 2:
                del damaged[at : at + n]
            case _:
                other = chance.randrange(len(content))
                damaged[at:at] = content[other : other + n]
        if damaged == content:
            continue
        damaged_file.write_bytes(damaged)
        with pytest.raises(SnapshotUnusable):
            snapshot_file.read_snapshot(damaged_file, snapshot_file.read_head(damaged_file, key), lambda: False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=12,
)
FIELDS = ("chat_id", "binding", "runs", "window_start", "checkpoints", "sizes", "body_digest")


@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3), st.lists(st.integers(-5, 2**31 - 1), max_size=6))
@example({"sizes": [0, 1 << 60]}, [1])
@example({"runs": [[0, 1, "cached", 1 << 60]]}, [1])
@example({"runs": [[0, 1, "cached", 5], [1, 2, "cached", 5]]}, [1, 2])
@example({"checkpoints": [[1, 1, [[7, 3]]]], "sizes": [0, 3]}, [1])
@example({"checkpoints": [[1, 1, []], [1, 1, []]], "sizes": [0, 0, 3]}, [1])
@example({"checkpoints": [[1, 1, []]], "sizes": [-5, 8]}, [1])
@example({"checkpoints": [[9, 1, []]], "sizes": [0, 3]}, [1])
@example({"window_start": 2}, [1])
@example({"window_start": -1}, [1])
@example({}, [-1])
def test_what_is_signed_is_bounded_all_the_same(
    tmp_path_factory: pytest.TempPathFactory, changed: dict[str, Any], tokens: list[int]
) -> None:
    runs = [[0, len(tokens), "cached", 0]]
    content = {
        "chat_id": "a",
        "binding": BINDING,
        "runs": runs,
        "window_start": 0,
        "checkpoints": [],
        "sizes": [3],
        "body_digest": hashlib.sha256(b"abc").hexdigest(),
    }
    text_part = json.dumps({**content, **changed}).encode()
    signed, key = text_part + array("i", tokens).tobytes(), b"k" * 32
    signature = hashlib.blake2b(signed, key=key, digest_size=32).digest()
    path = tmp_path_factory.getbasetemp() / "signed"
    path.write_bytes(
        struct.pack("<8sII32s", snapshot_file.MAGIC, len(text_part), len(tokens), signature) + signed + b"abc"
    )
    try:
        head = snapshot_file.read_head(path, key)
        state = snapshot_file.read_snapshot(path, head, lambda: False)
    except SnapshotUnusable:
        return
    sequence = head.outline.sequence
    assert len(sequence) == len(tokens)
    assert min(tokens) >= 0
    assert sum(head.sizes) == 3
    runs_held = list(sequence.cached_runs())
    assert all(one.first_position + one.length <= other.first_position for one, other in pairwise(runs_held))
    indices = head.outline.checkpoint_indices
    assert sorted({*indices}) == list(indices)
    assert all(index <= len(tokens) for index in indices)
    assert all(p0 < p1 for checkpoint in state.checkpoints for p0, p1 in checkpoint.removed)
    assert 0 < sequence.n_cached <= sequence.next_position <= 1 << 30
    assert 0 <= head.outline.window_start <= sequence.next_position
    assert state.n_bytes <= 3 + 4 * len(tokens)


@pytest.mark.parametrize("bound", ["JSON_BYTES_MAX", "TOKENS_MAX"])
def test_a_file_that_would_take_much_memory_to_look_at_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    write_one(tmp_path)
    assert SnapshotFolder(tmp_path).stored(BINDING)
    monkeypatch.setattr(snapshot_file, bound, 20)
    assert not SnapshotFolder(tmp_path).stored(BINDING)


def test_without_damage_it_is_restored(tmp_path: Path) -> None:
    chat = write_one(tmp_path)
    memory = Recorder()
    assert WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)).ask("a", chat).n_fed < 20
    assert memory.n_restored == 1


def test_a_file_of_another_folder_or_chat_is_a_stranger(tmp_path: Path) -> None:
    chat = write_one(tmp_path / "theirs")
    write_one(tmp_path / "ours", "b", seed=2)
    (file,), (own,) = stored_files(tmp_path / "theirs"), stored_files(tmp_path / "ours")
    shutil.copy(file, tmp_path / "ours" / file.name)
    # Our own, under the name of that chat.
    shutil.copy(own, own.with_name(file.name[:32] + own.name[32:]))
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path / "ours"), plenty))
    assert desk.tiers().keys() == {"b"}
    assert desk.tiers()["b"].n_bytes == own.stat().st_size
    cost = desk.ask("a", chat)
    assert cost.n_fed == cost.n_prompt


def test_another_binding_finds_nothing_and_leaves_it_there(tmp_path: Path) -> None:
    write_one(tmp_path)
    tiers = Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)
    tiers.bind("c" * 32)
    assert not tiers.chats()
    tiers.bind(BINDING)
    assert tiers.chats().keys() == {"a"}


def test_a_file_that_vanished_is_evaluated(tmp_path: Path) -> None:
    chat = write_one(tmp_path)
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
    for file in stored_files(tmp_path):
        file.unlink()
    cost = desk.ask("a", chat)
    assert cost.n_fed == cost.n_prompt


def test_a_stop_while_a_file_is_read_keeps_the_file(tmp_path: Path) -> None:
    chat = write_one(tmp_path)
    memory = Recorder()
    desk = WarmDesk(memory, Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
    desk.active.make_ready("a", chat.prompt().tokens, lambda: True)
    assert (memory.n_restored, len(stored_files(tmp_path))) == (0, 1)


def test_without_memory_for_a_file_the_chat_is_evaluated_and_the_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise MemoryError

    chat = write_one(tmp_path)
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
    monkeypatch.setattr(snapshot_file, "read_snapshot", fail)
    cost = desk.ask("a", chat)
    assert cost.n_fed == cost.n_prompt
    assert len(stored_files(tmp_path)) == 1


@pytest.mark.parametrize("obstacle", ["a file stands there", "the key is short"])
def test_a_folder_that_can_not_be_used_keeps_chats_in_ram(tmp_path: Path, obstacle: str) -> None:
    folder = tmp_path / "snapshots"
    if obstacle == "a file stands there":
        folder.touch()
    else:
        folder.mkdir()
        (folder / "key").write_bytes(b"short")
    tiers, chat = Tiers(BUDGETS, SnapshotFolder(folder), plenty), first_question(1)
    assert tiers.disk_budget_bytes == 0
    desk = WarmDesk(Recorder(), tiers)
    desk.ask("a", chat)
    desk.write()
    desk.ask("b", first_question(2))
    assert not desk.tiers()["a"].is_stored
    assert desk.ask("a", chat.say("user", text(3, 9))).n_fed < 20


def test_what_an_engine_still_writes_is_left_to_it_and_what_nobody_writes_is_cleared_away(tmp_path: Path) -> None:
    desk = WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty))
    desk.ask("a", first_question(1))
    steps = desk.active.write_behind()
    while not (parts := list(tmp_path.glob("*.part"))):
        next(steps)
    (tmp_path / "killed.part").touch()
    SnapshotFolder(tmp_path)
    assert list(tmp_path.glob("*.part")) == parts
    for _pause in steps:
        pass
    assert len(stored_files(tmp_path)) == 1
    assert WarmDesk(Recorder(), Tiers(BUDGETS, SnapshotFolder(tmp_path), plenty)).tiers().keys() == {"a"}

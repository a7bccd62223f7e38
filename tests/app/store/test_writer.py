"""What is said is on disk: through kills at any moment, damaged files and full disks."""

from __future__ import annotations

import errno
import io
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.store.records import Changes, Chat, PromptPreset
from app.store.salvage import is_damage, salvage
from app.store.schema import SERIAL_BITS
from app.store.store import ChatStore
from app.store.writer import ChatWriter, StoreProblemKind
from tests.app.store.chats import small, turn

N_KILLS = 100
ROOT = Path(__file__).resolve().parents[3]
PAGE = 4096

TALKER = """
import os, sys
from pathlib import Path
from app.store.records import Changes, Chat, Turn
from app.store.store import ChatStore
from engine.api.messages import Message

def talk(run):
    store = ChatStore(Path(sys.argv[1]))
    text = ""
    for n in range(1_000_000):
        text += f"w{n} "
        turn = Turn(1 + n // 50, Message("assistant", text), parent=n // 50 or None)
        store.save(Chat(run, "T"), Changes((turn,)))
        # One write: a kill in the middle of a line would join it with the next one.
        os.write(1, f"{n}\\n".encode())

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            talk(line.strip())
        finally:
            os._exit(1)
    print("child", child, flush=True)
    os.waitpid(child, 0)
    print("end", flush=True)
"""
"""Writes a growing text for each line it reads, in a child, so that only the first pays for a start."""


def test_every_acknowledged_word_is_there_after_a_kill(tmp_path):
    path = tmp_path / "chats.db"
    chance = random.Random(5)
    command = [sys.executable, "-c", TALKER, str(path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as talker:
        for kill in range(N_KILLS):
            print(f"run-{kill}", file=talker.stdin, flush=True)
            wanted, acknowledged, child = chance.randrange(0, 90), -1, None
            for line in talker.stdout:
                words = line.split()
                if words[0] == "child":
                    child = int(words[1])
                elif words[0] == "end":
                    break
                else:
                    assert words[0].isdigit(), line
                    acknowledged = int(words[0])
                if child is not None and acknowledged >= wanted:
                    os.kill(child, signal.SIGKILL)
                    wanted = 1_000_000
            store = ChatStore(path)
            kept = store.load(f"run-{kill}").turns[-1].message.text.split()
            store.close()
            assert len(kept) >= acknowledged + 1
        talker.stdin.close()
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    check.close()


class Listener:
    def __init__(self):
        self.problems = []
        self.heard = threading.Condition()

    def __call__(self, problem):
        with self.heard:
            self.problems.append(problem)
            self.heard.notify_all()

    def wait_for(self, kind):
        with self.heard:
            assert self.heard.wait_for(lambda: kind in [one.kind for one in self.problems], 10)


def do_and_wait(writer, job):
    done = threading.Event()
    results = []

    def keep(result):
        results.append(result)
        done.set()

    writer.do(job, keep)
    assert done.wait(10)
    return results[0]


def test_jobs_run_in_order_and_close_writes_the_rest(tmp_path):
    writer = ChatWriter(tmp_path / "chats.db", pytest.fail)
    for n in range(50):
        writer.do(lambda store, n=n: store.save(Chat("a", f"title {n}"), Changes((turn(n + 1, f"t{n}"),))))
    assert writer.close()
    store = ChatStore(tmp_path / "chats.db")
    assert store.load("a").chat.title == "title 49"
    assert len(store.load("a").turns) == 50
    store.close()


def break_a_rule_of_the_database(_store):
    raise sqlite3.IntegrityError("FOREIGN KEY constraint failed")


@pytest.mark.expected_log("left out")
@pytest.mark.parametrize("mistake", [lambda _store: 1 / 0, break_a_rule_of_the_database])
def test_a_change_that_makes_no_sense_is_told_and_does_not_stop_the_others(tmp_path, mistake):
    listener = Listener()
    writer = ChatWriter(tmp_path / "chats.db", listener)
    writer.do(mistake)
    do_and_wait(writer, lambda store: store.save(Chat("a", "T")))
    assert [problem.kind for problem in listener.problems] == [StoreProblemKind.LEFT_OUT]
    assert writer.close()


@pytest.mark.expected_log("was not taken|left out")
def test_whoever_fails_to_hear_of_a_change_does_not_stop_those_after_it(tmp_path):
    def fail(_heard):
        raise RuntimeError("nobody is there to hear")

    writer = ChatWriter(tmp_path / "chats.db", fail)
    writer.do(lambda store: store.save(Chat("a", "T")), fail)
    # What is told of this one isn't heard either.
    writer.do(lambda _store: 1 / 0)
    do_and_wait(writer, lambda store: store.save(Chat("b", "T")))
    assert writer.close()
    store = ChatStore(tmp_path / "chats.db")
    assert set(store.ids()) == {"a", "b"}
    store.close()


def test_a_full_disk_is_told_once_and_everything_is_written_when_there_is_room(tmp_path, monkeypatch):
    monkeypatch.setattr("app.store.writer.RETRY_SECONDS", 0.02)
    listener = Listener()
    writer = ChatWriter(tmp_path / "chats.db", listener)

    def limit(pages):
        return lambda store: store._connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()[0]

    full = do_and_wait(writer, limit(1))
    long = "word " * 20_000
    room = threading.Event()

    def job(store):
        if room.is_set():
            limit(1_000_000)(store)
        store.save(Chat("a", "T"), Changes((turn(1, long),)))

    writer.do(job)
    writer.do(lambda store: store.save(Chat("a", "T"), Changes((turn(2, "after", 1),))))
    listener.wait_for(StoreProblemKind.DISK_FULL)
    room.set()
    listener.wait_for(StoreProblemKind.SAVED_AGAIN)
    assert writer.close()
    assert [one.kind for one in listener.problems] == [StoreProblemKind.DISK_FULL, StoreProblemKind.SAVED_AGAIN]
    store = ChatStore(tmp_path / "chats.db")
    assert [one.message.text for one in store.load("a").turns] == [long, "after"]
    assert full > 1
    store.close()


def test_a_folder_that_can_not_be_made_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("app.store.writer.RETRY_SECONDS", 0.02)
    (tmp_path / "file").write_text("")
    listener = Listener()
    writer = ChatWriter(tmp_path / "file" / "chats.db", listener)
    writer.do(lambda store: store.save(Chat("a")))
    listener.wait_for(StoreProblemKind.NOT_WRITABLE)
    assert not writer.close()


def filled(path: Path, n_chats: int = 60) -> None:
    store = ChatStore(path)
    store.add(
        small(f"c{n}", f"Title {n}", *[f"message {n} {i} " + "x" * 200 for i in range(20)]) for n in range(n_chats)
    )
    store.save_preset(PromptPreset("Brief", "Be brief."))
    store.delete("c7")
    store.close()


def counted(path: Path) -> tuple[int, int]:
    store = ChatStore(path)
    chats = store.chats()
    n_messages = sum(len(store.load(chat.id).turns) for chat in chats)
    store.close()
    return len(chats), n_messages


def overwrite(path: Path, pages: range) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page * PAGE)
            file.write(bytes([0xA5]) * PAGE)


def test_a_damaged_middle_costs_only_what_was_there(tmp_path):
    path = tmp_path / "chats.db"
    filled(path)
    n_pages = path.stat().st_size // PAGE
    before = path.read_bytes()
    overwrite(path, range(n_pages // 2, n_pages // 2 + 3))
    found = salvage(path)
    assert found.kept_as.name == "chats.db.damaged-1"
    assert found.kept_as.stat().st_size == len(before)
    n_chats, n_messages = counted(path)
    assert n_chats >= 55
    assert n_messages >= 59 * 20 - 80
    assert (n_chats, n_messages) == (found.n_chats, found.n_messages)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["chats.db", "chats.db.damaged-1"]


def test_a_destroyed_beginning_costs_nothing(tmp_path):
    path = tmp_path / "chats.db"
    filled(path)
    overwrite(path, range(1))
    assert salvage(path).n_messages == 59 * 20
    assert counted(path) == (59, 59 * 20)
    store = ChatStore(path)
    assert [hit.chat.title for hit in store.search('"message 12 5"')] == ["Title 12"]
    assert store.load("c7") is None
    store.close()


class LostPages(io.FileIO):
    """A file on a disk that has grown old."""

    lost: tuple[int, ...] = ()

    def read(self, size=-1):
        pages = range(self.tell() // PAGE, (self.tell() + size - 1) // PAGE + 1)
        if any(page in pages for page in self.lost):
            raise OSError(errno.EIO, "Input/output error")
        return super().read(size)


class OldDisk(type(Path())):
    def open(self, mode="r", buffering=-1):
        return LostPages(self, mode) if self.name == "chats.db" else super().open(mode, buffering)


@pytest.mark.parametrize(("lost", "n_at_most"), [((30, 31, 50), 60), ((0,), 0), ((3, 5), 80)])
def test_what_the_disk_can_not_read_any_more_costs_only_what_was_there(tmp_path, monkeypatch, lost, n_at_most):
    filled(tmp_path / "chats.db")
    monkeypatch.setattr(LostPages, "lost", lost)
    found = salvage(OldDisk(tmp_path / "chats.db"))
    assert counted(tmp_path / "chats.db") == (found.n_chats, found.n_messages)
    assert found.n_messages >= 59 * 20 - n_at_most


def test_a_disk_that_does_not_answer_is_no_reason_to_begin_anew(tmp_path, monkeypatch):
    path = tmp_path / "chats.db"
    filled(path)
    monkeypatch.setattr(LostPages, "lost", range(1000))
    with pytest.raises(OSError, match="Input/output"):
        salvage(OldDisk(path))
    assert counted(path) == (59, 59 * 20)


@pytest.mark.parametrize(("code", "is_file"), [("CORRUPTFS", True), ("WRITE", False), ("FSYNC", False)])
def test_a_disk_that_can_not_read_what_it_has_is_damage_and_one_that_can_not_write_is_not(code, is_file):
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_IOERR_{code}")
    assert is_damage(error) == is_file


def readable_alone(path: Path) -> int:
    """How many messages can be read when each is asked for by its place."""
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    n_read = 0
    for number in range(1, 61):
        for serial in range(1, 23):
            try:
                place = (number << SERIAL_BITS) + serial
                row = connection.execute("SELECT * FROM message WHERE place = ?", (place,)).fetchone()
                n_read += row is not None and number != 8
            except sqlite3.Error:
                continue
    connection.close()
    return n_read


@pytest.mark.parametrize("every", [2, 3, 7, 40])
def test_what_lies_between_damaged_parts_is_brought_over(tmp_path, every):
    path = tmp_path / "chats.db"
    filled(path)
    for page in range(25, path.stat().st_size // PAGE, every):
        overwrite(path, range(page, page + 1))
    readable = readable_alone(path)
    assert salvage(path).n_messages >= readable > 0


@pytest.mark.parametrize(
    "content", [b"", b"not a database at all" * 500, bytes(100_000), b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_a_file_of_anything_gives_an_empty_store_and_is_kept(tmp_path, content):
    path = tmp_path / "chats.db"
    path.write_bytes(content)
    assert salvage(path).n_chats == 0
    assert counted(path) == (0, 0)
    assert (tmp_path / "chats.db.damaged-1").read_bytes() == content


@pytest.mark.parametrize("seed", range(12))
def test_any_damage_is_survived(tmp_path, seed):
    path = tmp_path / "chats.db"
    filled(path, 20)
    chance = random.Random(seed)
    raw = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 6)):
        start = chance.randrange(len(raw))
        raw[start : start + chance.randrange(1, 9000)] = (
            b"" if chance.random() < 0.2 else chance.randbytes(chance.randrange(1, 3000))
        )
    path.write_bytes(raw)
    found = salvage(path)
    assert counted(path)[0] == found.n_chats


def test_the_writer_brings_over_what_can_be_read_and_goes_on(tmp_path):
    path = tmp_path / "chats.db"
    filled(path)
    overwrite(path, range(1))
    listener = Listener()
    writer = ChatWriter(path, listener)
    do_and_wait(writer, lambda store: store.save(Chat("new", "T"), Changes((turn(1, "after the damage"),))))
    assert writer.close()
    assert [one.kind for one in listener.problems] == [StoreProblemKind.DAMAGED]
    assert listener.problems[0].n_messages == 59 * 20
    assert counted(path) == (60, 59 * 20 + 1)


class Killed(BaseException):
    pass


@pytest.mark.parametrize("n_steps", range(5))
def test_a_kill_while_the_new_file_takes_its_place_costs_nothing(tmp_path, monkeypatch, n_steps):
    path = tmp_path / "chats.db"
    filled(path)
    reader = ChatStore(path)
    reader.save(Chat("late", "T"), Changes((turn(1, "in the log beside the file"),)))
    steps = iter(range(n_steps))
    rename = Path.rename

    def rename_until_killed(old, new):
        if next(steps, None) is None:
            raise Killed
        return rename(old, new)

    monkeypatch.setattr(Path, "rename", rename_until_killed)
    with pytest.raises(Killed):
        salvage(path)
    monkeypatch.undo()
    reader.close()
    listener = Listener()
    writer = ChatWriter(path, listener)
    do_and_wait(writer, lambda store: store.chats())
    assert writer.close()
    assert counted(path) == (60, 59 * 20 + 1)
    told = [(one.path.name, one.n_messages) for one in listener.problems]
    assert told == ([("chats.db.damaged-1", 59 * 20 + 1)] if n_steps else [])


def test_what_is_written_while_the_file_is_put_aside_is_in_the_new_one(tmp_path):
    path = tmp_path / "chats.db"
    filled(path)
    listener = Listener()
    writer = ChatWriter(path, listener)
    n_calls = iter(range(9))

    def job(store):
        store.save(Chat("mine", "T"), Changes((turn(1, "said meanwhile"),)))
        if next(n_calls) == 0:
            for name in ("chats.db-wal", "chats.db-shm", "chats.db"):
                (tmp_path / name).rename(tmp_path / f"aside-{name}")

    do_and_wait(writer, job)
    assert writer.close()
    assert counted(path) == (1, 1)
    assert [one.kind for one in listener.problems] == [StoreProblemKind.EXCHANGED]


def test_a_newer_database_is_told_and_not_touched(tmp_path):
    path = tmp_path / "chats.db"
    ChatStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = path.read_bytes()
    listener = Listener()
    writer = ChatWriter(path, listener)
    assert do_and_wait(writer, lambda store: store.save(Chat("a"))) is None
    assert writer.close()
    assert [one.kind for one in listener.problems] == [StoreProblemKind.FROM_THE_FUTURE]
    assert path.read_bytes() == before

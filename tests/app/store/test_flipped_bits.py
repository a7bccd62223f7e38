"""A file of chats in which bits have flipped: what can be read is read, and whatever is said is kept."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path

import pytest

from app.store import writer as writing
from app.store.files import export_folder, read_chats
from app.store.records import Changes, Chat
from app.store.store import ChatStore, open_to_read
from app.store.writer import ChatWriter, StoreProblemKind
from tests.app.store.chats import full, small, turn

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
ROOT = Path(__file__).resolve().parents[3]
COLUMNS = {
    "chat": ("id", "title", "is_named", "is_pinned", "created", "changed", "settings", "draft"),
    "message": (
        "chat", "id", "parent", "is_chosen", "role", "text", "reasoning", "token_ids", "model", "state", "reason",
        "stats", "created", "attachments",
    ),
    "preset": ("name", "text"),
}  # fmt: skip
VALUES = [
    "NULL", "x'ff'", "9223372036854775807", "-1e999", "CAST(x'61ff62' AS TEXT)",
    "'{\"system_prompt\": \"\\ud835\", \"sampling\": {\"temperature\": 1e999}}'",
]  # fmt: skip


def flip(path: Path, text: bytes, bit: int = 7) -> None:
    """Flip a bit in the middle of a text that is in the file once."""
    raw = bytearray(path.read_bytes())
    assert raw.count(text) == 1
    raw[raw.index(text) + len(text) // 2] ^= 1 << bit
    path.write_bytes(raw)


def filled(path: Path) -> None:
    store = ChatStore(path)
    store.add([small("a", "Of wombats", "Tell me of wombats", "They dig long burrows"), full(), small("z", "Last")])
    store.close()


class Window:
    """What a window does with the file: looks at all of it, and says something in one chat and in a new one."""

    def __init__(self, path: Path) -> None:
        self.problems: list[StoreProblemKind] = []
        self.writer = ChatWriter(path, lambda problem: self.problems.append(problem.kind))

    def do(self, job, **options):
        done = threading.Event()
        self.writer.do(job, lambda _result: done.set(), **options)
        assert done.wait(10)

    def use(self) -> None:
        self.do(ChatStore.check, only_reads=True)
        self.do(lambda store: store.save(Chat("z", "Last"), Changes((turn(3, "said after the damage", 2),))))
        self.do(lambda store: store.save(Chat("new", "New"), Changes((turn(1, "said in a new chat"),))))
        assert self.writer.close()


def texts(path: Path) -> dict[str, list[str]]:
    store = ChatStore(path)
    found = {line.id: [one.own_text for one in store.load(line.id).turns] for line in store.chats()}
    store.close()
    return found


def test_a_flipped_bit_in_a_message_costs_one_letter(tmp_path, capsys):
    path = tmp_path / "chats.db"
    filled(path)
    flip(path, b"They dig long burrows")
    window = Window(path)
    window.use()
    assert window.problems == []
    kept = texts(path)
    assert kept["a"] == ["Tell me of wombats", "They dig l\ufffdng burrows"]
    assert kept["z"][-1] == "said after the damage"
    assert export_folder(tmp_path, tmp_path / "out.json") == 0
    assert {one.chat.id for one in read_chats(tmp_path / "out.json").chats} == {"a", "full", "z", "new"}
    assert capsys.readouterr().err == ""


def test_in_the_window_a_chat_with_a_flipped_bit_is_opened_and_goes_on(start_desk, qtbot, tmp_path):
    path = tmp_path / "chats.db"
    filled(path)
    flip(path, b"They dig long burrows")
    desk = start_desk()
    desk.program.sidebar.open_requested.emit("a", None)
    assert desk.say()[1] == ("assistant", "They dig l\ufffdng burrows")
    desk.send("And what do they eat?")
    desk.program.actions["new_chat"].trigger()
    desk.send("In another chat")
    qtbot.waitUntil(lambda: sum("what do they eat" in " ".join(said) for said in texts(path).values()) == 1)
    qtbot.waitUntil(lambda: ["In another chat"] in [said[:1] for said in texts(path).values()])
    assert desk.notices() == []


@pytest.mark.parametrize(
    ("word", "bit"), [(b"preset (name TEXT", 0), (b"TEXT NOT NULL) STRICT", 7), (b"reason TEXT", 7)]
)
def test_a_flipped_bit_in_the_description_of_the_tables_loses_no_word(tmp_path, capsys, word, bit):
    path = tmp_path / "chats.db"
    filled(path)
    flip(path, word, bit)
    window = Window(path)
    window.use()
    assert window.problems == [StoreProblemKind.DAMAGED]
    kept = texts(path)
    assert kept["a"] == ["Tell me of wombats", "They dig long burrows"]
    assert kept["z"][-1] == "said after the damage"
    assert export_folder(tmp_path, tmp_path / "out.json") == 0
    assert {one.chat.id for one in read_chats(tmp_path / "out.json").chats} == {"a", "full", "z", "new"}
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("word", [b"Of wombats", b"plain"])
def test_a_flipped_bit_in_a_title_or_an_attachment_loses_nothing_else(start_desk, tmp_path, word):
    path = tmp_path / "chats.db"
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE chat SET draft = title || 'x' WHERE id = 'a'")
    connection.commit()
    connection.close()
    raw = path.read_bytes()
    at = raw.rindex(word)
    path.write_bytes(raw[:at] + bytes([raw[at] ^ 0x80]) + raw[at + 1 :])
    desk = start_desk()
    for chat_id in ("a", "full"):
        desk.program.sidebar.open_requested.emit(chat_id, None)
        assert len(desk.say()) == 2


def loosened(path: Path) -> sqlite3.Connection:
    """A connection that writes anything into any column, as flipped bits do."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = replace(replace(sql, ' NOT NULL', ''), ' STRICT', '')")
    connection.commit()
    connection.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    return connection


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("table", COLUMNS)
def test_anything_in_any_column_costs_that_column_alone(tmp_path, table, value):
    for column in COLUMNS[table]:
        path = tmp_path / column / "chats.db"
        path.parent.mkdir()
        filled(path)
        connection = loosened(path)
        connection.execute("INSERT INTO preset VALUES ('Brief', 'Be brief.')")
        row = {"chat": "id = 'a'", "message": "text = 'They dig long burrows'", "preset": "1"}[table]
        connection.execute(f"UPDATE {table} SET {column} = {value} WHERE {row}")
        connection.close()
        window = Window(path)
        window.use()
        assert set(window.problems) <= {StoreProblemKind.DAMAGED}, (column, value)
        kept = texts(path)
        assert kept["z"] == ["Hi", "Yes", "said after the damage"]
        assert kept["new"] == ["said in a new chat"]
        said = [text for one in kept.values() for text in one]
        assert ("They dig long burrows" in said) == ((table, column) != ("message", "text")), (column, value)
        assert "Tell me of wombats" in said
        assert export_folder(path.parent, tmp_path / "out.json") == 0
        assert {one.chat.id for one in read_chats(tmp_path / "out.json").chats} == set(kept)


def test_flipped_bits_anywhere_never_keep_what_is_said_from_being_kept(tmp_path):
    chance = random.Random(3)
    filled(tmp_path / "sound.db")
    sound = (tmp_path / "sound.db").read_bytes()
    # The first hundred bytes say what the file is.
    bits = [*chance.sample(range(800), 12), *chance.sample(range(8 * len(sound)), 12)]
    for bit in bits:
        path = tmp_path / str(bit) / "chats.db"
        path.parent.mkdir()
        raw = bytearray(sound)
        raw[bit // 8] ^= 1 << bit % 8
        path.write_bytes(raw)
        window = Window(path)
        window.use()
        if StoreProblemKind.FROM_THE_FUTURE in window.problems:
            assert 60 <= bit // 8 < 64, "the number of the version"
            continue
        assert set(window.problems) <= {StoreProblemKind.DAMAGED}, bit
        kept = texts(path)
        assert kept["new"] == ["said in a new chat"], bit
        assert "said after the damage" in kept["z"], bit


@pytest.mark.parametrize("place", [0, 1])
def test_an_id_that_can_not_be_asked_for_any_more_is_repaired(tmp_path, place):
    path = tmp_path / "chats.db"
    filled(path)
    store = ChatStore(path)
    store.add([small("a-name-of-its-own", "T", "Not to be lost")])
    store.close()
    raw = path.read_bytes()
    # In the table, and in its index.
    at = raw.index(b"a-name-of-its-own", raw.index(b"a-name-of-its-own") + place)
    path.write_bytes(raw[:at] + bytes([raw[at] ^ 0x80]) + raw[at + 1 :])
    window = Window(path)
    window.use()
    assert window.problems == [StoreProblemKind.DAMAGED]
    assert ["Not to be lost"] in texts(path).values()


def test_a_chat_whose_number_can_not_be_keeps_its_messages(tmp_path):
    path = tmp_path / "chats.db"
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE chat SET number = number + (1 << 60) WHERE id = 'a'")
    connection.commit()
    connection.close()
    window = Window(path)
    window.use()
    assert window.problems == [StoreProblemKind.DAMAGED]
    assert ["Tell me of wombats", "They dig long burrows"] in texts(path).values()


@pytest.mark.parametrize("which", ["id > 1", "id = 10", "id > 10"])
def test_a_damaged_index_of_words_is_made_anew(tmp_path, which):
    path = tmp_path / "chats.db"
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE word_data SET block = x'00ff00ff' WHERE {which}")
    connection.commit()
    connection.close()
    window = Window(path)
    window.use()
    assert window.problems == [StoreProblemKind.DAMAGED]
    store = ChatStore(path)
    assert [hit.chat.id for hit in store.search("wombats")] == ["a"]
    assert [hit.chat.id for hit in store.search("damage")] == ["z"]
    store.close()


def test_what_can_be_read_of_a_damaged_file_is_exported_and_the_damage_is_told(tmp_path, capsys):
    path = tmp_path / "chats.db"
    store = ChatStore(path)
    store.add(small(f"c{n}", "T", *[f"message {n} {i} " + "x" * 200 for i in range(20)]) for n in range(40))
    store.close()
    raw = bytearray(path.read_bytes())
    middle = len(raw) // 8192 * 4096
    raw[middle : middle + 4096] = b"\xa5" * 4096
    path.write_bytes(raw)
    assert export_folder(tmp_path, tmp_path / "out.json") == 1
    assert "is damaged" in capsys.readouterr().err
    found = read_chats(tmp_path / "out.json")
    assert sum(len(one.turns) for one in found.chats) > 700
    assert path.read_bytes() == raw, "who only reads repairs nothing"


def no_code(_store):
    raise sqlite3.OperationalError("Could not decode to UTF-8 column 'text' with text 'x'")


@pytest.mark.expected_log("left out")
def test_a_job_that_fails_for_ever_is_set_aside_and_told(tmp_path):
    window = Window(tmp_path / "chats.db")
    window.do(no_code)
    window.do(lambda store: store.save(Chat("a", "T")))
    assert window.problems == [StoreProblemKind.LEFT_OUT]
    assert window.writer.close()


@pytest.mark.parametrize("error", [sqlite3.OperationalError("no code"), OSError(5, "Input/output error")])
def test_a_job_that_only_reads_holds_up_none_that_writes(tmp_path, error):
    def read(_store):
        raise error

    window = Window(tmp_path / "chats.db")
    window.do(read, only_reads=True)
    window.do(lambda store: store.save(Chat("a", "T")))
    assert window.problems == []
    assert window.writer.close()


READER = """
import resource, sqlite3, sys
from pathlib import Path
from app.store.files import export_folder
from app.store.store import ChatStore, open_to_read
# No file can grow, as on a disk without a free byte.
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
path = Path(sys.argv[1])
try:
    ChatStore(path)
except sqlite3.Error:
    print("refused")
for _ in range(2):
    store = open_to_read(path)
    assert not store.can_write
    print(*(turn.own_text for turn in store.load("a").turns), sep=", ")
    store.close()
"""


@pytest.mark.parametrize("was_killed", [False, True])
def test_without_a_free_byte_the_chats_are_read_all_the_same(tmp_path, was_killed):
    path = tmp_path / "chats.db"
    store = ChatStore(path)
    store.add([small("a", "T", "one", "two")])
    if was_killed:
        for suffix in ("", "-wal"):
            (tmp_path / f"copy.db{suffix}").write_bytes((tmp_path / f"chats.db{suffix}").read_bytes())
        path = tmp_path / "copy.db"
    store.close()
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", READER, str(path)]
    found = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    assert found.stdout.split("\n") == ["refused", "one, two", "one, two", ""]


def test_a_store_that_only_reads_makes_no_file(tmp_path):
    path = tmp_path / "chats.db"
    filled(path)
    store = ChatStore(path, can_write=False)
    assert {line.id for line in store.chats()} == {"a", "full", "z"}
    assert [file.name for file in tmp_path.iterdir()] == ["chats.db"]
    with pytest.raises(sqlite3.OperationalError):
        store.save(Chat("b"))
    store.close()
    store = open_to_read(path)
    assert store.can_write
    store.close()


@pytest.mark.parametrize(("n_free", "kind"), [(0, StoreProblemKind.DISK_FULL), (10**9, StoreProblemKind.NOT_WRITABLE)])
def test_the_disk_is_named_where_it_is_the_cause(tmp_path, monkeypatch, n_free, kind):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(writing.shutil, "disk_usage", lambda _folder: usage(10**9, 10**9 - n_free, n_free))
    monkeypatch.setattr(writing, "RETRY_SECONDS", 0.01)
    told = threading.Event()
    problems = []

    def refuse(_store):
        if not told.is_set():
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
            raise error

    def on_problem(problem):
        problems.append(problem.kind)
        told.set()

    writer = ChatWriter(tmp_path / "chats.db", on_problem)
    writer.do(refuse)
    assert told.wait(10)
    assert writer.close()
    assert problems[0] is kind

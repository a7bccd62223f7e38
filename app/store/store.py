"""The chats in one SQLite file: every change is on disk when its call returns."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from app.store.records import Changes, Chat, ChatLine, Hit, PromptPreset, Turn, WholeChat
from app.store.rows import (
    CHAT,
    LINE,
    TURN,
    chat_id_of,
    chat_of,
    chat_values,
    line_of,
    searched_text,
    text_of,
    turn_id_of,
    turn_of,
    turn_values,
)
from app.store.schema import SERIAL_BITS, DamagedError, index_words, migrate, refusals_of_index
from app.store.words import query, snippet
from engine.api.valid import valid_text

DATABASE = "chats.db"
"""The name of the file in the data folder."""
BUSY_SECONDS = 5.0
"""How long a change waits for whoever reads where nobody may write meanwhile."""
MAX_NUMBER = 2**42
"""More chats than anybody has, and few enough for the places of their messages."""
BATCH = 4000
"""Hits looked at in one go."""
log = logging.getLogger("kvasir")
_REFUSALS = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
}
COLUMNS = {
    "chat": f"number, {CHAT}, deleted",
    "message": f"place, chat, {TURN}",
    "preset": "name, text",
    "word": "rowid",
}
"""What a sound file has at least."""
_CHAT_MARKS = ", ".join("?" * len(CHAT.split(",")))
_TURN_MARKS = ", ".join("?" * len(TURN.split(",")))
_TURN_SETS = ", ".join(f"{name} = excluded.{name}" for name in TURN.split(", ")[1:])


def refuses(error: sqlite3.Error) -> bool:
    """Whether it is the disk or the system that refuses, which may pass, and not the file that makes no sense."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _REFUSALS


class _Connection(sqlite3.Connection):
    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError as error:
            # SQLite quotes what makes no sense to it, which need be no text.
            raise DamagedError(repr(error.object)) from error


def connect(path: Path | str) -> sqlite3.Connection:
    """A connection to a file, or to what a URI names, that reads text with U+FFFD in place of bytes that are none."""
    is_uri = isinstance(path, str)
    connection = sqlite3.connect(
        path, BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=_Connection, uri=is_uri
    )
    connection.row_factory = sqlite3.Row
    connection.text_factory = functools.partial(str, encoding="utf-8", errors="replace")
    return connection


class ChatStore:
    """One connection; a thread needs its own. Methods raise sqlite3.Error when the file or the disk fails.

    Deleted chats can be restored until they are purged.
    """

    def __init__(self, path: Path, *, can_write: bool = True) -> None:
        """Open or make the file, which only its owner may read; raises FromTheFutureError, OSError, sqlite3.Error.

        One that can't write needs no room on the disk, and may keep others from writing until it is closed.
        """
        self.path = path
        self.can_write = can_write
        if can_write:
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._connection = connect(path)
        else:
            self._connection = _connect_without_room(path)
        try:
            self._begin()
            self._file = path.stat()
        except BaseException:
            self._connection.close()
            raise

    def _begin(self) -> None:
        pragmas = ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON")
        try:
            for pragma in pragmas if self.can_write else ("query_only = ON",):
                self._connection.execute(f"PRAGMA {pragma}")
            migrate(self._connection)
            for table, columns in COLUMNS.items():
                self._connection.execute(f"SELECT {columns} FROM {table} LIMIT 0")
        except sqlite3.Error as error:
            # These questions are right in every sound file.
            is_nonsense = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
            if is_nonsense or (refuses(error) and _is_of_unknown_make(self.path)):
                raise DamagedError(str(error)) from error
            raise

    def is_in_place(self) -> bool:
        """Whether the file that is open is the one at the path; somebody may have put another one there."""
        try:
            return os.path.samestat(self.path.stat(), self._file)
        except OSError:
            return False

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # Chats

    def chats(self) -> list[ChatLine]:
        """All chats that are not deleted: pinned ones first, then the latest."""
        order = "is_pinned DESC, changed DESC, number DESC"
        rows = self._connection.execute(f"SELECT {LINE} FROM chat WHERE deleted IS NULL ORDER BY {order}")
        return [line_of(row) for row in rows]

    def ids(self) -> tuple[str, ...]:
        """The ids of all chats, also of those whose deletion can be undone."""
        return tuple(chat_id_of(row["id"]) for row in self._connection.execute("SELECT id FROM chat"))

    def check(self) -> None:
        """Read everything; raises DamagedError, or another sqlite3.Error, unless all of it makes sense."""
        for row in self._connection.execute("PRAGMA integrity_check(1)"):
            if row[0] != "ok":
                raise DamagedError(str(row[0]))
        if self.can_write:
            self._connection.execute("INSERT INTO word (word) VALUES ('integrity-check')")
        for chat_id in self.ids():
            if self.load(chat_id) is None:
                raise DamagedError("there is a chat that can't be found by its id")

    def load(self, chat_id: str) -> WholeChat | None:
        """A chat with all its turns; None if there is none. An answer that was never finished has failed."""
        row = self._connection.execute(f"SELECT number, {CHAT} FROM chat WHERE id = ?", (chat_id,)).fetchone()
        if row is None:
            return None
        low, high = _places(row["number"])
        rows = self._connection.execute(
            f"SELECT {TURN} FROM message WHERE place BETWEEN ? AND ? ORDER BY id", (low, high)
        )
        return WholeChat(chat_of(row), tuple(map(turn_of, rows)))

    def save(self, chat: Chat, changes: Changes | None = None) -> None:
        """Write a chat, and what happened to its turns; one in which something is said after it was deleted is back."""
        with self._change():
            self._save(chat, changes or Changes())

    def add(self, chats: Iterable[WholeChat]) -> int:
        """Write whole chats, all or none but for those that the database can't hold; how many were written."""
        n_written = 0
        with self._change():
            for whole in chats:
                self._connection.execute("SAVEPOINT one")
                try:
                    self._save(whole.chat, Changes(whole.turns))
                    n_written += 1
                except (ValueError, OverflowError, sqlite3.DataError) as error:
                    log.info("a chat can't be kept: %r", error)
                    self._connection.execute("ROLLBACK TO one")
                self._connection.execute("RELEASE one")
        return n_written

    def rename(self, chat_id: str, title: str) -> None:
        """Give a chat a title that stays."""
        with self._change():
            row = self._connection.execute("SELECT number, title FROM chat WHERE id = ?", (chat_id,)).fetchone()
            if row is not None:
                title = valid_text(title)
                self._connection.execute(
                    "UPDATE chat SET title = ?, is_named = 1 WHERE number = ?", (title, row["number"])
                )
                index_words(self._connection, row["number"] << SERIAL_BITS, row["title"], title)

    def pin(self, chat_id: str, is_pinned: bool) -> None:
        """Keep a chat at the top, or no longer."""
        self._connection.execute("UPDATE chat SET is_pinned = ? WHERE id = ?", (int(is_pinned), chat_id))

    def delete(self, chat_id: str) -> None:
        """Take a chat out of sight; it can be restored until it is purged."""
        self._connection.execute("UPDATE chat SET deleted = ? WHERE id = ?", (time.time(), chat_id))

    def restore(self, chat_id: str) -> None:
        """Undo a deletion."""
        self._connection.execute("UPDATE chat SET deleted = NULL WHERE id = ?", (chat_id,))

    def purge(self, older_than_seconds: float = 0.0) -> tuple[str, ...]:
        """Remove for good what was deleted that long ago; the ids."""
        limit = time.time() - older_than_seconds
        with self._change():
            gone = self._connection.execute(
                "SELECT number, id, title FROM chat WHERE deleted <= ?", (limit,)
            ).fetchall()
            for row in gone:
                index_words(self._connection, row["number"] << SERIAL_BITS, row["title"], None)
                self._remove(f"place BETWEEN {_places(row['number'])[0]} AND {_places(row['number'])[1]}", ())
                self._connection.execute("DELETE FROM chat WHERE number = ?", (row["number"],))
        return tuple(text_of(row["id"]) for row in gone)

    # Search

    def search(self, wanted: str, limit: int = 100) -> list[Hit]:
        """Chats with all wanted words in one message or in the title, the latest first, at most ``limit`` of them."""
        # Beginnings of frequent words are slow to look up; where the words as they are give enough, nobody misses more.
        first: dict[int, int] = {}
        for expression in (query(wanted, are_whole=True), query(wanted)):
            if expression is not None and len(first) < limit:
                first = self._first_hits(expression, limit)
        hits = [hit for place in list(first.values())[: 2 * limit] if (hit := self._hit(place, wanted)) is not None]
        hits.sort(key=lambda hit: hit.chat.changed, reverse=True)
        return hits[:limit]

    def _first_hits(self, expression: str, limit: int) -> dict[int, int]:
        """The place of the newest hit in each chat, unless its title, which has the lowest place, is one."""
        first: dict[int, int] = {}
        top = 2**62
        while len(first) < limit:
            rows = self._connection.execute(
                "SELECT rowid FROM word WHERE word MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
                (expression, top, BATCH),
            ).fetchall()
            for (place,) in rows:
                number = place >> SERIAL_BITS
                if number not in first or place == number << SERIAL_BITS:
                    first[number] = place
            if len(rows) < BATCH:
                break
            top = rows[-1][0] >> SERIAL_BITS << SERIAL_BITS
        return first

    def _hit(self, place: int, wanted: str) -> Hit | None:
        number = place >> SERIAL_BITS
        row = self._connection.execute(
            f"SELECT {LINE} FROM chat WHERE number = ? AND deleted IS NULL", (number,)
        ).fetchone()
        if row is None:
            return None
        chat = line_of(row)
        if place == number << SERIAL_BITS:
            return Hit(chat)
        found = self._connection.execute(
            "SELECT id, text, attachments FROM message WHERE place = ?", (place,)
        ).fetchone()
        if found is None:
            return Hit(chat)
        return Hit(chat, turn_id_of(found["id"]), snippet(searched_text(found["text"], found["attachments"]), wanted))

    # Presets

    def presets(self) -> list[PromptPreset]:
        """The system prompts that were given names."""
        rows = self._connection.execute("SELECT name, text FROM preset ORDER BY name COLLATE NOCASE")
        return [PromptPreset(text_of(row["name"]), text_of(row["text"])) for row in rows]

    def save_preset(self, preset: PromptPreset) -> None:
        """Write a preset in place of one with the same name."""
        values = (valid_text(preset.name), valid_text(preset.text))
        self._connection.execute("INSERT OR REPLACE INTO preset (name, text) VALUES (?, ?)", values)

    def delete_preset(self, name: str) -> None:
        """Remove a preset."""
        self._connection.execute("DELETE FROM preset WHERE name = ?", (name,))

    # Inside

    @contextlib.contextmanager
    def _change(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with refusals_of_index():
                self._connection.execute("COMMIT")
        except BaseException:
            # Where the disk is full SQLite may have rolled back by itself.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _save(self, chat: Chat, changes: Changes) -> None:
        number = self._save_head(chat)
        low, high = _places(number)
        newest = "SELECT max(place) FROM message WHERE place BETWEEN ? AND ?"
        last = self._connection.execute(newest, (low, high)).fetchone()[0] or low
        for turn in sorted(changes.saved, key=lambda turn: turn.id):
            if last >= high:
                raise ValueError("A chat can't have more than a million messages.")
            last += self._save_turn(number, last + 1, turn)
        for turn_id in changes.deleted:
            self._remove("chat = ? AND id = ?", (number, turn_id))

    def _save_head(self, chat: Chat) -> int:
        """Write a chat without its turns; its number."""
        run = self._connection.execute
        values = chat_values(chat)
        row = run("SELECT number, title FROM chat WHERE id = ?", (chat.id,)).fetchone()
        if row is None:
            number = run(f"INSERT INTO chat ({CHAT}) VALUES ({_CHAT_MARKS})", values).lastrowid or 0
        else:
            number = int(row["number"])
            run(f"UPDATE chat SET ({CHAT}) = ({_CHAT_MARKS}), deleted = NULL WHERE number = ?", (*values, number))
        index_words(self._connection, number << SERIAL_BITS, row["title"] if row is not None else None, values[1])
        return number

    def _save_turn(self, number: int, place: int, turn: Turn) -> int:
        """Write a turn where it is, or at a new place; how many places were taken."""
        old = self._connection.execute(
            "SELECT place, text, attachments FROM message WHERE chat = ? AND id = ?", (number, turn.id)
        ).fetchone()
        values = turn_values(turn)
        self._connection.execute(
            f"INSERT INTO message (place, chat, {TURN}) VALUES (?, ?, {_TURN_MARKS}) "
            f"ON CONFLICT (chat, id) DO UPDATE SET {_TURN_SETS}",
            (place, number, *values),
        )
        new_text = searched_text(values[4], values[-1])
        if old is None:
            index_words(self._connection, place, None, new_text)
            return 1
        index_words(self._connection, old["place"], searched_text(old["text"], old["attachments"]), new_text)
        return 0

    def _remove(self, where: str, values: tuple[object, ...]) -> None:
        rows = self._connection.execute(f"SELECT place, text, attachments FROM message WHERE {where}", values)
        for row in rows.fetchall():
            index_words(self._connection, row["place"], searched_text(row["text"], row["attachments"]), None)
            self._connection.execute("DELETE FROM message WHERE place = ?", (row["place"],))


def open_to_read(path: Path) -> ChatStore:
    """A store that can at least be read, also where the disk is full or may not be written to; raises as ChatStore."""
    try:
        return ChatStore(path)
    except sqlite3.Error as error:
        if not refuses(error):
            raise
        return ChatStore(path, can_write=False)


def _connect_without_room(path: Path) -> sqlite3.Connection:
    """SQLite takes a file with shared memory beside the database, and for that room, unless nobody writes or nobody
    else may read meanwhile."""
    wal = path.with_name(f"{path.name}-wal")
    if not wal.exists() or wal.stat().st_size == 0:
        return connect(f"file:{quote(os.fsencode(path.absolute()))}?immutable=1")
    connection = connect(path)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    return connection


def _is_of_unknown_make(path: Path) -> bool:
    """Whether the file says that it is of a kind that SQLite may not write."""
    with path.open("rb") as file:
        head = file.read(20)
    return len(head) == 20 and max(head[18:]) > 2


def _places(number: int) -> tuple[int, int]:
    """The places of a chat's messages, both included; raises DamagedError."""
    if not 0 <= number < MAX_NUMBER:
        raise DamagedError(f"the number {number} of a chat")
    return (number << SERIAL_BITS) + 1, (number + 1 << SERIAL_BITS) - 1

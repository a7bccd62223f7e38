"""The tables of the chats' database, as a chain of migrations that is only ever added to."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from app.store.words import indexed

SERIAL_BITS = 20
"""A message's place in the table, and in the index of words, is the chat's number and below it a serial of this many
bits. So hits say which chat they are in without looking at the message; serial 0 is the title."""

_FIRST = """
CREATE TABLE chat (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    is_named INTEGER NOT NULL,
    is_pinned INTEGER NOT NULL,
    created REAL NOT NULL,
    changed REAL NOT NULL,
    deleted REAL,
    settings TEXT NOT NULL,
    draft TEXT NOT NULL
) STRICT;
CREATE TABLE message (
    place INTEGER PRIMARY KEY,
    chat INTEGER NOT NULL REFERENCES chat (number) ON DELETE CASCADE,
    id INTEGER NOT NULL,
    parent INTEGER,
    is_chosen INTEGER NOT NULL,
    role TEXT NOT NULL,
    text TEXT NOT NULL,
    reasoning TEXT NOT NULL,
    token_ids BLOB,
    model TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    stats TEXT,
    created REAL NOT NULL,
    attachments TEXT,
    UNIQUE (chat, id)
) STRICT;
CREATE TABLE preset (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE word USING fts5 (text, content='', tokenize='unicode61 remove_diacritics 2', prefix='1 2 3 4');
"""

MIGRATIONS = (_FIRST,)
"""The n-th takes a database of version n to version n + 1."""
VERSION = len(MIGRATIONS)


class FromTheFutureError(Exception):
    """The database was written by a newer Kvasir."""


class DamagedError(sqlite3.DatabaseError):
    """The database can be read, and holds what was never written into it."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to this version, all steps or none; raises FromTheFutureError, DamagedError."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == VERSION:
        return
    if version > VERSION:
        raise FromTheFutureError(f"version {version}")
    if version < 0:
        raise DamagedError(f"version {version}")
    # The thread that reads may be doing the same: whoever comes second finds it done.
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise DamagedError("tables in a database without a version")
        for step in MIGRATIONS[version:]:
            for statement in filter(str.strip, step.split(";\n")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def index_words(connection: sqlite3.Connection, place: int, old: str | None, new: str | None) -> None:
    """Replace the words at a place. The index keeps no text, so the old words have to be given again."""
    if old == new:
        return
    with refusals_of_index():
        if old:
            connection.execute("INSERT INTO word (word, rowid, text) VALUES ('delete', ?, ?)", (place, indexed(old)))
        if new:
            connection.execute("INSERT INTO word (rowid, text) VALUES (?, ?)", (place, indexed(new)))


@contextlib.contextmanager
def refusals_of_index() -> Iterator[None]:
    """The index of words, which has no rules of its own, refuses what is written only where it is damaged."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise DamagedError(str(error)) from error

"""Renames a damaged database, and copies what can be read of it into a new one."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.store.records import MAX_LATER_ID, Changes, Chat, PromptPreset, Turn
from app.store.rows import CHAT, TURN, chat_of, text_of, turn_of
from app.store.schema import SERIAL_BITS, DamagedError
from app.store.store import COLUMNS, ChatStore, connect

MAX_CHATS = 2**20
MAX_UNREADABLE = 256
"""Pages; where more are lost, or half of them, it is the disk that does not answer."""
_COPIED = 1 << 20
_PAGE = 4096
_UNREADABLE = (sqlite3.Error, UnicodeDecodeError, TypeError, ValueError, OverflowError)

log = logging.getLogger("kvasir")


@dataclass(frozen=True)
class Salvaged:
    """Where the damaged file is now, and how much was brought over."""

    kept_as: Path
    n_chats: int
    n_messages: int


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file itself makes no sense, which trying again won't heal."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    is_nonsense = primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    # Parts of it that the disk can't read any more.
    return is_nonsense or isinstance(error, DamagedError) or code == sqlite3.SQLITE_IOERR_CORRUPTFS


def salvage(path: Path) -> Salvaged:
    """Move the database at ``path`` aside and write a new one with what can be read; raises OSError, sqlite3.Error.

    Who is killed meanwhile loses nothing: before the new one is whole the old one stays, and after that
    ``finish_salvage`` goes on. Other connections can't write until the new one stands at ``path``.
    """
    fresh_path = path.with_name(f"{path.name}.new")
    for old in _with_companions(fresh_path):
        old.unlink(missing_ok=True)
    with contextlib.closing(connect(path)) as guard:
        with contextlib.suppress(sqlite3.DatabaseError):
            guard.execute("BEGIN IMMEDIATE")
        n_chats, n_messages = _bring_over(path, fresh_path)
        if os.name == "nt":
            # No open file can be moved there.
            guard.close()
        fresh_path.rename(_whole(path))
        kept_as = _exchange(path)
    _, log_file, index = _with_companions(kept_as)
    if log_file.exists() and log_file.stat().st_size == 0:
        log_file.unlink()
        index.unlink(missing_ok=True)
    return Salvaged(kept_as, n_chats, n_messages)


def is_salvage_unfinished(path: Path) -> bool:
    """Whether somebody was killed, or is at work, between writing a whole database and putting it at ``path``."""
    return _whole(path).exists()


def finish_salvage(path: Path) -> Salvaged:
    """Put the whole database of a salvage that was cut short at ``path``; raises OSError, sqlite3.Error."""
    with contextlib.closing(connect(_whole(path))) as whole:
        counts = whole.execute("SELECT (SELECT count(*) FROM chat), (SELECT count(*) FROM message)").fetchone()
    return Salvaged(_exchange(path), *counts)


def _exchange(path: Path) -> Path:
    """Move what is at ``path`` aside, the file itself last, and the whole database there; where the old one is now."""
    number = next(n for n in range(1, 1_000_000) if not _aside(path, n).exists())
    # Where the file itself has gone, it was the last that was moved.
    kept_as = _aside(path, number if path.exists() else max(number - 1, 1))
    for old, new in reversed(list(zip(_with_companions(path), _with_companions(kept_as), strict=True))):
        if new.exists():
            # Moved before the kill; what is here now was made by somebody who only looked.
            old.unlink(missing_ok=True)
        elif old.exists():
            old.rename(new)
    _whole(path).rename(path)
    return kept_as


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{number}")


def _whole(path: Path) -> Path:
    return path.with_name(f"{path.name}.whole")


def _bring_over(path: Path, fresh_path: Path) -> tuple[int, int]:
    """Write all that can be read into a new database; how many chats and messages."""
    n_chats = n_messages = 0
    with contextlib.closing(ChatStore(fresh_path)) as fresh:
        for chat, turns in readable(path, path.with_name(f"{path.name}.reading")):
            n_chats += 1
            n_messages += len(turns)
            fresh.save(chat, Changes(tuple(turns)))
            if chat.is_pinned:
                fresh.pin(chat.id, is_pinned=True)
        for preset in readable_presets(path):
            fresh.save_preset(preset)
    return n_chats, n_messages


def _with_companions(path: Path) -> tuple[Path, ...]:
    """The file and what SQLite keeps beside it."""
    return (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))


def readable(path: Path, copy: Path) -> Iterator[tuple[Chat, list[Turn]]]:
    """Every chat of which anything can be read, from a ``copy`` that is made for it. Messages whose chat can't be read
    make a chat of their own."""
    try:
        for old, new in zip(_with_companions(path), _with_companions(copy), strict=True):
            new.unlink(missing_ok=True)
            if old.exists():
                _copy(old, new)
        if not _has_tables(copy):
            _give_first_page(copy)
        if not _has_tables(copy):
            # Every question would fail, at each of the many places where a row may be.
            return
        with contextlib.closing(connect(copy)) as connection:
            yield from _chats_with_turns(connection, *_chats(connection))
    finally:
        for one in _with_companions(copy):
            one.unlink(missing_ok=True)


def _copy(old: Path, new: Path) -> None:
    """Copy a file, with zeros for pages that the disk can't read any more; raises OSError where those are many."""
    with old.open("rb", buffering=0) as source, new.open("wb") as target:
        size = os.fstat(source.fileno()).st_size
        at = whole_from = n_unreadable = 0
        while at < size:
            source.seek(at)
            try:
                piece = source.read(_COPIED if at >= whole_from else _PAGE)
            except OSError as error:
                if at >= whole_from:
                    whole_from = at + _COPIED
                    continue
                log.info("a page of the damaged chats at %d: %s", at, error)
                n_unreadable += 1
                if n_unreadable > min(MAX_UNREADABLE, size // _PAGE // 2):
                    raise
                piece = bytes(_PAGE)
            if not piece:
                break
            target.write(piece)
            at += len(piece)


def _chats(connection: sqlite3.Connection) -> tuple[dict[int, Chat], set[int]]:
    """The chats by their numbers, and the numbers of those that were deleted."""
    select = f"SELECT number, {CHAT} FROM chat WHERE deleted IS NULL"
    chats: dict[int, Chat] = {}
    ids: set[str] = set()
    for row in _rows(connection, "number", select):
        chat_id = text_of(row["id"])
        if not chat_id or chat_id in ids:
            chat_id = f"salvaged-{row['number']}"
        ids.add(chat_id)
        chats[int(row["number"])] = chat_of({**dict(row), "id": chat_id})
    deleted = {int(row["number"]) for row in _rows(connection, "number", "SELECT number FROM chat WHERE deleted > 0")}
    return chats, deleted


def _chats_with_turns(
    connection: sqlite3.Connection, chats: dict[int, Chat], deleted: set[int]
) -> Iterator[tuple[Chat, list[Turn]]]:
    number: int | None = None
    turns: list[Turn] = []
    seen = set(deleted)

    def chat() -> tuple[Chat, list[Turn]]:
        known = chats.get(number or 0)
        return known or Chat(f"salvaged-{number}", created=turns[0].moment, changed=turns[-1].moment), turns

    for row in _rows(connection, "place", f"SELECT place, {TURN} FROM message"):
        at = row["place"] >> SERIAL_BITS
        if at in deleted:
            continue
        if at != number and turns:
            yield chat()
            turns = []
        number = at
        seen.add(at)
        turn_id = row["id"]
        if not isinstance(turn_id, int) or not 0 <= turn_id < MAX_LATER_ID:
            turn_id = turns[-1].id + 1 if turns else 0
        turns.append(turn_of({**dict(row), "id": turn_id}))
    if turns:
        yield chat()
    for number, empty in chats.items():
        if number not in seen:
            yield empty, []


def readable_presets(path: Path) -> list[PromptPreset]:
    """The presets, all or none."""
    try:
        with contextlib.closing(connect(path)) as connection:
            return [PromptPreset(*map(text_of, row)) for row in connection.execute("SELECT name, text FROM preset")]
    except sqlite3.Error:
        return []


def _rows(connection: sqlite3.Connection, key: str, select: str) -> Iterator[sqlite3.Row]:
    """Every row that can be read, by its key; pages that can't are stepped over."""
    joint = "AND" if " WHERE " in select else "WHERE"
    ask = f"{select} {joint} {key} >= ? ORDER BY {key}"
    at = 0
    while True:
        try:
            for row in connection.execute(ask, (at,)):
                at = _next(row[key], at)
                yield row
        except _UNREADABLE as error:
            log.info("a part of the damaged chats can't be read from %s %d on: %s", key, at, error)
        else:
            return
        try:
            # Where reading fails, the row before was fetched already, and is lost unless it is asked for alone.
            row = connection.execute(f"{ask} LIMIT 1", (at,)).fetchone()
            if row is None:
                return
            at = _next(row[key], at)
            yield row
        except _UNREADABLE:
            beyond = _first_readable(lambda place: _can_read(connection, f"{ask} LIMIT 1", place), at)
            if beyond is None:
                return
            at = beyond


def _next(key: int, at: int) -> int:
    """The place after a row's; raises ValueError where the order of the rows is damaged."""
    if key < at:
        raise ValueError(f"row {key} comes after {at - 1}")
    return key + 1


def _first_readable(can_read: Callable[[int], bool], at: int) -> int | None:
    """The lowest place after ``at`` from where reading works again, found with growing steps and then by halving."""
    low = at
    for high in _places_beyond(at):
        if can_read(high):
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if can_read(middle) else (middle, high)
            return high
        low = high
    return None


def _places_beyond(at: int) -> Iterator[int]:
    """Places in the same chat, ever further apart, and then in those after it: between two parts that can't be read a
    few rows may be whole."""
    number, serial = divmod(at, 1 << SERIAL_BITS)
    yield from (at + step for step in _steps((1 << SERIAL_BITS) - serial))
    for further in _steps(MAX_CHATS):
        yield from ((number + further << SERIAL_BITS) + step for step in _steps(1 << SERIAL_BITS))


def _steps(limit: int) -> Iterator[int]:
    step = 1
    while step < limit:
        yield step
        step += 1 + step // 16


def _can_read(connection: sqlite3.Connection, ask: str, place: int) -> bool:
    """Whether there is a row from a place on, or the end."""
    try:
        row = connection.execute(ask, (place,)).fetchone()
        return row is None or row[0] >= place
    except _UNREADABLE:
        return False


def _has_tables(path: Path) -> bool:
    try:
        with contextlib.closing(connect(path)) as connection:
            for table in ("chat", "message"):
                connection.execute(f"SELECT {COLUMNS[table]} FROM {table} LIMIT 0")
            return True
    except sqlite3.Error:
        return False


def _give_first_page(path: Path) -> None:
    """Write the first page of an empty database over one that makes no sense: the tables begin on the same pages in
    every database of a version, so what they hold can be read again."""
    model = path.with_name(f"{path.name}-model")
    try:
        ChatStore(model).close()
        page = bytearray(model.read_bytes()[:_PAGE])
    finally:
        for one in _with_companions(model):
            one.unlink(missing_ok=True)
    size = path.stat().st_size
    if size < len(page):
        return
    # The number of pages, and no list of free ones.
    page[28:32] = (size // len(page)).to_bytes(4, "big")
    page[32:40] = bytes(8)
    with path.open("r+b") as file:
        file.write(page)

"""Puts a damaged database aside, and brings over what can be read of it."""

from __future__ import annotations

import contextlib
import logging
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.conversations.records import Changes, Chat, Preset, Turn
from app.conversations.rows import CHAT, TURN, chat_of, turn_of
from app.conversations.schema import SERIAL_BITS
from app.conversations.store import ChatStore

PAGE_HEADER = 100
"""Bytes before the table of tables on the first page."""
LAST_KEY = 2**62

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
    return primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def salvage(path: Path) -> Salvaged:
    """Move the database at ``path`` aside and write a new one with what can be read; raises OSError, sqlite3.Error.

    The new one stands at ``path`` only once it is whole, so being killed in between costs nothing.
    """
    kept_as = next(
        kept for kept in (path.with_name(f"{path.name}.damaged-{n}") for n in range(1, 1_000_000)) if not kept.exists()
    )
    fresh_path = path.with_name(f"{path.name}.new")
    for old in _with_companions(fresh_path):
        old.unlink(missing_ok=True)
    fresh = ChatStore(fresh_path)
    n_chats = n_messages = 0
    try:
        for chat, turns in _readable(path):
            n_chats += 1
            n_messages += len(turns)
            fresh.save(chat, Changes(tuple(turns)))
            if chat.is_pinned:
                fresh.pin(chat.id, is_pinned=True)
        for preset in _presets(path):
            fresh.save_preset(preset)
    finally:
        fresh.close()
    for old, new in zip(_with_companions(path), _with_companions(kept_as), strict=True):
        if old.exists():
            old.rename(new)
    fresh_path.rename(path)
    return Salvaged(kept_as, n_chats, n_messages)


def _with_companions(path: Path) -> tuple[Path, ...]:
    """The file and what SQLite keeps beside it."""
    return (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))


def _readable(path: Path) -> Iterator[tuple[Chat, list[Turn]]]:
    """Every chat of which anything can be read. Messages whose chat can't be read make a chat of their own."""
    copy = path.with_name(f"{path.name}.reading")
    try:
        for old, new in zip(_with_companions(path), _with_companions(copy), strict=True):
            new.unlink(missing_ok=True)
            if old.exists():
                shutil.copyfile(old, new)
        if not _has_tables(copy):
            _give_first_page(copy)
        with contextlib.closing(_connect(copy)) as connection:
            chats = {
                int(row["number"]): chat_of(row)
                for row in _rows(connection, "number", f"SELECT number, {CHAT} FROM chat WHERE deleted IS NULL")
            }
            deleted = {
                int(row["number"]) for row in _rows(connection, "number", "SELECT number FROM chat WHERE deleted > 0")
            }
            yield from _chats_with_turns(connection, chats, deleted)
    finally:
        for one in _with_companions(copy):
            one.unlink(missing_ok=True)


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
        turns.append(turn_of(row))
    if turns:
        yield chat()
    for number, empty in chats.items():
        if number not in seen:
            yield empty, []


def _presets(path: Path) -> list[Preset]:
    try:
        with contextlib.closing(_connect(path)) as connection:
            return [Preset(*row) for row in connection.execute("SELECT name, text FROM preset")]
    except sqlite3.Error:
        return []


def _rows(connection: sqlite3.Connection, key: str, select: str) -> Iterator[sqlite3.Row]:
    """Every row that can be read, by its key; pages that can't are stepped over."""
    joint = "AND" if " WHERE " in select else "WHERE"
    ask = f"{select} {joint} {key} > ? ORDER BY {key}"
    last = 0
    while True:
        try:
            for row in connection.execute(ask, (last,)):
                last = row[key]
                yield row
        except (sqlite3.Error, UnicodeDecodeError, TypeError, ValueError, OverflowError) as error:
            log.info("a part of the damaged chats can't be read after %s %d: %s", key, last, error)
        else:
            return
        beyond = _first_readable(lambda place: _can_read(connection, f"{ask} LIMIT 1", place), last)
        if beyond is None:
            return
        last = beyond


def _first_readable(can_read: Callable[[int], bool], last: int) -> int | None:
    """The lowest place after ``last`` from where reading works again, found by doubling and halving the step."""
    step = 1
    while not can_read(last + step):
        step *= 2
        if last + step > LAST_KEY:
            return None
    low, high = step // 2, step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if can_read(last + middle) else (middle, high)
    return last + high


def _can_read(connection: sqlite3.Connection, ask: str, place: int) -> bool:
    try:
        row = connection.execute(ask, (place,)).fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    # Nothing beyond is an end, not a place to go on from.
    return row is not None


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _has_tables(path: Path) -> bool:
    try:
        with contextlib.closing(_connect(path)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            return True
    except sqlite3.Error:
        return False


def _give_first_page(path: Path) -> None:
    """Write the first page of an empty database over one that makes no sense: the tables begin on the same pages in
    every database of a version, so what they hold can be read again."""
    model = path.with_name(f"{path.name}-model")
    try:
        ChatStore(model).close()
        page = bytearray(model.read_bytes()[:4096])
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

"""Files of chats: writes them in one step, and reads whatever kind they turn out to be."""

from __future__ import annotations

import contextlib
import itertools
import logging
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

from app.process import terminal
from app.store import json_format
from app.store.json_format import FormatError
from app.store.markdown_format import from_markdown, to_markdown
from app.store.other_formats import chatgpt_chats, is_webui, webui_chats, webui_records
from app.store.records import PromptPreset, WholeChat
from app.store.salvage import is_damage, readable, readable_presets
from app.store.schema import FromTheFutureError
from app.store.store import DATABASE, ChatStore, open_to_read
from engine.api.valid import valid_text
from engine.disk.foreign_json import read_json
from engine.disk.whole_file import write_whole

MAX_FILE_BYTES = 2_000_000_000
MAX_UNPACKED_BYTES = 1_000_000_000
"""Of all chats in an archive together, whatever else is in it."""
MAX_MEMBERS = 100_000
MAX_RATIO = 200
"""How many times smaller chats become when they are packed; what shrinks more is made to fill the memory."""
MAX_TINY_BYTES = 10_000_000
"""Up to here that does no harm."""
PIECE_BYTES = 1_000_000
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those that can be unpacked in pieces of a size that is known before."""

log = logging.getLogger("kvasir")


class ImportProblem(StrEnum):
    """Why a file can't be taken in."""

    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    UNKNOWN_FORMAT = "unknown_format"
    FROM_THE_FUTURE = "from_the_future"


class ImportRefusedError(Exception):
    """``detail`` is for the log."""

    def __init__(self, problem: ImportProblem, detail: str = "") -> None:
        super().__init__(problem.value)
        self.problem = problem
        self.detail = detail


@dataclass(frozen=True)
class Imported:
    """What a file holds; ``kind`` names its format. ``left_out`` says, for the log, what of it made no sense."""

    kind: str
    chats: tuple[WholeChat, ...]
    presets: tuple[PromptPreset, ...] = ()
    left_out: tuple[str, ...] = ()


def export_chats(
    path: Path,
    store: ChatStore,
    chat_ids: Iterable[str] | None = None,
    unwritten: Mapping[str, WholeChat] | None = None,
) -> int:
    """Write chats, by default all and the presets with them, to a file of Kvasir's format, or one chat to Markdown if
    its name ends in .md; how many. Those that are ``unwritten`` are taken from there, not from the store. Raises
    OSError, sqlite3.Error."""
    known = unwritten or {}
    ids = list(dict.fromkeys([*(chat.id for chat in store.chats()), *known]) if chat_ids is None else chat_ids)
    chats = (known.get(chat_id) or store.load(chat_id) for chat_id in ids)
    return _write_chats(path, chats, store.presets() if chat_ids is None else ())


def export_from(
    database: Path,
    path: Path,
    chat_ids: Iterable[str] | None = None,
    unwritten: Mapping[str, WholeChat] | None = None,
) -> tuple[int, Exception | None]:
    """Write chats out of a database as ``export_chats`` does, or as much of them as can be read if it is damaged: how
    many, and the damage. Raises FromTheFutureError, OSError, sqlite3.Error."""
    try:
        with contextlib.closing(open_to_read(database)) as store:
            return export_chats(path, store, chat_ids, unwritten), None
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        damage = error
    known = dict(unwritten or {})
    wanted = None if chat_ids is None else set(chat_ids)

    def chats() -> Iterator[WholeChat]:
        with tempfile.TemporaryDirectory() as folder:
            for chat, turns in readable(database, Path(folder, DATABASE)):
                if wanted is None or chat.id in wanted:
                    yield known.pop(chat.id, WholeChat(chat, tuple(turns)))
        yield from (whole for whole in known.values() if wanted is None or whole.chat.id in wanted)

    return _write_chats(path, chats(), readable_presets(database) if wanted is None else ()), damage


def _write_chats(path: Path, chats: Iterable[WholeChat | None], presets: Iterable[PromptPreset]) -> int:
    n_chats = 0

    def counted() -> Iterator[WholeChat]:
        nonlocal n_chats
        for whole in chats:
            if whole is not None:
                n_chats += 1
                yield whole

    if path.suffix.lower() in (".md", ".markdown"):
        _write(path, ("\n".join(map(to_markdown, counted())),))
    else:
        _write(path, json_format.pieces(counted(), presets))
    return n_chats


def _write(path: Path, pieces: Iterable[str]) -> None:
    write_whole(path, (valid_text(piece).encode() for piece in pieces), is_synced=True)


def read_chats(path: Path) -> Imported:
    """The chats in a file of Kvasir, ChatGPT or llama.cpp's WebUI, or in a Markdown file; raises ImportRefusedError and
    nothing else, whatever is in the file."""
    try:
        return _read_chats(path)
    except ImportRefusedError:
        raise
    except Exception as error:
        log.exception("a file of chats can't be read")
        raise ImportRefusedError(ImportProblem.UNREADABLE, repr(error)) from error


def _read_chats(path: Path) -> Imported:
    try:
        if path.exists() and not path.is_file():
            # Reading from a pipe or a device may never end.
            raise ImportRefusedError(ImportProblem.UNREADABLE, "not a file")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ImportRefusedError(ImportProblem.TOO_LARGE)
        if zipfile.is_zipfile(path):
            return _from_zip(path)
        with path.open("rb") as file:
            text = _decoded(_read(file, MAX_FILE_BYTES))
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise ImportRefusedError(ImportProblem.UNREADABLE, str(error)) from error
    return _from_text(text, valid_text(path.name))


def add_chats(store: ChatStore, imported: Imported) -> tuple[int, int]:
    """Put chats into the store: how many are new, and how many were left out since they are there, unchanged; any more
    can't be kept. One that differs from the one with its id becomes a chat of its own."""
    visible = {chat.id for chat in store.chats()}
    new: dict[str, WholeChat] = {}
    n_left_out = n_restored = 0
    for whole in imported.chats:
        chat_id = whole.chat.id
        for number in itertools.count(2):
            kept = new.get(chat_id) or store.load(chat_id)
            if kept is None:
                new[chat_id] = WholeChat(replace(whole.chat, id=chat_id), whole.turns)
                break
            if _is_same(kept, whole):
                is_back = chat_id not in visible and chat_id not in new
                if is_back:
                    store.restore(chat_id)
                n_restored += is_back
                n_left_out += not is_back
                break
            chat_id = f"{whole.chat.id}-{number}"
    n_new = store.add(new.values())
    for preset in imported.presets:
        store.save_preset(preset)
    return n_new + n_restored, n_left_out


def _is_same(kept: WholeChat, other: WholeChat) -> bool:
    return [(one.id, one.message.text) for one in kept.turns] == [
        (one.id, one.message.text) for one in sorted(other.turns, key=lambda turn: turn.id)
    ]


def export_folder(data: Path, path: Path) -> int:
    """Write all chats of a data folder to a file, for the command line: the exit status, with a sentence for 1."""
    database = data / DATABASE
    try:
        if not data.is_dir():
            raise FileNotFoundError(f"there is no folder {data}")
        if not database.is_file():
            _write(path, json_format.pieces(()))
            return 0
        _, damage = export_from(database, path)
    except (OSError, sqlite3.Error, FromTheFutureError) as error:
        terminal.say(f"kvasir: the chats can't be written to {path}: {error}.")
        return 1
    if damage is not None:
        terminal.say(f"kvasir: {database} is damaged ({damage}); what can be read of it is in {path}.")
        return 1
    return 0


def _from_zip(path: Path) -> Imported:
    chats: list[WholeChat] = []
    left_out: list[str] = []
    kind = ""
    with zipfile.ZipFile(path) as archive:
        if len(archive.infolist()) > MAX_MEMBERS:
            raise ImportRefusedError(ImportProblem.TOO_LARGE, "too many files in the archive")
        members = [one for one in archive.infolist() if _holds_chats(one.filename)]
        _refuse_bombs(members, path.stat().st_size)
        n_left = MAX_UNPACKED_BYTES
        for member in members:
            with archive.open(member) as file:
                raw = _read(file, n_left)
            n_left -= len(raw)
            text = _decoded(raw)
            del raw
            try:
                found = _from_text(text, Path(member.filename).name)
            except ImportRefusedError as error:
                left_out.append(f"{member.filename!r:.200}: {error.detail}")
                continue
            kind = found.kind
            chats += found.chats
            left_out += found.left_out
    if not chats:
        raise ImportRefusedError(ImportProblem.UNKNOWN_FORMAT, "; ".join(left_out)[:1000] or "no chats in the archive")
    return Imported(kind, tuple(chats), left_out=tuple(left_out))


def _holds_chats(member: str) -> bool:
    name = Path(member).name.lower()
    return name.endswith(".jsonl") or (name.startswith("conversations") and name.endswith(".json"))


def _refuse_bombs(members: Iterable[zipfile.ZipInfo], n_archive: int) -> None:
    """By what the directory of an archive of ``n_archive`` bytes says, before anything is unpacked."""
    n_packed = n_bytes = 0
    for member in members:
        # The same bytes may be said to be those of many files.
        n_packed = min(n_packed + member.compress_size, n_archive)
        n_bytes += member.file_size
        if n_bytes > min(MAX_UNPACKED_BYTES, max(MAX_TINY_BYTES, MAX_RATIO * n_packed)):
            raise ImportRefusedError(ImportProblem.TOO_LARGE, f"{member.filename!r:.200} unpacked")
        if member.compress_type not in _PACKINGS:
            raise NotImplementedError(f"packed in the way {member.compress_type}")


def _read(file: IO[bytes], limit: int) -> bytearray:
    """All of a file, but at most so many bytes, whatever its size was said to be."""
    raw = bytearray()
    while piece := file.read(PIECE_BYTES):
        raw += piece
        if len(raw) > limit:
            raise ImportRefusedError(ImportProblem.TOO_LARGE, "more than was said")
    return raw


def _decoded(raw: bytearray) -> str:
    """UTF-16 where its mark says so, as files that Windows' own tools write, and UTF-8 otherwise."""
    return raw.decode("utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig", "replace")


def _from_text(text: str, name: str) -> Imported:
    try:
        plain = read_json(text)
    except ValueError:
        return _from_lines(text, name)
    try:
        return _from_json(plain)
    except FormatError as error:
        is_newer = json_format.is_ours(plain) and isinstance(plain.get("version"), int)
        is_newer = is_newer and plain["version"] > json_format.VERSION
        problem = ImportProblem.FROM_THE_FUTURE if is_newer else ImportProblem.UNKNOWN_FORMAT
        raise ImportRefusedError(problem, str(error)) from error


def _from_json(plain: Any) -> Imported:
    if json_format.is_ours(plain):
        chats, presets, left_out = json_format.chats_of(plain)
        return Imported("kvasir", tuple(chats), tuple(presets), tuple(left_out))
    several = plain if isinstance(plain, list) else [plain]
    if any(map(is_webui, several)):
        chats, left_out = webui_chats(several)
        return Imported("webui", tuple(chats), left_out=tuple(left_out))
    if isinstance(plain, list) or (isinstance(plain, dict) and "mapping" in plain):
        chats, left_out = chatgpt_chats(several)
        return Imported("chatgpt", tuple(chats), left_out=tuple(left_out))
    raise FormatError("none of the known formats")


def _from_lines(text: str, name: str) -> Imported:
    """JSON Lines or Markdown."""
    unreadable: list[str] = []
    sessions = webui_records(_json_lines(text, unreadable))
    if sessions:
        chats, left_out = webui_chats(sessions)
        return Imported("webui", tuple(chats), left_out=(*unreadable, *left_out))
    if name.lower().endswith((".md", ".markdown", ".txt")):
        whole = from_markdown(text, f"markdown-{name}")
        if whole is not None:
            return Imported("markdown", (whole,))
    raise ImportRefusedError(ImportProblem.UNKNOWN_FORMAT, "neither JSON nor a chat in Markdown")


def _json_lines(text: str, unreadable: list[str]) -> Iterator[Any]:
    for line in re.finditer(r"\S.*", text):
        try:
            yield read_json(line[0])
        except ValueError as error:
            unreadable.append(str(error))

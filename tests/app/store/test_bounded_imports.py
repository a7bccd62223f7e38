"""Files of chats that are made to fill the memory are refused before they do, and those of Windows are read."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from app.store import files
from app.store.files import ImportProblem, ImportRefusedError, read_chats
from app.store.json_format import pieces
from tests.app.store.chats import small

MEGABYTE = 1_000_000


def zipped(path, packing=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, n_bytes in members.items():
            with archive.open(name.replace("_", "."), "w") as file:
                for _ in range(n_bytes // MEGABYTE):
                    file.write(bytes(MEGABYTE))
    return path


def refused(path) -> ImportProblem:
    with pytest.raises(ImportRefusedError) as error:
        read_chats(path)
    return error.value.problem


@pytest.mark.parametrize("names", [["conversations_json"], ["chat_jsonl"], [f"chat{n}_jsonl" for n in range(8)]])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, names):
    path = zipped(tmp_path / "x.zip", **dict.fromkeys(names, 64 * MEGABYTE // len(names)))
    tracemalloc.start()
    problem = refused(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem is ImportProblem.TOO_LARGE
    assert peak < 5 * MEGABYTE


def test_a_bomb_that_says_it_is_packed_in_many_bytes_is_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", chat_jsonl=20 * MEGABYTE)
    with zipfile.ZipFile(path) as archive:
        n_packed = archive.infolist()[0].compress_size
    raw = path.read_bytes()
    path.write_bytes(raw.replace(n_packed.to_bytes(4, "little"), MEGABYTE.to_bytes(4, "little")))
    assert refused(path) is ImportProblem.TOO_LARGE


def test_all_chats_of_an_archive_together_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 3 * MEGABYTE)
    path = zipped(tmp_path / "x.zip", conversations1_json=2 * MEGABYTE, conversations2_json=2 * MEGABYTE)
    assert refused(path) is ImportProblem.TOO_LARGE


def test_what_else_is_in_an_archive_does_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 3 * MEGABYTE)
    path = zipped(tmp_path / "x.zip", picture_png=5 * MEGABYTE)
    assert refused(path) is ImportProblem.UNKNOWN_FORMAT


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_packing_that_unpacks_any_amount_at_once_is_refused(tmp_path, packing):
    assert refused(zipped(tmp_path / "x.zip", packing, conversations_json=MEGABYTE)) is ImportProblem.UNREADABLE


def test_an_archive_that_says_too_little_is_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", conversations_json=20 * MEGABYTE)
    raw = path.read_bytes()
    path.write_bytes(raw.replace((20 * MEGABYTE).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    tracemalloc.start()
    problem = refused(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem is ImportProblem.UNREADABLE
    assert peak < 5 * MEGABYTE


class Endless(io.RawIOBase):
    def read(self, size=-1):
        assert size > 0, "all of it is no amount"
        return b"[" * size


@pytest.mark.parametrize("name", ["chats.json", "chat.jsonl", "chat.md"])
def test_a_file_that_grows_while_it_is_read_is_bounded(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(b"[")
    monkeypatch.setattr(Path, "open", lambda _path, _mode: Endless())
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 2 * MEGABYTE)
    assert refused(path) is ImportProblem.TOO_LARGE


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("is_zip", [False, True])
def test_chats_in_the_encodings_of_windows(tmp_path, encoding, is_zip):
    whole = small("a", "缓存", "Größe?", "😀")
    text = "".join(pieces([whole]))
    raw = ("\ufeff" + text if encoding == "utf-16-be" else text).encode(encoding)
    if is_zip:
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            archive.writestr("conversations.json", raw)
    else:
        (tmp_path / "x.zip").write_bytes(raw)
    assert read_chats(tmp_path / "x.zip").chats == (whole,)


def test_markdown_and_lines_in_utf_16(tmp_path):
    (tmp_path / "x.md").write_text("# T\n\n## You\n\nGröße?\n", encoding="utf-16")
    assert [one.message.text for one in read_chats(tmp_path / "x.md").chats[0].turns] == ["Größe?"]
    message = {"id": "m", "type": "text", "role": "user", "content": "Größe?", "parent": None, "timestamp": 1}
    records = [{"type": "session", "id": "s", "name": "T"}, {"type": "message", "message": message}]
    (tmp_path / "x.jsonl").write_text("\r\n\n".join(map(json.dumps, records)), encoding="utf-16")
    assert [one.message.text for one in read_chats(tmp_path / "x.jsonl").chats[0].turns] == ["Größe?"]

"""A file is whole or as it was, and nothing is left beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.disk.whole_file import LEFT_AFTER_S, write_whole


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.mark.parametrize("is_synced", [False, True])
@pytest.mark.parametrize("name", ["a.json", "a" * 255])
def test_it_takes_the_place_of_what_was_there(tmp_path: Path, name: str, is_synced: bool) -> None:
    path = tmp_path / name
    for content in (b"first", b""):
        write_whole(path, [content[:2], content[2:]], is_synced=is_synced)
        assert path.read_bytes() == content
    assert names(tmp_path) == [name]


def test_it_is_not_there_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")

    def pieces() -> Iterator[bytes]:
        yield b"x" * 1_000_000
        assert path.read_text() == "before"
        yield b"y"

    write_whole(path, pieces())
    assert path.read_bytes().endswith(b"xy")


def test_what_goes_wrong_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")

    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_whole(path, pieces())
    assert path.read_text() == "before"
    assert names(tmp_path) == ["a.json"]


def test_what_can_not_be_put_in_its_place_is_not_left_beside_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_whole(tmp_path / "folder", [b"text"])
    assert names(tmp_path) == ["folder"]


def test_the_next_one_removes_what_a_killed_process_left_and_nothing_else(tmp_path: Path) -> None:
    long_ago = time.time() - LEFT_AFTER_S - 60
    for name in (".kvasir-left.part", ".kvasir-notes", "kvasir-mine.part"):
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (long_ago, long_ago))
    (tmp_path / ".kvasir-at_work.part").write_text("half")
    write_whole(tmp_path / "a.json", [b"text"])
    assert names(tmp_path) == [".kvasir-at_work.part", ".kvasir-notes", "a.json", "kvasir-mine.part"]


def test_a_process_that_is_killed_leaves_what_the_next_one_finds(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    found: list[Path] = []

    def pieces() -> Iterator[bytes]:
        # As a kill at this moment would leave it.
        found.extend(tmp_path.iterdir())
        (tmp_path / "copy").write_bytes(found[0].read_bytes())
        yield b"text"

    write_whole(path, pieces())
    left = found[0]
    (tmp_path / "copy").rename(left)
    long_ago = time.time() - LEFT_AFTER_S - 60
    os.utime(left, (long_ago, long_ago))
    write_whole(path, [b"text"])
    assert names(tmp_path) == ["a.json"]

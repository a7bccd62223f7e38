"""A library that is cut short is known before it is opened; any whole one is opened."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.native.devices import Ggml
from engine.native.library_file import is_whole


@pytest.mark.skipif(sys.platform != "linux", reason="the files of other systems are looked at by their loaders")
def test_a_library_is_whole_until_a_byte_is_missing(tmp_path: Path) -> None:
    library = Path(sys.executable).resolve()
    content = library.read_bytes()
    assert is_whole(library)
    for n_bytes in (0, 3, 40, 4096, len(content) // 2, len(content) - 1):
        short = tmp_path / f"{n_bytes}.so"
        short.write_bytes(content[:n_bytes])
        assert is_whole(short) is (n_bytes < 4), n_bytes  # without the magic, the linker sees it by itself


def test_a_file_that_is_not_there_is_not_whole(tmp_path: Path) -> None:
    assert not is_whole(tmp_path / "libggml-vulkan.so")


def test_a_sound_installation_has_no_damaged_back_end() -> None:
    assert Ggml().load_backends().damaged == ()

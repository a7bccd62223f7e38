"""The folder of a command: gone afterwards, and after a kill gone with the next start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.commands.scratch import scratch_folder


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def ended_process() -> int:
    """The number of a process that is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        return process.pid


def test_a_folder_lasts_as_long_as_its_command(temporary: Path) -> None:
    with scratch_folder() as folder:
        (folder / "engine.log").write_text("said")
        with scratch_folder() as other:
            assert {*temporary.iterdir()} == {folder, other}
    assert [*temporary.iterdir()] == []


def test_what_a_killed_command_left_is_removed_by_the_next(temporary: Path, ended_process: int) -> None:
    left = temporary / f"kvasir-{ended_process}-ab_c12"
    left.mkdir()
    (left / "engine.log").write_text("said")
    with scratch_folder():
        assert not left.exists()


def test_nothing_else_is_touched(temporary: Path, tmp_path_factory: pytest.TempPathFactory, ended_process: int) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").write_text("")
    names = ("kvasir-notes", f"kvasir-{ended_process}", f"my-kvasir-{ended_process}-a", f"kvasir-{os.getpid()}-a")
    # Anybody can make such a name; no process has such a number.
    names += (f"kvasir-{2**31}-a", f"kvasir-{10**9 - 1}0-a")
    for name in names:
        (temporary / name).mkdir()
    (temporary / f"kvasir-{ended_process}-file").write_text("")
    if os.name == "posix":
        (temporary / f"kvasir-{ended_process}-link").symlink_to(elsewhere)
    before = {*temporary.iterdir()}
    with scratch_folder():
        pass
    assert {*temporary.iterdir()} == before
    assert (elsewhere / "kept").exists()

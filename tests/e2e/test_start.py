"""The window's process where something that it expects is missing: a screen, or its standard streams."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform != "linux", reason="screens are named by variables on Linux"),
]
DEADLINE_S = 60


def start(redirection: str, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("DISPLAY", "WAYLAND", "QT_"))}
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -m app "$@" {redirection}', sys.executable, *arguments],
        env={**bare, **environment},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "there is no screen"),
        ({"DISPLAY": ":4077"}, "could not connect to display :4077"),
        ({"QT_QPA_PLATFORM": "none-such"}, "none-such"),
    ],
)
def test_without_a_screen_the_start_ends_with_a_sentence(
    tmp_path: Path, environment: dict[str, str], words: str
) -> None:
    done = start("", environment, "--data-dir", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("redirection", ["2>&-", ">&-", ">&- 2>&-", "<&-"])
def test_a_closed_stream_costs_the_window_nothing(
    tmp_path: Path, tiny_model: Callable[..., Path], redirection: str
) -> None:
    picture, data = tmp_path / "picture.png", tmp_path / "data"
    asked = ("--model", str(tiny_model()), "--data-dir", str(data), "--screenshot", str(picture), "--send", "abc")
    done = start(redirection, {"QT_QPA_PLATFORM": "offscreen"}, *asked)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert picture.is_file()
    # What Qt prints went into no file of ours.
    with sqlite3.connect(data / "chats.db") as chats:
        assert chats.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    chats.close()

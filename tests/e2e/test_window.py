"""The window on the real engine and the starter model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtGui import QImage

from app.link.status import EngineState
from app.process.logs import close_logs
from app.process.options import Options
from app.program import Program
from app.store.preferences import Preferences
from app.store.preferences_store import PreferencesStore
from engine.api.errors import EngineError
from engine.api.settings import SamplingSettings
from engine.models.starter import starter_path

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.qt_log_ignore("This plugin does not support", extend=True),
]

LONG = "The cells of a cache hold what was read before. " * 120
CLOSING_S = 5.0


@pytest.fixture(scope="module")
def starter() -> Path:
    try:
        return starter_path()
    except EngineError as error:
        pytest.skip(error.message)


@pytest.fixture
def program(qapp, starter: Path, tmp_path: Path) -> Iterator[Program]:
    """A window that is shown, with greedy sampling."""
    chosen = Preferences(sampling=SamplingSettings(temperature=0.0, max_tokens=200))
    PreferencesStore(tmp_path / "preferences.json", lambda problem: pytest.fail(str(problem))).set(chosen)
    program = Program(qapp, Options(starter, tmp_path, None, ()))
    program.show()
    yield program
    program.window.close()
    program.close()
    program.window.deleteLater()
    close_logs()


def wait_for(qtbot, program: Program, state: EngineState) -> None:
    qtbot.waitUntil(lambda: program.session.status.state is state, timeout=60_000)


@pytest.mark.parametrize(
    "state", [EngineState.STARTING, EngineState.LOADING, EngineState.READING, EngineState.ANSWERING]
)
def test_closing_ends_everything_in_time(program, qtbot, state):
    if state in (EngineState.READING, EngineState.ANSWERING):
        wait_for(qtbot, program, EngineState.READY)
        program.chat.send(LONG if state is EngineState.READING else "Count to a hundred.")
    wait_for(qtbot, program, state)
    started = time.monotonic()
    program.window.close()
    program.close()
    assert time.monotonic() - started < CLOSING_S
    engines = [
        child for child in psutil.Process().children(recursive=True) if "resource_tracker" not in str(child.cmdline())
    ]
    assert engines == []


def test_an_engine_killed_in_mid_answer_costs_no_word(program, qtbot):
    wait_for(qtbot, program, EngineState.READY)
    program.chat.send("Count from one to a hundred.")
    wait_for(qtbot, program, EngineState.ANSWERING)
    qtbot.waitUntil(lambda: len(program.transcript.turns[-1].text) > 10, timeout=30_000)
    program.composer.set_text("What is the capital of France?")
    [engine] = [
        child for child in psutil.Process().children(recursive=True) if "spawn_main" in " ".join(child.cmdline())
    ]
    engine.send_signal(signal.SIGKILL)
    qtbot.waitUntil(lambda: program.notices.notices != (), timeout=10_000)
    before = program.transcript.turns[1].text
    assert len(before) > 10
    wait_for(qtbot, program, EngineState.READY)
    program.composer.send()
    wait_for(qtbot, program, EngineState.ANSWERING)
    wait_for(qtbot, program, EngineState.READY)
    assert [turn.role for turn in program.transcript.turns] == ["user", "assistant", "user", "assistant"]
    assert program.transcript.turns[1].text == before
    assert program.transcript.turns[3].text


def test_a_second_turn_reads_only_what_is_new(program, qtbot):
    wait_for(qtbot, program, EngineState.READY)
    ends = []
    program.chat.answer_ended.connect(ends.append)
    program.chat.send("Name a colour.")
    qtbot.waitUntil(lambda: ends == [True], timeout=60_000)
    first = program.chat.conversation.last.stats
    program.chat.send("Another one.")
    qtbot.waitUntil(lambda: ends == [True, True], timeout=60_000)
    second = program.chat.conversation.last.stats
    assert second.n_reused >= first.n_prompt + first.n_generated - 1
    assert second.n_fed < second.n_reused


def run_window(*arguments: str, timeout: float = 90) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "app", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    # The offscreen platform says so when a window grows; a real one does not.
    done.stderr = done.stderr.replace("This plugin does not support propagateSizeHints()\n", "")
    return done


def test_a_picture_of_an_answer_from_the_command_line(starter, tmp_path):
    picture = tmp_path / "picture.png"
    done = run_window(
        "--model", str(starter), "--data-dir", str(tmp_path / "data"), "--screenshot", str(picture), "--send", "Hi."
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert QImage(str(picture)).width() > 1000


def test_a_file_that_is_no_model_ends_with_a_sentence(tmp_path):
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"<html>Not found</html>" * 100)
    done = run_window("--model", str(wrong), "--data-dir", str(tmp_path), "--screenshot", str(tmp_path / "p.png"))
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["--model", "/nowhere/x.gguf"], ["--wrong"], ["--send"]])
def test_a_wrong_command_line_is_one_sentence(arguments):
    done = run_window(*arguments)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals close a window on Unix")
def test_ctrl_c_closes_the_window(starter, tmp_path):
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "app", "--model", str(starter), "--data-dir", str(tmp_path)]
    log = tmp_path / "logs" / "window.log"
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as window:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (log.is_file() and "was there" in log.read_text()):
            assert window.poll() is None
            os.sched_yield()
        window.send_signal(signal.SIGINT)
        _, errors = window.communicate(timeout=CLOSING_S)
    assert (window.returncode, errors) == (0, "")

"""A window that is killed while an answer is being written: what was said more than a second before is there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.store.store import ChatStore

ROOT = Path(__file__).resolve().parents[3]
WINDOW = """
import os, sys, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.process.options import Options
from app.program import Program
from tests.app.fake_engine import FakeEngine

app = QApplication([])
engines = []

def make(post):
    engines.append(FakeEngine(post, answers_by_hand=True))
    return engines[0]

program = Program(app, Options(Path("/m/Tiny.gguf"), Path(sys.argv[1]), None, ()), make, check_model=lambda _path: None)
program.show()
numbers = iter(range(1_000_000))

def say():
    number = next(numbers)
    engines[0].stream(f"w{number} ")
    # One write: a kill never leaves half a line.
    os.write(1, f"{number} {time.time()}\\n".encode())

def begin():
    if program.session.status.can_answer:
        program.chat.send("Question")
        talk.start(10)
        wait.stop()

talk, wait = QTimer(), QTimer()
talk.timeout.connect(say)
wait.timeout.connect(begin)
wait.start(10)
app.exec()
"""


@pytest.mark.parametrize("seconds", [1.3, 2.2])
def test_words_older_than_a_second_are_there(tmp_path, seconds):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", WINDOW, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=env
    ) as window:
        said: list[tuple[int, float]] = []
        for line in window.stdout:
            number, moment = line.split()
            said.append((int(number), float(moment)))
            if float(moment) - said[0][1] > seconds:
                break
        killed = time.time()
        window.send_signal(signal.SIGKILL)
        for line in window.communicate()[0].splitlines():
            number, moment = line.split()
            said.append((int(number), float(moment)))
    store = ChatStore(tmp_path / "chats.db")
    question, answer = store.load(store.chats()[0].id).turns
    store.close()
    assert question.message.text == "Question"
    n_old = sum(moment < killed - 1 for _, moment in said)
    assert len(answer.message.text.split()) >= n_old > 10

"""A window that is killed again and again while somebody types: how old the newest word is that was lost.

Run by hand: pytest tests/bench/bench_kills.py -s; KILLS=20 for fewer than 200, SEED=1 for other moments.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.store.store import ChatStore

pytestmark = pytest.mark.bench

ROOT = Path(__file__).resolve().parents[2]
N_KILLS = int(os.environ.get("KILLS", "200"))
SECONDS = (0.2, 4.0)
"""How long a window is typed into before it is killed."""
LOST_S = 1.2
"""No word that was typed longer ago may be lost."""

TYPIST = """
import os, sys, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from app.process.options import Options
from app.program import Program
from tests.app.fake_engine import FakeEngine

def type_on(run, folder):
    app = QApplication([])
    options = Options(Path("/m/Tiny.gguf"), folder, None, ())
    program = Program(app, options, FakeEngine, check_model=lambda _path: None)
    program.show()
    editor = program.window.findChild(QPlainTextEdit, "composer")
    n_typed = 0

    def type_word():
        nonlocal n_typed
        word = f"r{run}w{n_typed}"
        QTest.keyClicks(editor, word + " ")
        # One write: a kill never leaves half a line.
        os.write(1, f"{word} {time.time()}\\n".encode())
        n_typed += 1
        if n_typed % 40 == 0:
            program.composer.send()
        if n_typed % 90 == 0:
            program.actions["new_chat"].trigger()

    timer = QTimer()
    timer.timeout.connect(type_word)
    timer.start(25)
    app.exec()

for line in sys.stdin:
    run, folder = line.split(maxsplit=1)
    child = os.fork()
    if child == 0:
        try:
            type_on(int(run), Path(folder.strip()))
        finally:
            os._exit(1)
    print("child", child, flush=True)
    os.waitpid(child, 0)
    print("end", flush=True)
"""
"""A window of its own for each line it reads, in a child, so that only the first pays for the imports."""


def kept_words(path: Path) -> set[str]:
    store = ChatStore(path)
    words: set[str] = set()
    for line in store.chats():
        whole = store.load(line.id)
        for text in (whole.chat.draft, *(turn.own_text for turn in whole.turns)):
            words.update(text.split())
    store.close()
    return words


def test_words_are_kept_through_kills_at_any_moment(tmp_path, capsys):
    chance = random.Random(int(os.environ.get("SEED", "7")))
    path = tmp_path / "chats.db"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", TYPIST]
    n_words, ages, must_stay = 0, [], set()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as typist:
        for run in range(N_KILLS):
            print(run, tmp_path, file=typist.stdin, flush=True)
            seconds, child, killed = chance.uniform(*SECONDS), 0, None
            typed: list[tuple[str, float]] = []
            for line in typist.stdout:
                first, *rest = line.split()
                if first == "child":
                    child = int(rest[0])
                elif first == "end":
                    break
                else:
                    typed.append((first, float(rest[0])))
                    if killed is None and typed[-1][1] - typed[0][1] >= seconds:
                        killed = time.time()
                        os.kill(child, signal.SIGKILL)
            kept = kept_words(path)
            assert killed is not None
            n_words += len(typed)
            ages += [killed - moment for word, moment in typed if word not in kept]
            must_stay.update(word for word, _ in typed if word in kept)
            assert must_stay <= kept, "what was kept once stays"
        typist.stdin.close()
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    check.close()
    n_lost = sum(age > LOST_S for age in ages)
    with capsys.disabled():
        print(f"\n{N_KILLS} kills, {n_words} words typed, {n_lost} lost that were older than {LOST_S} s")
        print(f"oldest word that was lost: {max(ages, default=0.0):.2f} s; {len(ages)} were lost altogether")
    assert n_lost == 0

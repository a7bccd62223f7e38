"""The longest turn of the event loop, in CPU time, with messages of unusual size and shape.

Run by hand: pytest tests/bench/bench_turns.py -s
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import thread_time

import pytest
from PySide6.QtCore import QEventLoop, QMimeData
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from app.composer.composer import Composer
from app.look.theme import Theme
from app.transcript import ShownState, ShownTurn
from app.transcript.transcript import Transcript

pytestmark = pytest.mark.bench

MOST_MS = 50.0
PROSE = "The cells of a cache hold what was read before, and **cost** as much `memory` as they are.\n\n"
TABLE = "| a | b | c |\n|---|---|---|\n"
MESSAGES = {
    "prose, 90 KB": PROSE * 1_000,
    "prose, 10 MB": PROSE * 110_000,
    "one line, 10 MB": "x" * 10_000_000,
    "one line of words, 10 MB": "some words " * 900_000,
    "code, 100,000 lines": "```python\n" + "value = call('text', 1)\n" * 100_000 + "```\n",
    "code, 3,000 lines": "```python\n" + "value = call('text', 1)\n" * 3_000 + "```\n",
    "list, 20,000 items": "- an item\n" * 20_000,
    "numbered, 3,000 items": "1. an item with **some** words\n" * 3_000,
    "table, 3,000 rows": TABLE + "| one | `two` | three |\n" * 3_000,
    "quotes, 40 deep": ("> " * 40 + "words\n") * 600,
    "lists, 40 deep": "".join("  " * (i % 40) + "- words\n" for i in range(1_500)),
}


class _Turns:
    """Counts the CPU time of each turn of the event loop, and of what is done between two."""

    def __init__(self, qapp: QApplication) -> None:
        self._qapp = qapp
        self.times: list[float] = []

    def take(self, work: Callable[[], object]) -> None:
        began = thread_time()
        work()
        self.times.append((thread_time() - began) * 1000)

    def turn(self, n: int = 1) -> None:
        for _ in range(n):
            self.take(lambda: self._qapp.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 20))

    @property
    def longest(self) -> float:
        return max(self.times)


@pytest.fixture
def transcript(qtbot, qapp: QApplication) -> Transcript:
    transcript = Transcript(Theme(qapp), QWidget())
    qtbot.addWidget(transcript)
    transcript.resize(1000, 800)
    transcript.show()
    transcript.set_turns([ShownTurn("warm", "assistant", PROSE + TABLE + "| `a` | b | c |\n\n```python\nx = 1\n```\n")])
    qapp.processEvents()
    # The objects of the tests before are no work of the window's.
    gc.collect()
    gc.freeze()
    return transcript


def _tell(capsys, name: str, turns: _Turns) -> None:
    with capsys.disabled():
        print(f"\n{name:40} {turns.longest:8.1f} ms in {len(turns.times)} turns", end="")
    assert turns.longest <= MOST_MS


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("role", ["assistant", "user"])
def test_opening_and_scrolling(transcript, qapp, capsys, name: str, role: str) -> None:
    turns = _Turns(qapp)
    turn = ShownTurn("long", role, MESSAGES[name])
    turns.take(lambda: transcript.set_turns([turn]))
    turns.turn(5)
    bar = transcript.verticalScrollBar()
    for share in (0.0, 0.3, 0.6, 0.9, 1.0):
        turns.take(lambda share=share: bar.setValue(round(bar.maximum() * share)))
        turns.turn(5)
    _tell(capsys, f"{name}, {role}", turns)


@pytest.mark.parametrize("name", [name for name in MESSAGES if "10 MB" not in name and "100,000" not in name])
def test_the_end_of_a_long_answer(transcript, qapp, capsys, name: str) -> None:
    turns = _Turns(qapp)
    text = MESSAGES[name][:90_000]
    end = len(text) - 4_000
    transcript.set_turns([ShownTurn("new", "assistant", text[:end], state=ShownState.STREAMING)])
    for _ in range(20):
        qapp.processEvents()
    for at in range(end, len(text), 100):
        transcript.append_text("new", text[at : at + 100])
        turns.turn(2)
    turns.take(lambda: transcript.finish_turn("new", ShownState.DONE))
    turns.turn(3)
    _tell(capsys, f"end of {name}", turns)


@pytest.mark.parametrize("name", ["prose, 90 KB", "list, 20,000 items", "table, 3,000 rows", "code, 3,000 lines"])
def test_a_burst_of_pieces(transcript, qapp, capsys, name: str) -> None:
    turns = _Turns(qapp)
    transcript.set_turns([ShownTurn("new", "assistant", state=ShownState.STREAMING)])

    def burst() -> None:
        for at in range(0, 5_000 * 15, 15):
            transcript.append_text("new", MESSAGES[name][at : at + 15])

    turns.take(burst)
    while len(transcript.turns[-1].text) < 70_000:
        turns.turn()
    turns.take(lambda: transcript.finish_turn("new", ShownState.DONE))
    turns.turn(3)
    _tell(capsys, f"burst of {name}", turns)


def test_a_paste(qtbot, qapp, capsys) -> None:
    composer = Composer(Theme(qapp))
    qtbot.addWidget(composer)
    composer.resize(800, 600)
    composer.show()
    qapp.processEvents()
    editor = composer.findChild(QPlainTextEdit)
    data = QMimeData()
    data.setText(PROSE * 110_000)
    turns = _Turns(qapp)
    turns.take(lambda: editor.insertFromMimeData(data))
    turns.turn(3)
    _tell(capsys, "10 MB pasted", turns)

"""How smooth the transcript is: opening, resizing, scrolling, and the event loop while an answer streams in.

Run by hand: pytest tests/bench/bench_transcript.py -s
"""

from __future__ import annotations

import statistics
from time import perf_counter

import pytest
from PySide6.QtCore import QElapsedTimer, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app.look.theme import Theme
from app.transcript import ShownState, ShownTurn
from app.transcript.transcript import Transcript
from tests.app.transcript.samples import EVERYTHING, chat

pytestmark = pytest.mark.bench

STREAM_S = 6.0
TOKENS_PER_S = 500


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


def _shown(qtbot, qapp: QApplication, turns: list[ShownTurn]) -> Transcript:
    transcript = Transcript(Theme(qapp), QWidget())
    qtbot.addWidget(transcript)
    transcript.resize(1000, 800)
    transcript.show()
    transcript.set_turns(turns)
    qapp.processEvents()
    return transcript


def _loop_delays(seconds: float) -> list[float]:
    """How many ms later than due a 4-ms timer of the event loop comes."""
    delays: list[float] = []
    clock = QElapsedTimer()
    loop = QEventLoop()
    timer = QTimer()
    timer.setTimerType(timer.timerType().PreciseTimer)
    last = 0.0

    def tick() -> None:
        nonlocal last
        now = clock.nsecsElapsed() / 1e6
        delays.append(max(0.0, now - last - 4))
        last = now
        if now > seconds * 1000:
            loop.quit()

    timer.timeout.connect(tick)
    clock.start()
    timer.start(4)
    loop.exec()
    timer.stop()
    return delays


def test_streaming_keeps_the_event_loop_free(qtbot, qapp, capsys) -> None:
    transcript = _shown(qtbot, qapp, [*chat(200), ShownTurn("new", "assistant", state=ShownState.STREAMING)])
    idle = _p99(_loop_delays(STREAM_S / 2))
    source = (EVERYTHING * 40).replace("\0", "")
    step = 5
    sent = 0
    feeder = QTimer()

    def feed() -> None:
        nonlocal sent
        transcript.append_text("new", source[sent : sent + step])
        sent += step

    feeder.timeout.connect(feed)
    feeder.start(1000 // TOKENS_PER_S)
    busy = _loop_delays(STREAM_S)
    feeder.stop()
    with capsys.disabled():
        print(
            f"\nstreaming: p99 {_p99(busy):.1f} ms, max {max(busy):.1f} ms; idle loop p99 {idle:.1f} ms; {sent} chars"
        )
    assert _p99(busy) <= 16 + idle


@pytest.mark.parametrize("n_turns", [200, 2000])
def test_opening_and_resizing(qtbot, qapp, capsys, n_turns: int) -> None:
    turns = chat(n_turns)
    transcript = _shown(qtbot, qapp, chat(2))
    began = perf_counter()
    transcript.set_turns(turns)
    transcript.repaint()
    opened = (perf_counter() - began) * 1000
    resizes = []
    for i in range(60):
        began = perf_counter()
        transcript.resize(1000 - i * 8, 800)
        transcript.repaint()
        resizes.append((perf_counter() - began) * 1000)
    scrolls = []
    bar = transcript.verticalScrollBar()
    for _ in range(200):
        began = perf_counter()
        bar.setValue(bar.value() - 120)
        qapp.processEvents()
        scrolls.append((perf_counter() - began) * 1000)
    with capsys.disabled():
        print(
            f"\n{n_turns} messages, {sum(len(t.text) for t in turns) / 1e6:.2f} MB: open {opened:.0f} ms, "
            f"resize p99 {_p99(resizes):.1f} ms, scroll p99 {_p99(scrolls):.1f} ms, max {max(scrolls):.1f} ms"
        )
    assert opened <= 300
    assert _p99(resizes) <= 50

"""A blocked event loop leaves a line in the log, and one that is not leaves none."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.process.stalls import StallWatch


@pytest.mark.parametrize(("late_s", "lines"), [(0.351, ["The event loop was blocked for 350 ms"]), (0.05, [])])
def test_a_late_timer_tells_how_long_the_loop_was_blocked(
    qapp: QApplication, qtbot: QtBot, caplog: pytest.LogCaptureFixture, late_s: float, lines: list[str]
) -> None:
    now, looks = 0.0, 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return now

    def block() -> None:
        nonlocal now, looks
        now, looks = now + late_s, 0

    with caplog.at_level("INFO", "kvasir"):
        watch = StallWatch(qapp, clock, beat_ms=1)
        qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
        QTimer.singleShot(5, block)
        qtbot.waitUntil(lambda: now > 0 and looks > 3)
        watch.setParent(None)
        watch.deleteLater()
    assert [one.getMessage() for one in caplog.records if "blocked" in one.getMessage()] == lines


def test_nothing_is_timed_while_the_program_is_in_the_background(qapp: QApplication, qtbot: QtBot) -> None:
    looks = 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return float(looks)

    watch = StallWatch(qapp, clock, beat_ms=1)
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
    before = looks
    qtbot.wait(20)
    assert looks == before
    watch.setParent(None)
    watch.deleteLater()

"""Tests of work in the background."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.link.background import Background
from engine.api.errors import EngineError, ErrorCode


@pytest.fixture
def background(qapp: QApplication) -> Iterator[Background]:
    background = Background("work")
    yield background
    background.close(2.0)


def fail(found: object) -> None:
    raise AssertionError(found)


def test_the_result_arrives_on_the_window_s_thread(background: Background, qtbot: QtBot) -> None:
    worked_on: list[str] = []
    arrived: list[tuple[object, object]] = []

    def work() -> int:
        worked_on.append(threading.current_thread().name)
        return 7

    background.ask(work, lambda found: arrived.append((found, threading.current_thread())), fail)
    qtbot.waitUntil(lambda: arrived != [])
    assert arrived == [(7, threading.main_thread())]
    assert worked_on == ["work"]


@pytest.mark.expected_log("a mistake in work")
def test_a_mistake_is_an_internal_error(background: Background, qtbot: QtBot) -> None:
    errors: list[EngineError] = []
    background.ask(lambda: 1 // 0, fail, errors.append)
    qtbot.waitUntil(lambda: errors != [])
    assert errors[0].code is ErrorCode.INTERNAL
    assert "ZeroDivisionError" in errors[0].detail


@pytest.mark.parametrize("is_first_known_before", [True, False], ids=["known before", "still under way"])
def test_only_the_newest_question_is_answered(
    background: Background, qtbot: QtBot, is_first_known_before: bool
) -> None:
    may_end, has_ended = threading.Event(), threading.Event()
    found: list[str] = []

    def first() -> str:
        may_end.wait(5.0)
        has_ended.set()
        return "first"

    background.ask_newest(first, found.append, fail)
    if is_first_known_before:
        may_end.set()
        assert has_ended.wait(5.0)
    background.ask_newest(lambda: "second", found.append, fail)
    qtbot.waitUntil(lambda: found != [])
    may_end.set()
    assert has_ended.wait(5.0)
    background.ask(lambda: "third", found.append, fail)
    qtbot.waitUntil(lambda: "third" in found)
    assert found == ["second", "third"]


def test_nothing_arrives_once_it_is_closed(background: Background, qapp: QApplication) -> None:
    arrived: list[str] = []
    background.run(lambda: background.post(arrived.append, "late"))
    background.close(2.0)
    background.post(arrived.append, "later")
    qapp.processEvents()
    assert arrived == []


@pytest.mark.usefixtures("qapp")
def test_a_thread_that_outlives_the_window_ends_in_silence() -> None:
    background = Background("work")
    may_end, has_ended = threading.Event(), threading.Event()

    def work() -> None:
        may_end.wait(5.0)
        background.post(fail, "nobody is there")
        has_ended.set()

    background.run(work)
    background.deleteLater()
    QCoreApplication.sendPostedEvents(background, QEvent.Type.DeferredDelete)
    may_end.set()
    assert has_ended.wait(5.0)

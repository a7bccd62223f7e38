"""Notices tell without stopping anybody."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton, QToolButton

from app.look.theme import Theme
from app.widgets.notices import MAX_NOTICES, Level, Notices


@pytest.fixture
def notices(qtbot, qapp: QApplication) -> Notices:
    stack = Notices(Theme(qapp))
    qtbot.addWidget(stack)
    return stack


def test_details_unfold_and_everything_can_be_copied(notices):
    notices.tell(Level.ERROR, "It broke.", "log tail")
    notices.show()
    log, details = notices.findChild(QPlainTextEdit, "noticeLog"), notices.findChild(QPushButton, "noticeDetails")
    assert not log.isVisible()
    details.click()
    assert log.isVisible()
    assert log.toPlainText() == "log tail"
    notices.findChild(QToolButton, "noticeCopy").click()
    assert QGuiApplication.clipboard().text() == "It broke.\n\nlog tail"


def test_closing_the_last_one_takes_no_room(notices):
    notices.tell(Level.INFO, "One.")
    assert not notices.isHidden()
    notices.findChild(QToolButton, "noticeClose").click()
    assert notices.isHidden()
    assert notices.notices == ()


def test_the_same_sentence_is_shown_once_with_the_newest_detail(notices):
    for n in range(3):
        notices.tell(Level.ERROR, "It broke.", f"detail {n}")
    assert [(notice.text, notice.detail) for notice in notices.notices] == [("It broke.", "detail 2")]


def test_errors_outlive_a_flood_of_information(notices):
    notices.tell(Level.ERROR, "It broke.")
    for n in range(20):
        notices.tell(Level.INFO, f"News {n}.")
    assert len(notices.notices) == MAX_NOTICES
    assert notices.notices[0].text == "It broke."
    assert notices.notices[-1].text == "News 19."


def test_what_a_model_wrote_is_never_markup(notices):
    notices.tell(Level.ERROR, "<img src='file:///etc/passwd'><b>bold</b>")
    label = notices.findChild(QLabel, "noticeText")
    assert label.text() == "<img src='file:///etc/passwd'><b>bold</b>"
    assert label.textFormat().name == "PlainText"


def test_an_action_is_done_once_and_closes(notices):
    done = []
    notices.tell(Level.INFO, "Open?", action=("Open", lambda: done.append(1)))
    notices.findChild(QPushButton, "noticeAction").click()
    assert done == [1]
    assert notices.notices == ()

"""Selecting with the mouse and what copying gives: the Markdown source."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication

from app.transcript import ShownTurn
from app.transcript.transcript import Transcript
from tests.app.transcript.samples import chat

LEFT = Qt.MouseButton.LeftButton
SHIFT = Qt.KeyboardModifier.ShiftModifier
TEXT = "Some **bold words** and `code here` to end.\n\n- item *one*\n- item two\n\nLast line."


def place(transcript: Transcript, turn: int, words: str, *, after: bool = False) -> QPoint:
    """A point in the viewport just before (or after) some visible words of a turn."""
    origin = transcript.turn_origin(turn)
    for box in transcript.views[turn].boxes:
        text = box.built.document.toPlainText()
        at = text.find(words)
        if at >= 0:
            rects = box.range_rects(at, at + len(words))
            rect = rects[-1] if after else rects[0]
            edge = rect.right() - 1 if after else rect.left() + 1
            return QPoint(round(origin.x() + edge), round(origin.y() + rect.center().y()))
    raise AssertionError(words)


def drag(qtbot, transcript: Transcript, start: QPoint, end: QPoint) -> None:
    viewport = transcript.viewport()
    qtbot.mousePress(viewport, LEFT, pos=start)
    # A move with the button held, which no helper sends.
    move = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(end), viewport.mapToGlobal(QPointF(end)), LEFT, LEFT, Qt.KeyboardModifier(0)
    )
    QApplication.sendEvent(viewport, move)
    qtbot.mouseRelease(viewport, LEFT, pos=end)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("Some", "to end.", "Some **bold words** and `code here` to end."),
        ("words", "code", "words** and `code"),
        ("ome bold", "bold", "ome **bold"),
        ("Some", "two", "Some **bold words** and `code here` to end.\n\n- item *one*\n- item two"),
        ("one", "Last", "one*\n- item two\n\nLast"),
    ],
)
def test_dragging_copies_the_source_in_between(qtbot, show, start: str, end: str, expected: str):
    transcript = show(ShownTurn("a", "assistant", TEXT))
    drag(qtbot, transcript, place(transcript, 0, start), place(transcript, 0, end, after=True))
    assert transcript.selected_markdown() == expected
    drag(qtbot, transcript, place(transcript, 0, end, after=True), place(transcript, 0, start))
    assert transcript.selected_markdown() == expected


def test_dragging_goes_over_messages(qtbot, show):
    transcript = show(
        ShownTurn("q", "user", "The question?"),
        ShownTurn("m", "assistant", "Mid *dle*."),
        ShownTurn("a", "user", "The end"),
    )
    drag(qtbot, transcript, place(transcript, 0, "question"), place(transcript, 2, "The", after=True))
    assert transcript.selected_markdown() == "question?\n\nMid *dle*.\n\nThe"


def test_double_and_triple_click(qtbot, show):
    transcript = show(ShownTurn("a", "assistant", TEXT))
    at = place(transcript, 0, "bold") + QPoint(8, 0)
    qtbot.mouseDClick(transcript.viewport(), LEFT, pos=at)
    assert transcript.selected_markdown() == "bold"
    qtbot.mouseClick(transcript.viewport(), LEFT, pos=at)
    assert transcript.selected_markdown() == "Some **bold words** and `code here` to end."


@pytest.mark.parametrize("text", ["# Title of it", "- Title of it", "> Title of it", "**Title** of it"])
def test_a_word_at_the_beginning_comes_without_the_marks_of_its_block(qtbot, show, text: str):
    transcript = show(ShownTurn("a", "assistant", text))
    qtbot.mouseDClick(transcript.viewport(), LEFT, pos=place(transcript, 0, "Title") + QPoint(6, 0))
    assert transcript.selected_markdown() == "Title"


def test_shift_click_extends(qtbot, show):
    transcript = show(ShownTurn("a", "assistant", TEXT))
    qtbot.mouseClick(transcript.viewport(), LEFT, pos=place(transcript, 0, "Some"))
    qtbot.mouseClick(transcript.viewport(), LEFT, SHIFT, place(transcript, 0, "bold", after=True))
    assert transcript.selected_markdown() == "Some **bold"


def test_select_all_and_copy_give_every_source(qtbot, show):
    turns = chat(100)
    transcript = show(*turns)
    transcript.setFocus()
    qtbot.keyClick(transcript, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(transcript, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "\n\n".join(turn.text for turn in turns)
    qtbot.keyClick(transcript, Qt.Key.Key_Escape)
    assert transcript.selected_markdown() == ""


def test_a_click_selects_nothing(qtbot, show):
    transcript = show(ShownTurn("a", "assistant", TEXT))
    qtbot.mouseClick(transcript.viewport(), LEFT, pos=place(transcript, 0, "bold"))
    assert transcript.selected_markdown() == ""


def test_code_and_tables_give_their_source(qtbot, show):
    text = "Before\n\n```py\nx = 1\ny = 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAfter"
    transcript = show(ShownTurn("a", "assistant", text))
    drag(qtbot, transcript, place(transcript, 0, "Before"), place(transcript, 0, "After", after=True))
    assert transcript.selected_markdown() == text
    drag(qtbot, transcript, place(transcript, 0, "x = 1"), place(transcript, 0, "y =", after=True))
    assert transcript.selected_markdown() == "x = 1\ny ="


def test_a_selection_may_begin_on_a_link_without_following_it(qtbot, show):
    transcript = show(ShownTurn("a", "assistant", "See [the page](https://example.org/) here."))
    with qtbot.assertNotEmitted(transcript.link_activated):
        drag(qtbot, transcript, place(transcript, 0, "page"), place(transcript, 0, "page", after=True))
    assert transcript.selected_markdown() == "page"

"""Writing a message: keys, growing, the room that is left, and when sending is possible."""

from __future__ import annotations

from time import process_time

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QToolButton

from app.composer.composer import Composer


def editor(composer: Composer) -> QPlainTextEdit:
    return composer.findChild(QPlainTextEdit, "composer")


def button(composer: Composer, name: str) -> QToolButton:
    return composer.findChild(QToolButton, name)


def test_enter_sends_and_shift_enter_breaks_the_line(qtbot, composer):
    qtbot.keyClicks(editor(composer), "one")
    qtbot.keyClick(editor(composer), Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(editor(composer), "two")
    with qtbot.waitSignal(composer.send_requested) as sent:
        qtbot.keyClick(editor(composer), Qt.Key.Key_Return)
    assert sent.args == ["one\ntwo"]
    assert composer.text() == "one\ntwo"


def test_nothing_but_spaces_is_not_sent(qtbot, composer):
    composer.set_text("  \n ")
    with qtbot.assertNotEmitted(composer.send_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Return)
    assert not button(composer, "sendButton").isEnabled()


def test_enter_that_ends_a_composition_does_not_send(qtbot, composer):
    composer.set_text("ni")
    QApplication.sendEvent(editor(composer), QInputMethodEvent("ni", []))
    with qtbot.assertNotEmitted(composer.send_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Return)
    done = QInputMethodEvent("", [])
    done.setCommitString("你")
    QApplication.sendEvent(editor(composer), done)
    with qtbot.waitSignal(composer.send_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Return)


def test_escape_and_the_button_stop_only_while_there_is_something_to_stop(qtbot, composer):
    with qtbot.assertNotEmitted(composer.stop_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Escape)
    composer.set_busy(True)
    assert button(composer, "stopButton").isVisible()
    assert not button(composer, "sendButton").isVisible()
    with qtbot.waitSignal(composer.stop_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Escape)
    with qtbot.waitSignal(composer.stop_requested):
        qtbot.mouseClick(button(composer, "stopButton"), Qt.MouseButton.LeftButton)


def test_escape_leaves_editing_and_enter_still_sends(qtbot, composer):
    composer.set_text("changed")
    composer.set_editing(True)
    with qtbot.waitSignal(composer.stop_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Escape)
    with qtbot.waitSignal(composer.send_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Return)


@pytest.mark.parametrize("hold", [Composer.set_busy, Composer.set_queued])
def test_no_second_message_is_sent_while_one_is_on_its_way(qtbot, composer, hold):
    composer.set_text("next")
    hold(composer, True)
    with qtbot.assertNotEmitted(composer.send_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Return)
    assert composer.text() == "next"
    hold(composer, False)
    with qtbot.waitSignal(composer.send_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Return)


def test_up_edits_the_last_turn_only_when_nothing_is_typed(qtbot, composer):
    with qtbot.waitSignal(composer.edit_last_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Up)
    composer.set_text("a")
    with qtbot.assertNotEmitted(composer.edit_last_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Up)


def test_a_message_that_is_too_long_stays_and_says_by_how_much(qtbot, composer):
    composer.set_text("long")
    composer.set_room(120, 100)
    assert "20" in composer.room_text()
    with qtbot.assertNotEmitted(composer.send_requested):
        qtbot.keyClick(editor(composer), Qt.Key.Key_Return)
    assert composer.text() == "long"
    composer.set_room(100, 100)
    assert composer.can_send()


def test_it_grows_with_the_text_up_to_two_fifths_of_the_window(composer):
    one_line = editor(composer).height()
    composer.set_text("a\nb\nc")
    assert editor(composer).height() > one_line
    composer.set_text("line\n" * 500)
    assert editor(composer).height() <= 0.4 * composer.window().height()
    composer.clear()
    assert editor(composer).height() == one_line


def test_it_grows_with_one_long_line_that_is_pasted_and_shrinks_when_it_is_deleted(qtbot, composer):
    empty = editor(composer).height()
    QApplication.clipboard().setText("one long line " * 400)
    qtbot.keyClick(editor(composer), Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert editor(composer).height() > 5 * empty
    qtbot.keyClick(editor(composer), Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(editor(composer), Qt.Key.Key_Backspace)
    assert editor(composer).height() == empty


def test_pasting_takes_plain_text_only(composer):
    source = QMimeData()
    source.setHtml("<b>bold</b>")
    source.setText("bold")
    editor(composer).insertFromMimeData(source)
    assert composer.text() == "bold"


@pytest.mark.parametrize("text", ["some words to paste\n" * 500_000, "x" * 20_000], ids=["long", "one line"])
def test_a_huge_paste_goes_with_the_message_as_a_file(composer, text):
    composer.set_text("What does this say?")
    source = QMimeData()
    source.setText(text)
    for _ in range(2):
        editor(composer).insertFromMimeData(source)
    # The editor, which lays all of its text out, has no more to do than before.
    assert composer.text() == "What does this say?"
    assert [attachment.text == text for attachment in composer.attachments] == [True, True]
    assert len({attachment.name for attachment in composer.attachments}) == 2
    assert composer.can_send()


def test_a_paste_that_no_model_can_read_is_refused_and_told(qtbot, composer):
    data = QMimeData()
    data.setText("some words to paste\n" * 1_250_000)
    with qtbot.waitSignal(composer.too_large) as told:
        editor(composer).insertFromMimeData(data)
    assert told.args == ["Pasted text 1"]
    assert (composer.text(), composer.attachments) == ("", ())


def test_a_long_paste_of_ordinary_size_is_text(composer):
    source = QMimeData()
    source.setText("some words to paste\n" * 2_000)
    editor(composer).insertFromMimeData(source)
    assert len(composer.text()) == 40_000


def test_a_word_without_an_end_does_not_hold_up_the_window(composer):
    """Looking for the places where it may break took Qt eight seconds."""
    data = QMimeData()
    data.setText("x" * 200_000)
    began = process_time()
    editor(composer).insertFromMimeData(data)
    composer.set_text("y" * 200_000)
    composer.set_text("Short words again.")
    assert process_time() - began < 4.0
    composer.clear()
    assert composer.text() == ""

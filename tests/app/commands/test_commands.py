"""Every action has a key of its own and is found in the palette."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLineEdit, QListView

from app.commands.palette import matches, ranked

# The offscreen platform has no popups that take the mouse; nothing here needs that.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def test_every_action_has_a_key_that_is_nobody_elses(start_desk):
    actions = start_desk().program.actions.all()
    keys = Counter(key.toString() for action in actions for key in action.shortcuts())
    assert [action.objectName() for action in actions if action.shortcut().isEmpty()] == []
    assert [key for key, n in keys.items() if n > 1] == []
    assert all(action.text() and action.statusTip() for action in actions)


def test_every_action_does_something(start_desk):
    for action in start_desk().program.actions.all():
        assert action.isSignalConnected(
            action.metaObject().method(action.metaObject().indexOfMethod("triggered(bool)"))
        )


def test_typing_a_part_of_a_name_and_enter_does_it(start_desk, qtbot):
    program = start_desk().program
    program.actions["show_palette"].trigger()
    search = program.palette.findChild(QLineEdit, "commandSearch")
    rows = program.palette.findChild(QListView, "commandList").model()
    assert rows.rowCount() == len(program.actions.all())
    qtbot.keyClicks(search, "next theme")
    assert rows.index(0, 0).data() == "Next theme"
    qtbot.keyClick(search, Qt.Key.Key_Return)
    assert program.store.current.theme == "light"
    assert not program.palette.isVisible()


def test_the_arrow_keys_move_in_the_list(start_desk, qtbot):
    program = start_desk().program
    program.actions["show_palette"].trigger()
    search = program.palette.findChild(QLineEdit, "commandSearch")
    commands = program.palette.findChild(QListView, "commandList")
    qtbot.keyClick(search, Qt.Key.Key_Down)
    assert commands.currentIndex().row() == 1
    for _ in range(100):
        qtbot.keyClick(search, Qt.Key.Key_PageDown)
    assert commands.currentIndex().row() == commands.model().rowCount() - 1


@pytest.mark.parametrize(
    ("query", "name", "is_found"),
    [
        ("", "Quit", True),
        ("text larger", "Larger text", True),
        ("LRG", "Larger text", True),
        ("主题", "下一个主题", True),
        ("xyz", "Larger text", False),
    ],
)
def test_what_a_query_finds(query, name, is_found):
    assert matches(query, name) is is_found


def test_names_that_hold_the_words_come_before_those_that_hold_the_letters():
    assert ranked("new", ["Never Ever Win", "A new thing", "New chat"]) == ["New chat", "A new thing", "Never Ever Win"]


def test_the_key_of_an_action_works_in_the_window(start_desk, qtbot):
    desk = start_desk()
    was_hidden = desk.program.panel.isHidden()
    qtbot.keySequence(desk.program.window, QKeySequence("F9"))
    assert desk.program.panel.isHidden() != was_hidden

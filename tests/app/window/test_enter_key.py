"""The keyboard alone is enough: Enter presses what has the focus."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton, QToolButton, QWidget

from app.look.theme import Theme
from app.widgets.popup import Popup
from app.window.main_window import MainWindow


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
@pytest.mark.parametrize("kind", [QPushButton, QToolButton])
@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
@pytest.mark.parametrize("is_popup", [True, False])
def test_enter_presses_the_focused_button_once(qtbot, qapp, kind, key, is_popup):
    owner = QWidget()
    qtbot.addWidget(owner)
    window = Popup(owner, 200) if is_popup else MainWindow(Theme(qapp))
    qtbot.addWidget(window)
    button, line = kind(window), QLineEdit(window)
    pressed = []
    button.clicked.connect(lambda: pressed.append(key))
    window.show()
    button.setFocus()
    qtbot.keyClick(button, key)
    assert pressed == [key]
    line.setFocus()
    qtbot.keyClick(line, key)
    assert pressed == [key]

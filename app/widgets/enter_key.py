"""Enter presses the button that has the keyboard, as Space does; Qt does so only in dialogs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QWidget


def press_button(window: QWidget, event: QKeyEvent) -> bool:
    """Whether the key that nobody in the window wanted was Enter on a button, which then was pressed."""
    button = window.focusWidget()
    is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat()
    if not is_enter or not isinstance(button, QAbstractButton):
        return False
    button.click()
    return True

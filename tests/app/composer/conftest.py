"""A composer for the tests of writing a message."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from app.composer.composer import Composer
from app.look.theme import Mode, Theme


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    """A light theme."""
    theme = Theme(qapp)
    theme.set_mode(Mode.LIGHT)
    return theme


@pytest.fixture
def composer(qtbot, theme: Theme) -> Composer:
    """A composer on the screen with the keyboard in it."""
    composer = Composer(theme)
    qtbot.addWidget(composer)
    composer.resize(800, 600)
    composer.show()
    composer.focus()
    return composer

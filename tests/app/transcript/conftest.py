"""Widgets for the tests of the conversation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.look.theme import Mode, Theme
from app.transcript import ShownTurn
from app.transcript.transcript import Transcript


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    """A light theme."""
    theme = Theme(qapp)
    theme.set_mode(Mode.LIGHT)
    return theme


@pytest.fixture
def show(qtbot, theme: Theme) -> Callable[..., Transcript]:
    """Shows a transcript of some turns, 800 by 600."""

    def make(*turns: ShownTurn, welcome: QWidget | None = None) -> Transcript:
        transcript = Transcript(theme, welcome or QWidget())
        qtbot.addWidget(transcript)
        transcript.resize(800, 600)
        transcript.show()
        transcript.set_turns(list(turns))
        transcript.grab()
        return transcript

    return make

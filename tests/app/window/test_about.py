"""The About box: the version and every licence, in the language in force."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget

import engine
from app.look.resources import licences
from app.window.about import AboutDialog


def test_version_and_all_licences_are_there(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = AboutDialog(window)
    dialog.show()
    assert engine.__version__ in dialog.findChild(QLabel, "aboutName").text()
    text = dialog.findChild(QPlainTextEdit, "licences")
    assert text.toPlainText().strip() == licences().strip()
    assert "PySide6_Essentials" in text.toPlainText()
    assert text.isReadOnly()
    assert not dialog.isModal()

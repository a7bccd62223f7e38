"""Shows names of files and models letter by letter in tooltips, where Qt would guess that they are HTML."""

from __future__ import annotations

from PySide6.QtGui import Qt


def plain_tip(text: str) -> str:
    """The tooltip for a text: as HTML it could open files, on Windows those of other machines."""
    return Qt.convertFromPlainText(text) if Qt.mightBeRichText(text) else text

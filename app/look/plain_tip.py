"""Shows names of files and models letter by letter in tooltips, where Qt would guess that they are HTML."""

from __future__ import annotations

from PySide6.QtGui import Qt

from app.look.foreign_text import elided, visible

LONGEST_TIP = 2_000


def plain_tip(text: str) -> str:
    """The tooltip for a text: as HTML it could open files, on Windows those of other machines."""
    text = elided(visible(text), LONGEST_TIP)
    return Qt.convertFromPlainText(text) if Qt.mightBeRichText(text) else text

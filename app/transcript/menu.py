"""The menu of the right mouse button in the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QPointF
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu

from app.transcript.turn_view import Spot

if TYPE_CHECKING:
    from app.transcript.transcript import Transcript


def transcript_menu(transcript: Transcript, point: QPointF) -> QMenu:
    """What can be copied at a point of the viewport."""
    translate = QCoreApplication.translate
    clipboard = QGuiApplication.clipboard()
    menu = QMenu(transcript)
    copy = menu.addAction(translate("Transcript", "Copy"), QKeySequence.StandardKey.Copy, transcript.copy)
    copy.setEnabled(bool(transcript.selected_markdown()))
    index = transcript.turn_at(point)
    if index is not None:
        text = transcript.turns[index].text
        menu.addAction(translate("Transcript", "Copy message"), lambda: clipboard.setText(text))
        place = transcript.place_at(point)
        if place is not None and place[1].spot is Spot.LINK:
            address = place[1].href
            menu.addAction(translate("Transcript", "Copy link address"), lambda: clipboard.setText(address))
    menu.addSeparator()
    menu.addAction(
        translate("Transcript", "Select all"), QKeySequence.StandardKey.SelectAll, transcript.select_all
    ).setEnabled(bool(transcript.turns))
    return menu

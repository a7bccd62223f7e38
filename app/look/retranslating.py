"""Widgets that follow a change of the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    Base = QWidget
else:
    Base = object  # The widget's own class comes second among its bases.


class Retranslating(Base):
    """A base, named before the Qt class: ``retranslate`` sets all words of the widget, also after another language."""

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        raise NotImplementedError

    def changeEvent(self, event: QEvent) -> None:
        """Follow the language."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

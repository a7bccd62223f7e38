"""A menu of system prompts: some to begin with, and those a person kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QInputDialog, QMenu, QPushButton, QWidget

from app.look.plain_tip import plain_tip
from app.look.retranslating import Retranslating
from app.store.records import MAX_TITLE, PromptPreset


class PromptMenu(Retranslating, QPushButton):
    """``chosen`` carries a text; ``kept`` a name for the prompt that is in the field; ``removed`` a name."""

    chosen = Signal(str)
    kept = Signal(str)
    removed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("promptMenu")
        self.setProperty("kind", "quiet")
        self._own: Callable[[], list[PromptPreset]] = list
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self.fill)
        self.setMenu(self._menu)
        self.retranslate()

    def set_source(self, own: Callable[[], list[PromptPreset]]) -> None:
        """Where the person's own prompts come from."""
        self._own = own

    def fill(self) -> None:
        """Make the menu anew."""
        menu, own = self._menu, self._own()
        menu.clear()
        for preset in self._first_prompts():
            menu.addAction(preset.name, partial(self.chosen.emit, preset.text)).setToolTip(plain_tip(preset.text))
        if own:
            menu.addSeparator()
        for preset in own:
            name = preset.name.replace("&", "&&")
            menu.addAction(name, partial(self.chosen.emit, preset.text)).setToolTip(plain_tip(preset.text))
        menu.addSeparator()
        menu.addAction(self.tr("Keep this prompt…"), self._ask_for_name)
        if own:
            remove = menu.addMenu(self.tr("Remove"))
            for preset in own:
                remove.addAction(preset.name.replace("&", "&&"), partial(self.removed.emit, preset.name))

    def _first_prompts(self) -> list[PromptPreset]:
        return [
            PromptPreset(self.tr("Brief"), self.tr("Answer in as few words as the question allows.")),
            PromptPreset(
                self.tr("Patient teacher"),
                self.tr("Explain step by step, from what is known to what is new. Use an example for each step."),
            ),
            PromptPreset(
                self.tr("Programmer"),
                self.tr(
                    "You are an experienced programmer. Give complete, working code first, "
                    "then explain only what is not obvious."
                ),
            ),
            PromptPreset(
                self.tr("Translator"),
                self.tr(
                    "Translate what I write: Chinese into English, anything else into Chinese. "
                    "Write the translation only."
                ),
            ),
        ]

    def _ask_for_name(self) -> None:
        dialog = QInputDialog(self)
        dialog.setObjectName("promptName")
        dialog.setWindowTitle(self.tr("Keep this prompt"))
        dialog.setLabelText(self.tr("Name"))
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        dialog.textValueSelected.connect(self._keep)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _keep(self, name: str) -> None:
        name = " ".join(name.split())[:MAX_TITLE]
        if name:
            self.kept.emit(name)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setText(self.tr("Prompts"))
        self.setAccessibleName(self.tr("Prompts"))
        self.setToolTip(self.tr("Take a system prompt from the list, or keep this one there"))

"""Chooses a preset, keeps a person's own, and offers the settings as a command line."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QInputDialog, QMenu, QPushButton, QToolButton, QWidget

from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.store.setup import Setup, SetupPreset, preset_setup

NAME_MAX = 60


class PresetBar(Retranslating, QWidget):
    """``chosen`` carries a function from a Setup and a trained length to a Setup; ``saved`` a name, ``removed`` a name;
    ``command_wanted`` asks for the command line."""

    chosen = Signal(object)
    saved = Signal(str)
    removed = Signal(str)
    command_wanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._own: dict[str, Setup] = {}
        self._last: str | None = None
        self._button = QPushButton()
        self._button.setObjectName("presetButton")
        self._menu = QMenu(self._button)
        self._button.setMenu(self._menu)
        self._more = QToolButton()
        self._more.setObjectName("presetMore")
        self._more.setIcon(theme.icon("more"))
        self._more.setIconSize(QSize(18, 18))
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._more_menu = QMenu(self._more)
        self._more.setMenu(self._more_menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._button, 1)
        row.addWidget(self._more)
        self.retranslate()

    def show_own(self, presets: Mapping[str, Setup]) -> None:
        """The person's own presets by name."""
        self._own = dict(presets)
        self._fill()

    def show_changed(self, setup: Setup) -> None:
        """The fields were changed by hand: what they say is no preset any more."""
        if self._last is not None and self._own.get(self._last) != setup:
            self._last = None
            self._name()

    def _fill(self) -> None:
        self._menu.clear()
        for preset, (name, tip) in self._words().items():
            action = self._menu.addAction(name)
            action.setObjectName(f"preset_{preset}")
            action.setToolTip(tip)
            action.triggered.connect(lambda _checked=False, preset=preset, name=name: self._choose(preset, name))
        if self._own:
            self._menu.addSeparator()
        for name, setup in self._own.items():
            action = self._menu.addAction(_as_text(name))
            action.triggered.connect(lambda _checked=False, setup=setup, name=name: self._choose_own(setup, name))
        self._more_menu.clear()
        save = self._more_menu.addAction(self.tr("Save as a preset…"))
        save.setObjectName("savePreset")
        save.triggered.connect(self._ask_name)
        if self._own:
            remove = self._more_menu.addMenu(self.tr("Remove a preset"))
            for name in self._own:
                action = remove.addAction(_as_text(name))
                action.triggered.connect(lambda _checked=False, name=name: self.removed.emit(name))
        self._more_menu.addSeparator()
        command = self._more_menu.addAction(self.tr("Copy as a llama-server command"))
        command.setObjectName("copyCommand")
        command.setToolTip(self.tr("The model with all of these settings as a command line of llama.cpp's own server"))
        command.triggered.connect(self.command_wanted)
        for menu in (self._menu, self._more_menu):
            menu.setToolTipsVisible(True)

    def _choose(self, preset: SetupPreset, name: str) -> None:
        self.chosen.emit(lambda setup, n_ctx_train: preset_setup(preset, setup, n_ctx_train))
        self._last = name
        self._name()

    def _choose_own(self, own: Setup, name: str) -> None:
        self.chosen.emit(lambda _setup, _n_ctx_train: own)
        self._last = name
        self._name()

    def _ask_name(self) -> None:
        dialog = QInputDialog(self)
        dialog.setObjectName("presetName")
        dialog.setWindowTitle(self.tr("Save as a preset"))
        dialog.setLabelText(self.tr("A name for these settings; one that exists is replaced:"))
        dialog.textValueSelected.connect(self._save)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _save(self, text: str) -> None:
        name = " ".join(text.split())[:NAME_MAX]
        if name:
            self._last = name
            self.saved.emit(name)
            self._name()

    def _name(self) -> None:
        name = _as_text(self._last) if self._last else ""
        self._button.setText(self.tr("Preset: {0}").format(name) if name else self.tr("Presets"))

    def _words(self) -> dict[SetupPreset, tuple[str, str]]:
        return {
            SetupPreset.EXACT: (
                self.tr("Best quality"),
                self.tr("Up to 8,192 cells in f16, nothing is evicted: the answer stops when the cache is full"),
            ),
            SetupPreset.LONG: (
                self.tr("Long chat on a small GPU"),
                self.tr("Up to 32,768 cells with K and V in q8_0: half the memory, hardly any loss"),
            ),
            SetupPreset.CHAT: (
                self.tr("Endless chat"),
                self.tr(
                    "4,096 cells in f16; the sinks stay, the oldest tokens leave, and the answer never has to stop"
                ),
            ),
            SetupPreset.SMALL: (
                self.tr("Lowest memory"),
                self.tr("2,048 cells with K and V in q4_0 and small batches: the least memory, and less exact"),
            ),
        }

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self._button.setAccessibleName(self.tr("Presets"))
        self._button.setToolTip(self.tr("Fills the fields; nothing changes until you apply"))
        self._more.setAccessibleName(self.tr("More about presets"))
        self._more.setToolTip(self.tr("Save or remove presets, copy the settings"))
        self._last = None
        self._name()
        self._fill()


def _as_text(name: str) -> str:
    """A name as it was typed: Qt takes "&" for the mark of a shortcut."""
    return name.replace("&", "&&")

"""Puts the chosen theme, text size, accent and language in force, and remembers changes."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from app.look.language import LANGUAGES, Languages
from app.look.theme import MAX_TEXT_SCALE, MIN_TEXT_SCALE, Mode, Theme
from app.store.preferences_store import PreferencesStore

TEXT_STEP = 0.1


class Appearance(QObject):
    """``changed`` follows each change, once it is in force."""

    changed = Signal()

    def __init__(
        self, theme: Theme, languages: Languages, store: PreferencesStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._languages = languages
        self._store = store

    def apply(self) -> None:
        """Put what the preferences say in force."""
        preferences = self._store.current
        if preferences.language != self._languages.choice:
            self._languages.choose(preferences.language)
        self._theme.set_mode(Mode(preferences.theme))
        self._theme.set_accent(preferences.accent)
        self._theme.set_text_scale(preferences.text_scale)

    def change(self, name: str, value: Any) -> None:
        """Change one field of the preferences that is about looks."""
        self._store.update(**{name: value})
        self.apply()
        self.changed.emit()

    def next_theme(self) -> None:
        """From system to light to dark and around."""
        modes = [mode.value for mode in Mode]
        self.change("theme", modes[(modes.index(self._store.current.theme) + 1) % len(modes)])

    def next_language(self) -> None:
        """The other language."""
        codes = list(LANGUAGES)
        self.change("language", codes[(codes.index(self._languages.language) + 1) % len(codes)])

    def larger_text(self) -> None:
        """One step larger."""
        self._scale_by(TEXT_STEP)

    def smaller_text(self) -> None:
        """One step smaller."""
        self._scale_by(-TEXT_STEP)

    def normal_text(self) -> None:
        """As it was made."""
        self.change("text_scale", 1.0)

    def _scale_by(self, step: float) -> None:
        scale = round(self._store.current.text_scale + step, 2)
        self.change("text_scale", min(MAX_TEXT_SCALE, max(MIN_TEXT_SCALE, scale)))

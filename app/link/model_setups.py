"""What each model is set to: what its person chose, or else what was found to fit this machine."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.store.preferences_store import PreferencesStore
from app.store.setup import Setup
from engine.api.plan import Defaults
from engine.api.settings import LoadSettings


class ModelSetups(QObject):
    """``defaults_found`` carries the path of a model of which it was found out what fits, ``changed`` that of one whose
    setup is another one now.

    A person's own setup is kept between two starts. Defaults are not: the next time there may be more memory, or less.
    """

    defaults_found = Signal(str)
    changed = Signal(str)

    def __init__(self, store: PreferencesStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        self._defaults: dict[str, Defaults] = {}
        self._in_force: dict[str, LoadSettings] = {}

    def is_own(self, path: str) -> bool:
        """Whether a person decided what the model of this file is loaded with."""
        return path in self.store.current.setups

    def setup(self, path: str | None) -> Setup:
        """What the model of this file is set to."""
        kept = self.store.current.setup(path)
        if path is None or self.is_own(path):
            return kept
        return replace(kept, load=self._in_force.get(path, kept.load))

    def defaults(self, path: str | None) -> Defaults | None:
        """What a model is loaded with while nobody sets it otherwise; None as long as that was not found out."""
        return self._defaults.get(path or "")

    def set_defaults(self, path: str, found: Defaults) -> None:
        """What fits a model now."""
        if found != self._defaults.get(path):
            self._defaults[path] = found
            self.defaults_found.emit(path)

    def use(self, path: str, load: LoadSettings) -> None:
        """A model that nobody has set is about to be loaded with these settings."""
        self._in_force[path] = load
        self.changed.emit(path)

    def keep(self, path: str, setup: Setup) -> None:
        """A setup was put in force: load settings that are the machine's choice stay its choice, others are kept."""
        found = self._defaults.get(path)
        is_left = not self.is_own(path) and setup.load == self.setup(path).load
        if is_left or (found is not None and setup.load == found.settings):
            self._in_force[path] = setup.load
            self.store.set(self.store.current.with_policy(path, setup.policy))
        else:
            self.store.set(self.store.current.with_setup(path, setup))
        self.changed.emit(path)

"""Opens a model file: looks at its header in a thread first, so that a wrong file costs nothing that is loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, Signal

from app.link.model_setups import ModelSetups
from app.link.session import EngineSession
from app.link.settings_chooser import Found, SettingsChooser
from engine.api.errors import EngineError, mistakes_as_errors
from engine.api.settings import LoadSettings

if TYPE_CHECKING:
    from engine.models.gguf import ModelInfo

Load = Callable[[LoadSettings], object]
"""Loads with settings that may be others than those asked for."""


def check_model_file(path: Path) -> None:
    """Raise EngineError if the file can't be a chat model."""
    # Not at the start: the window is to be there first.
    from engine.models.gguf import read_model_info, require_chat_model

    require_chat_model(read_model_info(path))


class Guard(Protocol):
    """Says whether a load surely fits, in a thread, and otherwise decides what is loaded, perhaps after asking."""

    def is_sure(self, path: Path, settings: LoadSettings) -> bool: ...
    def admit(self, path: str, settings: LoadSettings, load: Load) -> None: ...


@dataclass(frozen=True)
class _Look:
    """What is to be loaded, and what a look at the file told. ``info`` is there where the settings are to be chosen."""

    number: int
    path: str
    settings: LoadSettings
    load: Load
    error: EngineError | None = None
    info: ModelInfo | None = None
    is_sure: bool = True


class ModelOpener(QObject):
    """``refused`` carries (path, EngineError); what is loaded then stays. Only the newest wish counts.

    A model that its person has set is loaded so, any other with what fits.
    """

    refused = Signal(str, object)
    _looked = Signal(object)

    def __init__(
        self,
        session: EngineSession,
        setups: ModelSetups,
        chooser: SettingsChooser,
        check: Callable[[Path], None] = check_model_file,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._setups, self._chooser = session, setups, chooser
        self.check = check
        self._guard: Guard | None = None
        self._newest = 0
        self._looked.connect(self._on_looked, Qt.ConnectionType.QueuedConnection)

    def set_guard(self, guard: Guard) -> None:
        """Who is asked about loads that may not fit; without one everything is loaded."""
        self._guard = guard

    def open(self, path: str) -> None:
        """Check a file, then load it."""
        self._newest += 1
        settings = self._setups.store.current.setup(path).load
        look = _Look(self._newest, path, settings, partial(self._load, path))
        self._aside(look, partial(self._looked_at, must_choose=not self._setups.is_own(path)))

    def reload(self, path: str, settings: LoadSettings, load: Load) -> None:
        """Have a file that is loaded, or was, loaded with other settings; where they don't fit it is asked first."""
        self._newest += 1
        if self._guard is None:
            load(settings)
        else:
            self._aside(_Look(self._newest, path, settings, load), self._weighed)

    def find_defaults(self, path: str) -> None:
        """Find out what fits a model that its person has set otherwise."""
        self._chooser.measure(path, partial(self._on_defaults, path))

    # In a thread

    def _aside(self, look: _Look, do: Callable[[_Look], _Look]) -> None:
        def run() -> None:
            try:
                with mistakes_as_errors():
                    looked = do(look)
            except EngineError as error:
                looked = replace(look, error=error)
            self._looked.emit(looked)

        # A daemon: a file on a network drive that does not answer must not hold up the end of the program.
        threading.Thread(target=run, name="model-header", daemon=True).start()

    def _looked_at(self, look: _Look, *, must_choose: bool) -> _Look:
        self.check(Path(look.path))
        return self._weighed(replace(look, info=self._chooser.read(Path(look.path))) if must_choose else look)

    def _weighed(self, look: _Look) -> _Look:
        is_sure = self._guard is None or self._guard.is_sure(Path(look.path), look.settings)
        return replace(look, is_sure=is_sure)

    # What comes of it

    def _on_looked(self, look: _Look) -> None:
        if look.number != self._newest:
            return
        if look.error is not None:
            self.refused.emit(look.path, look.error)
        elif look.info is not None:
            number = self._session.prepare(look.path)
            self._chooser.choose(look.path, look.info, partial(self._on_found, look, number))
        else:
            self._admit(look)

    def _on_found(self, look: _Look, number: int, found: Found | None) -> None:
        self._on_defaults(look.path, found)
        if not self._session.is_prepared(number):
            return
        if found is not None:
            look = replace(look, settings=found.defaults.settings, is_sure=found.fits)
        if look.number != self._newest or (self._guard is not None and not look.is_sure):
            # Whoever is asked first still has what is loaded.
            self._session.end_preparation(number)
        if look.number == self._newest:
            self._admit(look)

    def _on_defaults(self, path: str, found: Found | None) -> None:
        if found is not None:
            self._setups.set_defaults(path, found.defaults)

    def _admit(self, look: _Look) -> None:
        if look.is_sure or self._guard is None:
            look.load(look.settings)
        else:
            self._guard.admit(look.path, look.settings, partial(self._load_admitted, look))

    def _load_admitted(self, look: _Look, settings: LoadSettings) -> None:
        if look.number == self._newest:
            look.load(settings)

    def _load(self, path: str, settings: LoadSettings) -> None:
        if self._setups.is_own(path):
            self._setups.keep(path, replace(self._setups.setup(path), load=settings))
        else:
            self._setups.use(path, settings)
        self._session.load(path, settings)

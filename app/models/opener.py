"""Opens a model file: looks at its header in a thread first, so that a wrong file costs nothing that is loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal

from app.engine_session import EngineSession
from engine.errors import EngineError
from engine.settings import LoadSettings


def check_model_file(path: Path) -> None:
    """Raise EngineError if the file can't be a chat model."""
    # Not at the start: the window is to be there first.
    from engine.models.gguf import read_model_info, require_chat_model

    require_chat_model(read_model_info(path))


class Guard(Protocol):
    """Says whether a load surely fits, in a thread, and otherwise decides what is loaded, perhaps after asking."""

    def is_sure(self, path: Path, settings: LoadSettings) -> bool: ...
    def admit(self, path: str, settings: LoadSettings, load: Callable[[LoadSettings], object]) -> None: ...


class ModelOpener(QObject):
    """``refused`` carries (path, EngineError); what is loaded then stays. Only the newest file asked for counts."""

    refused = Signal(str, object)
    _checked = Signal(int, str, object, bool)

    def __init__(
        self,
        session: EngineSession,
        check: Callable[[Path], None] = check_model_file,
        settings_for: Callable[[str], LoadSettings] = lambda _path: LoadSettings(),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self.check = check
        self._settings_for = settings_for
        self._guard: Guard | None = None
        self._newest = 0
        self._checked.connect(self._on_checked, Qt.ConnectionType.QueuedConnection)

    def set_guard(self, guard: Guard) -> None:
        """Who is asked about loads that may not fit; without one everything is loaded."""
        self._guard = guard

    def open(self, path: str) -> None:
        """Check a file, then load it."""
        self._newest += 1
        # A daemon: a file on a network drive that does not answer must not hold up the end of the program.
        look = threading.Thread(target=self._look, args=(self._newest, path), name="model-header", daemon=True)
        look.start()

    def _look(self, number: int, path: str) -> None:
        error: EngineError | None = None
        is_sure = True
        try:
            self.check(Path(path))
            is_sure = self._guard is None or self._guard.is_sure(Path(path), self._settings_for(path))
        except EngineError as found:
            error = found
        self._checked.emit(number, path, error, is_sure)

    def _on_checked(self, number: int, path: str, error: EngineError | None, is_sure: bool) -> None:
        if number != self._newest:
            return
        if error is not None:
            self.refused.emit(path, error)
        elif is_sure or self._guard is None:
            self._session.load(path, self._settings_for(path))
        else:
            self._guard.admit(path, self._settings_for(path), lambda settings: self._load(number, path, settings))

    def _load(self, number: int, path: str, settings: LoadSettings) -> None:
        if number == self._newest:
            self._session.load(path, settings)

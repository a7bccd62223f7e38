"""Keeps the list of models on this machine up to date: looks in the background, and again when a folder changes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from app.link.background import Background
from engine.models.starter import installed_starter
from engine.models.stores import Source, Store, known_stores

if TYPE_CHECKING:
    from engine.models.library import Library, Listing

PAUSE_MS = 400
"""Changes come in swarms while a file is copied; they are looked at once they pause."""
FOLDERS_WATCHED = 500


class LibraryWatcher(QObject):
    """``listed`` carries a Listing after every look. ``stores_of`` gives the stores for the folders that were added."""

    listed = Signal(object)

    def __init__(
        self,
        own: Path,
        stores_of: Callable[[Path, Sequence[Path]], tuple[Store, ...]] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._own = own
        self._stores_of = stores_of or stores_of_this_machine
        self._added: tuple[Path, ...] = ()
        self._library: Library | None = None
        self._background = Background("library", self)
        self._is_looking = False
        self._must_look_again = False
        self._watcher = QFileSystemWatcher(self)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.look)
        self._watcher.directoryChanged.connect(self._pause.start)

    def set_added(self, folders: Sequence[Path]) -> None:
        """The folders that the person added; takes effect with the next look."""
        self._added = tuple(folders)

    def look(self) -> None:
        """Look at all stores now; while a look is under way, once more after it."""
        if self._is_looking:
            self._must_look_again = True
            return
        self._is_looking = True
        self._background.run(partial(self._look, self._stores_of(self._own, self._added)))

    def _look(self, stores: tuple[Store, ...]) -> None:
        listing: Listing | None = None
        try:
            listing = self._found(stores)
        finally:
            # Also after a mistake: another look may be asked for.
            self._background.post(self._on_looked, listing)

    def _found(self, stores: tuple[Store, ...]) -> Listing:
        # Only a folder that is there can be watched; where it can't be made, a download says why.
        with contextlib.suppress(OSError):
            self._own.mkdir(parents=True, exist_ok=True)
        if self._library is None:
            # Not at the start: the main window is to be there first.
            from engine.models.library import Library

            self._library = Library()
        return self._library.look(stores)

    def _on_looked(self, listing: Listing | None) -> None:
        self._is_looking = False
        if listing is not None:
            self._watch([str(folder) for folder in listing.folders[:FOLDERS_WATCHED]])
            self.listed.emit(listing)
        if self._must_look_again:
            self._must_look_again = False
            self.look()

    def _watch(self, folders: list[str]) -> None:
        watched = set(self._watcher.directories())
        if gone := sorted(watched - set(folders)):
            self._watcher.removePaths(gone)
        if new := [folder for folder in folders if folder not in watched]:
            self._watcher.addPaths(new)


def stores_of_this_machine(own: Path, added: Sequence[Path]) -> tuple[Store, ...]:
    """Kvasir's folder, the added ones, those of other programs of this person, and the starter's if it is installed."""
    stores = known_stores(own, added, os.environ, Path.home())
    starter = installed_starter()
    return stores if starter is None else (*stores, Store(Source.STARTER, starter.parent))

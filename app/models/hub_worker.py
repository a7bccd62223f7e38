"""Asks the hub in the background: searches, lists repositories, reads headers; the newest question wins."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.link.background import Background
from engine.models.hub.downloads import CLOSE_TIMEOUT_S, Download, DownloadQueue
from engine.models.hub.remote import Reference, RemoteModel, parse_reference
from engine.models.hub.suggestions import Suggestion, find_suggested
from engine.models.hub.token import TokenKeeper, checked_token

if TYPE_CHECKING:
    from engine.models.hub.client import Hub
    from engine.models.hub.remote_header import HeaderFolder


def make_hub() -> Hub:
    """The hub of this machine's settings; its library is imported here, since that takes a while."""
    from engine.models.hub.client import Hub

    return Hub()


class HubWorker(QObject):
    """``found`` carries a tuple of SearchResult, ``opened`` a Repo, ``judged`` (key of the model, path of its header),
    ``failed`` an EngineError of a search or a repository, ``not_judged`` (key, EngineError), ``downloads_changed`` a
    tuple of Download; ``suggestion_added`` (repository, key of its download) and ``suggestion_refused`` (repository,
    EngineError)."""

    found = Signal(object)
    opened = Signal(object)
    judged = Signal(str, str)
    failed = Signal(object)
    not_judged = Signal(str, object)
    downloads_changed = Signal(object)
    token_not_kept = Signal(object)
    suggestion_added = Signal(str, str)
    suggestion_refused = Signal(str, object)

    def __init__(
        self,
        models: Path,
        queue_file: Path,
        headers: Path,
        make: Callable[[], Hub] = make_hub,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.models = models
        self._make = make
        self._hub: Hub | None = None
        self._lock = threading.Lock()
        self._header_folder = headers
        self._headers: HeaderFolder | None = None
        self._background = Background("hub", self)
        self.queue = DownloadQueue(self.hub, models, queue_file, self._post_downloads)

    def hub(self) -> Hub:
        """The one hub of this process, made on first use; may be called from any thread."""
        with self._lock:
            if self._hub is None:
                hub = self._make()
                hub.token = TokenKeeper(hub.host).load()
                self._hub = hub
            return self._hub

    def ask(self, text: str) -> None:
        """Open the repository that a text names, or search for its words; older questions are forgotten."""
        reference = parse_reference(text)
        if reference is None:
            search = lambda: self.hub().search(text.strip())  # noqa: E731
            self._background.ask_newest(search, self.found.emit, self.failed.emit)
        else:
            self._list(reference)

    def open(self, repo: str) -> None:
        """List the models of a repository."""
        self._list(Reference(repo))

    def _list(self, reference: Reference) -> None:
        self._background.ask_newest(lambda: self.hub().repo(reference), self.opened.emit, self.failed.emit)

    def download_suggestion(self, suggestion: Suggestion) -> None:
        """Look where its file lies now, and put it into the queue."""

        def add() -> str:
            model = find_suggested(self.hub(), suggestion)
            self.queue.add(model)
            return model.key

        added, refused = self.suggestion_added.emit, self.suggestion_refused.emit
        self._background.ask(add, partial(added, suggestion.repo), partial(refused, suggestion.repo))

    def judge(self, model: RemoteModel) -> None:
        """Read the model's header."""

        fetch = lambda: str(self._header_files().fetch(self.hub(), model))  # noqa: E731
        self._background.ask(fetch, partial(self.judged.emit, model.key), partial(self.not_judged.emit, model.key))

    def set_token(self, token: str) -> None:
        """Use a token from now on, and keep it in the keyring; an empty one forgets it."""

        def keep() -> None:
            hub = self.hub()
            hub.token = checked_token(token)
            TokenKeeper(hub.host).save(token)

        self._background.ask(keep, lambda _none: None, self.token_not_kept.emit)

    def close(self) -> None:
        """Stop the downloads; no signal is emitted after this."""
        self._background.close()
        self.queue.close()
        if not self._lock.acquire(timeout=CLOSE_TIMEOUT_S):
            # A keyring that asks its person for a password does not hold up the end of the program.
            return
        try:
            if self._headers is not None:
                self._headers.close()
            if self._hub is not None:
                self._hub.close()
        finally:
            self._lock.release()

    def _header_files(self) -> HeaderFolder:
        with self._lock:
            if self._headers is None:
                from engine.models.hub.remote_header import HeaderFolder

                self._headers = HeaderFolder(self._header_folder)
            return self._headers

    def _post_downloads(self, downloads: tuple[Download, ...]) -> None:
        self._background.post(self.downloads_changed.emit, downloads)

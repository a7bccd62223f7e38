"""Works on the hub in threads for the window: searches, lists repositories, reads headers; the newest question wins."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal

from engine.api.errors import EngineError, mistakes_as_errors
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
    """``found`` carries a tuple of Found, ``opened`` a Repo, ``judged`` (key of the model, path of its header),
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
    _came = Signal(object, object)

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
        self._newest = 0
        self._is_closed = False
        self._came.connect(self._on_came, Qt.ConnectionType.QueuedConnection)
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
            self._begin(lambda: self.hub().search(text.strip()), self.found)
        else:
            self._begin(lambda: self.hub().repo(reference), self.opened)

    def open(self, repo: str) -> None:
        """List the models of a repository."""
        self._begin(lambda: self.hub().repo(Reference(repo)), self.opened)

    def download_suggestion(self, suggestion: Suggestion) -> None:
        """Look where its file lies now, and put it into the queue."""

        def add() -> None:
            try:
                with mistakes_as_errors():
                    model = find_suggested(self.hub(), suggestion)
                    self.queue.add(model)
            except EngineError as error:
                self._tell(self.suggestion_refused, suggestion.repo, error)
            else:
                self._tell(self.suggestion_added, suggestion.repo, model.key)

        self._run(add)

    def judge(self, model: RemoteModel) -> None:
        """Read the model's header."""

        def fetch() -> None:
            try:
                with mistakes_as_errors():
                    path = str(self._header_files().fetch(self.hub(), model))
            except EngineError as error:
                self._tell(self.not_judged, model.key, error)
            else:
                self._tell(self.judged, model.key, path)

        self._run(fetch)

    def set_token(self, token: str) -> None:
        """Use a token from now on, and keep it in the keyring; an empty one forgets it."""

        def keep() -> None:
            try:
                with mistakes_as_errors():
                    hub = self.hub()
                    hub.token = checked_token(token)
                    TokenKeeper(hub.host).save(token)
            except EngineError as error:
                self._tell(self.token_not_kept, error)

        self._run(keep)

    def close(self) -> None:
        """Stop the downloads; nothing is told after this."""
        self._is_closed = True
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

    def _begin(self, work: Callable[[], Any], signal: Any) -> None:
        self._newest += 1
        number = self._newest

        def do() -> None:
            try:
                with mistakes_as_errors():
                    answer, found = signal, (work(),)
            except EngineError as error:
                answer, found = self.failed, (error,)
            if number == self._newest:
                self._tell(answer, *found)

        self._run(do)

    def _run(self, do: Callable[[], None]) -> None:
        # A daemon: a server that does not answer must not hold up the end of the program.
        threading.Thread(target=do, name="hub", daemon=True).start()

    def _tell(self, signal: Any, *values: Any) -> None:
        """Emit on the window's thread; called on any."""
        if not self._is_closed:
            self._came.emit(signal, values)

    def _on_came(self, signal: Any, values: tuple[Any, ...]) -> None:
        if not self._is_closed:
            signal.emit(*values)

    def _post_downloads(self, downloads: tuple[Download, ...]) -> None:
        self._tell(self.downloads_changed, downloads)

"""Decides what an empty page offers to begin with, and carries out what is chosen there."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.link.session import EngineSession
from app.link.status import EngineState, EngineStatus
from app.models.first_models import FirstModels, Offer
from app.models.workers import Workers
from engine.api.errors import EngineError
from engine.api.messages import EngineReady
from engine.models.hub import reach
from engine.models.hub.downloads import Download
from engine.models.hub.suggestions import Suggestion, suggestions_for
from engine.models.starter import installed_starter
from engine.models.stores import Source

if TYPE_CHECKING:
    from engine.models.library import Listing

log = logging.getLogger("kvasir")
LOOK_MS = 4000
"""Between two looks whether there is a connection again; no request is made for it."""


class FirstRun(QObject):
    """``look`` looks for models on this machine, ``load`` loads a file with settings that fit.

    Nothing is asked of the hub before a download is wanted.
    """

    def __init__(
        self,
        view: FirstModels,
        session: EngineSession,
        workers: Workers,
        look: Callable[[], object],
        load: Callable[[str], object],
    ) -> None:
        super().__init__(view)
        self._view, self._session, self._hub = view, session, workers.hub
        self._look = look
        self._has_model = True
        self._repos: dict[str, str] = {}
        self._again = QTimer(self)
        self._again.setInterval(LOOK_MS)
        self._again.timeout.connect(self.suggest)
        view.download_wanted.connect(self._download)
        view.pause_wanted.connect(self._hub.queue.pause)
        view.resume_wanted.connect(self._hub.queue.resume)
        view.open_wanted.connect(load)
        session.status_changed.connect(self._on_status)
        workers.library.listed.connect(self._on_listed)
        self._hub.suggestion_added.connect(self._on_added)
        self._hub.suggestion_refused.connect(self._on_refused)
        self._hub.downloads_changed.connect(self._show_downloads)

    def suggest(self) -> None:
        """Offer models to download, or say that none can be."""
        if self._view.offer is Offer.SUGGESTED or reach.may_be_reached(os.environ):
            self._again.stop()
            gpu, ram = free_memory(self._session.status.engine)
            self._view.offer_suggested(suggestions_for(gpu, ram), gpu, ram)
            self._show_downloads(self._hub.queue.downloads)
        else:
            self._again.start()
            self._view.offer_without_connection()

    def _on_status(self, status: EngineStatus) -> None:
        has_model = status.state is not EngineState.NO_MODEL
        if has_model == self._has_model:
            return
        self._has_model = has_model
        if has_model:
            self._again.stop()
            self._view.offer_nothing()
        else:
            self._look()

    def _on_listed(self, listing: Listing) -> None:
        # A suggestion that was downloaded is on its card; the others may be on their way.
        if self._has_model or self._view.has_downloads:
            return
        # The starter is loaded by itself.
        usable = tuple(
            model for model in listing.models if model.problem is None and model.source is not Source.STARTER
        )
        if usable:
            self._again.stop()
            self._view.offer_found(usable)
        elif has_starter():
            self._view.offer_nothing()
        else:
            self.suggest()

    def _download(self, suggestion: Suggestion) -> None:
        self._view.show_asking(suggestion)
        self._hub.download_suggestion(suggestion)

    def _on_added(self, repo: str, key: str) -> None:
        self._repos[key] = repo
        self._show_downloads(self._hub.queue.downloads)

    def _on_refused(self, repo: str, error: EngineError) -> None:
        log.info("suggestion %s: %s %s", repo, error.code, error.detail)
        self._view.show_problem(repo, error.sentence)

    def _show_downloads(self, downloads: tuple[Download, ...]) -> None:
        self._view.show_downloads({self._repos.get(one.key, one.model.repo): one for one in downloads})


def free_memory(engine: EngineReady | None) -> tuple[int, int]:
    """Bytes that the GPUs have free together, as they were when the engine started, and the RAM that is free now."""
    from engine.devices import available_ram_bytes

    devices = engine.devices if engine is not None else ()
    return sum(one.free_bytes for one in devices if one.is_gpu), available_ram_bytes()


def has_starter() -> bool:
    """Whether the small model that comes with Kvasir is here."""
    return installed_starter() is not None

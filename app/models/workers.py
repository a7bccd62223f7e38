"""Makes what works in the background for the window of models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.link.fit_queue import FitQueue
from app.link.what_if import Planner
from app.models.hub_worker import HubWorker
from app.models.library_watcher import LibraryWatcher
from engine.api.messages import Event


@dataclass(frozen=True)
class Workers:
    """The list of what is here, the hub with its downloads, and the planner that says what fits."""

    library: LibraryWatcher
    hub: HubWorker
    fits: FitQueue

    def close(self) -> None:
        """End all of it."""
        self.hub.close()
        self.fits.close()


def make_workers(data: Path, make_planner: Callable[[Callable[[Event], None]], Planner]) -> Workers:
    """Those of this person: downloads go to ``data``/models; nothing is started before it is wanted."""
    models = data / "models"
    hub = HubWorker(models, data / "downloads.json", data / "headers")
    return Workers(LibraryWatcher(models), hub, FitQueue(make_planner))

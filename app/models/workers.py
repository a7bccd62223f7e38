"""Makes what works in the background for the window of models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.link.plan_service import PlanService
from app.models.hub_worker import HubWorker
from app.models.library_watcher import LibraryWatcher


@dataclass(frozen=True)
class Workers:
    """The list of what is here, the hub with its downloads, and the planner that says what fits."""

    library: LibraryWatcher
    hub: HubWorker
    plans: PlanService

    def close(self) -> None:
        """End what is theirs alone."""
        self.hub.close()


def make_workers(data: Path, plans: PlanService) -> Workers:
    """Those of this person: downloads go to ``data``/models; nothing is started before it is wanted."""
    models = data / "models"
    hub = HubWorker(models, data / "downloads.json", data / "headers")
    return Workers(LibraryWatcher(models), hub, plans)

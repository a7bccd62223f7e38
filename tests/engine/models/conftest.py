"""A hub with models in it, and queues that download them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.models.hub.client import Hub
from engine.models.hub.downloads import DownloadQueue
from engine.models.hub.remote import Reference, RemoteModel
from tests.engine.models.hub.download_room import CONTENT, OTHER, OpenQueue, Watcher
from tests.hub_server import HubServer, hub_server


@pytest.fixture
def server() -> Iterator[HubServer]:
    with hub_server() as server:
        server.add("o/n", {"m.gguf": CONTENT, "s-00001-of-00002.gguf": CONTENT, "s-00002-of-00002.gguf": OTHER})
        yield server


@pytest.fixture
def hub(server: HubServer) -> Iterator[Hub]:
    hub = Hub(server.endpoint)
    yield hub
    hub.close()


@pytest.fixture
def model(hub: Hub) -> RemoteModel:
    return next(model for model in hub.repo(Reference("o/n")).models if model.name == "m")


@pytest.fixture
def open_queue(hub: Hub, tmp_path: Path) -> Iterator[OpenQueue]:
    queues: list[DownloadQueue] = []

    def make() -> tuple[DownloadQueue, Watcher]:
        watcher = Watcher()
        queues.append(DownloadQueue(lambda: hub, tmp_path / "models", tmp_path / "queue.json", watcher.hear))
        return queues[-1], watcher

    yield make
    for queue in queues:
        queue.close()

"""Downloads against a hub of the tests' own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.models.hub.client import Hub
from engine.models.hub.downloads import Download, DownloadQueue, DownloadState
from engine.models.hub.remote import RemoteModel
from engine.models.hub.transfer import Progress, Transfer, TransferStopped

PATIENCE_S = 20
CONTENT = bytes(range(256)) * 16_384
"""4 MiB."""
OTHER = bytes(reversed(CONTENT))


def fetch(hub: Hub, model: RemoteModel, folder: Path, reports: list[Progress] | None = None) -> Path:
    found: list[Progress] = [] if reports is None else reports
    return Transfer(hub, model, folder, found.append, pauses_s=(0.0, 0.0)).run()


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def stop_half_way(hub: Hub, model: RemoteModel, folder: Path) -> int:
    """Run a transfer until a good part is there; how many bytes that are."""

    def report(progress: Progress) -> None:
        if progress.n_done > len(CONTENT) // 4:
            running.stop()

    running = Transfer(hub, model, folder, report)
    with pytest.raises(TransferStopped):
        running.run()
    (part,) = folder.rglob("*.part")
    return part.stat().st_size


class Watcher:
    """Hears of every change, and waits for one."""

    def __init__(self) -> None:
        self.heard: list[tuple[Download, ...]] = []
        self._changed = threading.Condition()

    def hear(self, downloads: tuple[Download, ...]) -> None:
        with self._changed:
            self.heard.append(downloads)
            self._changed.notify_all()

    def wait(self, is_so: Callable[[tuple[Download, ...]], bool]) -> tuple[Download, ...]:
        with self._changed:
            assert self._changed.wait_for(lambda: any(map(is_so, self.heard)), PATIENCE_S), self.heard[-1:]
            return next(downloads for downloads in self.heard if is_so(downloads))

    def wait_for(self, state: DownloadState, index: int = 0) -> Download:
        return self.wait(lambda all_: len(all_) > index and all_[index].state is state)[index]


OpenQueue = Callable[[], tuple[DownloadQueue, Watcher]]

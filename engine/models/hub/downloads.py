"""The persistent download queue, which runs one download at a time."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.api.errors import EngineError, ErrorCode, mistakes_as_errors
from engine.disk.foreign_json import read_json
from engine.disk.whole_file import write_whole
from engine.models.hub.remote import MAX_FILE_BYTES, RemoteFile, RemoteModel
from engine.models.hub.transfer import Progress, Transfer, TransferStopped, delete_parts, n_bytes_there

if TYPE_CHECKING:
    from engine.models.hub.client import Hub

MAX_DOWNLOADS = 200
MAX_QUEUE_BYTES = 4 << 20
SPEED_WINDOW_S = 5.0
REPORT_PAUSE_S = 0.1
CLOSE_TIMEOUT_S = 2.0
"""A server that does not answer does not hold up the end of the program for longer."""


class DownloadState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    CHECKING = "checking"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True)
class Download:
    """A queued model. Sizes in bytes; ``bytes_per_second`` and ``seconds_left`` are None while unknown.

    ``path`` is the finished model's file; ``problem`` is the error of a failed download.
    """

    model: RemoteModel
    state: DownloadState
    n_done: int
    bytes_per_second: float | None = None
    seconds_left: float | None = None
    problem: EngineError | None = None
    path: Path | None = None

    @property
    def key(self) -> str:
        return self.model.key

    @property
    def n_total(self) -> int:
        return self.model.size_bytes


class DownloadQueue:
    """Downloads models into ``folder``; ``file`` stores the queue across restarts.

    ``on_change`` is called with all downloads in order, on the thread that made the change, at most ten times a second
    for progress. The worker thread lives while a download is waiting or running. Methods are thread-safe.
    """

    def __init__(
        self,
        make_hub: Callable[[], Hub],
        folder: Path,
        file: Path,
        on_change: Callable[[tuple[Download, ...]], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make_hub, self._folder, self._file = make_hub, folder, file
        self._on_change = on_change
        self._clock = clock
        self._lock = threading.RLock()
        self._downloads: dict[str, Download] = {}
        self._transfer: Transfer | None = None
        self._running: str | None = None
        self._thread: threading.Thread | None = None
        self._is_closing = False
        for download in _read_queue(file, folder):
            self._downloads[download.key] = download

    @property
    def downloads(self) -> tuple[Download, ...]:
        """All of them, in order."""
        with self._lock:
            return tuple(self._downloads.values())

    def start(self) -> None:
        """Resume the downloads that were waiting or running when the program ended."""
        self._wake()

    def add(self, model: RemoteModel) -> None:
        """Append a model to the queue; one that is in it already is resumed."""
        with self._lock:
            known = self._downloads.get(model.key)
            if known is not None and known.state not in (DownloadState.DONE, DownloadState.FAILED):
                self.resume(model.key)
                return
            self._downloads.pop(model.key, None)
            while len(self._downloads) >= MAX_DOWNLOADS:
                finished = (key for key, one in self._downloads.items() if one.state is DownloadState.DONE)
                self._downloads.pop(next(finished, next(iter(self._downloads))))
            self._downloads[model.key] = Download(model, DownloadState.WAITING, n_bytes_there(self._folder, model))
        self._changed()
        self._wake()

    def pause(self, key: str) -> None:
        """Pause a running or waiting download; the bytes received are kept."""
        self._set(key, {DownloadState.WAITING, DownloadState.RUNNING, DownloadState.CHECKING}, DownloadState.PAUSED)

    def resume(self, key: str) -> None:
        """Queue a paused or failed download again."""
        self._set(key, {DownloadState.PAUSED, DownloadState.FAILED}, DownloadState.WAITING)
        self._wake()

    def remove(self, key: str) -> None:
        """Remove a download and delete its unfinished files; a finished model stays on disk."""
        with self._lock:
            download = self._downloads.pop(key, None)
            is_running = self._running == key
            if is_running and self._transfer is not None:
                self._transfer.stop()
        # A running download's thread is still writing: it deletes the files itself after it has stopped.
        if download is not None and not is_running:
            with contextlib.suppress(EngineError):
                delete_parts(self._folder, download.model)
        self._changed()

    def close(self) -> None:
        """Stop; a running download resumes at the next `start`. ``on_change`` is not called after this."""
        with self._lock:
            self._is_closing = True
            if self._transfer is not None:
                self._transfer.stop()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(CLOSE_TIMEOUT_S)

    # --- the thread ---

    def _wake(self) -> None:
        with self._lock:
            has_work = any(one.state is DownloadState.WAITING for one in self._downloads.values())
            if has_work and self._thread is None and not self._is_closing:
                self._thread = threading.Thread(target=self._work, name="downloads", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                key = next((key for key, one in self._downloads.items() if one.state is DownloadState.WAITING), None)
                if key is None or self._is_closing:
                    self._thread = None
                    return
                model = self._downloads[key].model
                self._running = key
                self._downloads[key] = dataclasses.replace(self._downloads[key], state=DownloadState.RUNNING)
            self._changed()
            outcome = self._bring(model)
            with self._lock:
                self._running = self._transfer = None
                is_removed = key not in self._downloads
                if not is_removed:
                    self._downloads[key] = self._after(self._downloads[key], outcome)
            if is_removed and not isinstance(outcome, Path):
                with contextlib.suppress(EngineError):
                    delete_parts(self._folder, model)
            self._changed()

    def _bring(self, model: RemoteModel) -> Path | EngineError | None:
        """Download a model; its file, the error, or None if the transfer was stopped."""
        meter = _SpeedMeter(self._clock)

        def report(progress: Progress) -> None:
            if meter.take(progress):
                self._tell(model.key, progress, meter)

        try:
            with mistakes_as_errors(), contextlib.suppress(TransferStopped):
                transfer = Transfer(self._make_hub(), model, self._folder, report)
                with self._lock:
                    self._transfer = transfer
                    if self._is_closing or not self._is_wanted(model.key):
                        return None
                return transfer.run()
        except EngineError as error:
            return error
        return None

    def _after(self, download: Download, outcome: Path | EngineError | None) -> Download:
        still = dataclasses.replace(download, bytes_per_second=None, seconds_left=None)
        if isinstance(outcome, Path):
            return dataclasses.replace(still, state=DownloadState.DONE, n_done=download.n_total, path=outcome)
        if isinstance(outcome, EngineError):
            # Also if it was paused just before: either way it must be resumed by hand. Damaged files were deleted.
            there = n_bytes_there(self._folder, download.model)
            return dataclasses.replace(still, state=DownloadState.FAILED, n_done=there, problem=outcome)
        if self._is_closing or download.state is not DownloadState.PAUSED:
            # Stopped by `close`, or resumed while it was stopping.
            state = DownloadState.PAUSED if download.state is DownloadState.PAUSED else DownloadState.WAITING
            return dataclasses.replace(still, state=state)
        return still

    def _is_wanted(self, key: str) -> bool:
        download = self._downloads.get(key)
        return download is not None and download.state is not DownloadState.PAUSED

    def _tell(self, key: str, progress: Progress, meter: _SpeedMeter) -> None:
        state = DownloadState.CHECKING if progress.is_checking else DownloadState.RUNNING
        with self._lock:
            download = self._downloads.get(key)
            if download is None or download.state not in (DownloadState.RUNNING, DownloadState.CHECKING):
                return
            speed = meter.bytes_per_second
            self._downloads[key] = dataclasses.replace(
                download,
                state=state,
                # Bytes that are being verified are on disk already: progress does not go back.
                n_done=max(download.n_done, progress.n_done) if progress.is_checking else progress.n_done,
                bytes_per_second=speed,
                seconds_left=(progress.n_total - progress.n_done) / speed if speed else None,
            )
        self._changed(is_kept=False)

    # --- changes ---

    def _set(self, key: str, before: set[DownloadState], after: DownloadState) -> None:
        with self._lock:
            download = self._downloads.get(key)
            if download is None or download.state not in before:
                return
            self._downloads[key] = dataclasses.replace(
                download, state=after, problem=None, bytes_per_second=None, seconds_left=None
            )
            if after is DownloadState.PAUSED and self._running == key and self._transfer is not None:
                self._transfer.stop()
        self._changed()

    def _changed(self, *, is_kept: bool = True) -> None:
        with self._lock:
            downloads, is_closing = self.downloads, self._is_closing
            if is_kept:
                _write_queue(self._file, downloads)
        if not is_closing:
            self._on_change(downloads)


class _SpeedMeter:
    """The speed of a transfer over its last seconds, with rate-limited progress reports."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._samples: collections.deque[tuple[float, int]] = collections.deque()
        self._told_at: float | None = None
        self._was_checking = False

    def take(self, progress: Progress) -> bool:
        """Record a progress; whether it should be reported now."""
        now = self._clock()
        if progress.is_checking:
            self._samples.clear()
        else:
            self._samples.append((now, progress.n_done))
            while len(self._samples) > 2 and now - self._samples[1][0] > SPEED_WINDOW_S:
                self._samples.popleft()
        is_due = (
            self._told_at is None
            or now - self._told_at >= REPORT_PAUSE_S
            or progress.n_done >= progress.n_total
            or progress.is_checking != self._was_checking
        )
        self._was_checking = progress.is_checking
        if is_due:
            self._told_at = now
        return is_due

    @property
    def bytes_per_second(self) -> float | None:
        if len(self._samples) < 2:
            return None
        (began, first), (ended, last) = self._samples[0], self._samples[-1]
        return (last - first) / (ended - began) if ended > began and last > first else None


# --- the file ---


def _write_queue(file: Path, downloads: tuple[Download, ...]) -> None:
    content = [
        {
            "repo": one.model.repo,
            "commit": one.model.commit,
            "files": [[part.path, part.size_bytes, part.sha256] for part in one.model.files],
            "is_paused": one.state in (DownloadState.PAUSED, DownloadState.FAILED),
        }
        for one in downloads
        if one.state is not DownloadState.DONE
    ]
    # If the queue can't be saved, a restart loses it; the partial files stay, and adding the model again resumes.
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, [json.dumps(content).encode()])


def _read_queue(file: Path, folder: Path) -> list[Download]:
    try:
        with file.open("rb") as stream:
            content = read_json(stream.read(MAX_QUEUE_BYTES))
    except (OSError, ValueError):
        return []
    downloads = []
    for entry in (content if isinstance(content, list) else [])[:MAX_DOWNLOADS]:
        try:
            model = _model(entry)
            n_done = n_bytes_there(folder, model)
        except (TypeError, ValueError, KeyError, EngineError):
            continue
        state = DownloadState.PAUSED if entry.get("is_paused") else DownloadState.WAITING
        downloads.append(Download(model, state, n_done))
    return downloads


def _model(entry: Any) -> RemoteModel:
    files = []
    for path, size, sha256 in entry["files"]:
        if not isinstance(path, str) or not isinstance(size, int) or not 0 < size <= MAX_FILE_BYTES:
            raise ValueError(path)
        is_digest = isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256) is not None
        files.append(RemoteFile(path, size, sha256 if is_digest else None))
    if not files or not isinstance(entry["repo"], str) or not isinstance(entry["commit"], str):
        raise ValueError(ErrorCode.HUB_NAME_INVALID)
    return RemoteModel(entry["repo"], entry["commit"], tuple(files))

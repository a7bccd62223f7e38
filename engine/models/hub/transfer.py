"""Brings one model onto the disk: resumed where it broke off, checked, and under its name only when it is whole."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Bytes, say
from engine.disk.errors import disk_error
from engine.disk.file_lock import file_lock
from engine.models.hub.hub_busy import HubBusyError
from engine.models.hub.remote import RemoteFile, RemoteModel, file_version, local_parts

if TYPE_CHECKING:
    # Its library takes a good part of a second to import, and is not needed until bytes are.
    from engine.models.hub.client import Hub

PART = ".part"
"""What an unfinished file's name ends in; the library does not take it for a model."""
LOCK = ".lock"
"""What the name of the file ends in by which another window sees that a model is being downloaded."""
CHUNK_BYTES = 1 << 20
SPARE_BYTES = 256 << 20
"""What a download leaves free on the disk."""
PAUSES_S = (1.0, 2.0, 5.0, 10.0, 20.0)
"""Waits between attempts that brought nothing; one that brought something begins again at the first."""
LONGEST_PAUSE_S = 60
"""A hub that asks for a longer one has its sentence shown: the person decides when to go on."""
_TRANSIENT = frozenset({ErrorCode.HUB_UNREACHABLE, ErrorCode.HUB_BUSY})


class TransferStopped(Exception):
    """Somebody paused it or closes the program; what is there stays."""


@dataclass(frozen=True)
class Progress:
    """Bytes that are there, of all; ``is_checking`` while what is there is read again to be checked."""

    n_done: int
    n_total: int
    is_checking: bool = False


class Transfer:
    """One model on its way into ``folder``. Nothing is ever written outside of it."""

    def __init__(
        self,
        hub: Hub,
        model: RemoteModel,
        folder: Path,
        report: Callable[[Progress], None],
        *,
        pauses_s: tuple[float, ...] = PAUSES_S,
    ) -> None:
        self._hub, self._model, self._folder = hub, model, folder
        self._report = report
        self._pauses_s = pauses_s
        self._stop = threading.Event()
        self._n_before = 0

    def stop(self) -> None:
        """Let `run` end soon, with TransferStopped."""
        self._stop.set()

    def run(self) -> Path:
        """Fetch what is missing; the path of the (first) file.

        Raises TransferStopped, and EngineError: what `Hub.open_bytes` raises, DISK_FULL before the first byte,
        DISK_FAILED, DOWNLOAD_DAMAGED, and DOWNLOAD_ELSEWHERE while another transfer brings the same model.
        """
        targets = target_paths(self._folder, self._model)
        lock = _lock_path(targets)
        with contextlib.ExitStack() as held:
            try:
                lock.parent.mkdir(parents=True, exist_ok=True)
                is_ours = held.enter_context(file_lock(lock))
            except OSError as error:
                raise disk_error(error, str(self._folder)) from error
            if not is_ours:
                raise EngineError(
                    ErrorCode.DOWNLOAD_ELSEWHERE,
                    say(
                        "Another Kvasir window is downloading “{0}”: let it finish there, or try again here once that "
                        "window is closed.",
                        self._model.name,
                    ),
                    str(lock),
                )
            self._bring(targets)
        return targets[0]

    def _bring(self, targets: tuple[Path, ...]) -> None:
        self._require_room()
        for file, target in zip(self._model.files, targets, strict=True):
            try:
                if not self._is_whole(file, target):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    self._fetch(file, target)
            except OSError as error:
                raise disk_error(error, str(self._folder)) from error
            self._n_before += file.size_bytes
            self._tell(0)

    def _require_room(self) -> None:
        missing = self._model.size_bytes - n_bytes_there(self._folder, self._model)
        try:
            free = shutil.disk_usage(self._folder).free
        except OSError as error:
            raise disk_error(error, str(self._folder)) from error
        if missing > 0 and missing + SPARE_BYTES > free:
            raise EngineError(
                ErrorCode.DISK_FULL,
                say(
                    "The disk with “{0}” has {1} free, but {2} are still to come and {3} are to stay free: make "
                    "room, or choose a smaller file.",
                    str(self._folder),
                    Bytes(free),
                    Bytes(missing),
                    Bytes(SPARE_BYTES),
                ),
                f"{missing} bytes of {self._model.size_bytes}",
            )

    def _is_whole(self, file: RemoteFile, target: Path) -> bool:
        """Whether the file is there already, with this content and not only this size."""
        if _size(target) != file.size_bytes or file.sha256 is None:
            return False
        digest = hashlib.sha256()
        with target.open("rb") as there:
            self._read_again(there, digest)
        return digest.hexdigest() == file.sha256

    def _fetch(self, file: RemoteFile, target: Path) -> None:
        part = _part_path(self._model, file, target)
        n_tries = 0
        while True:
            before = _size(part)
            try:
                self._fetch_rest(file, part)
            except EngineError as error:
                if error.code not in _TRANSIENT:
                    raise
                n_tries = 0 if _size(part) > before else n_tries + 1
                asked_s = (error.retry_after_s or 0) if isinstance(error, HubBusyError) else 0
                if n_tries >= len(self._pauses_s) or asked_s > LONGEST_PAUSE_S:
                    raise
                if self._stop.wait(max(asked_s, self._pauses_s[n_tries])):
                    raise TransferStopped from error
            else:
                break
        part.replace(target)

    def _fetch_rest(self, file: RemoteFile, part: Path) -> None:
        """Append what is missing, and check the whole; what does not check is deleted."""
        if _size(part) > file.size_bytes:
            part.unlink()
        with part.open("a+b") as output:
            digest = hashlib.sha256()
            n_done = self._read_again(output, digest)
            expected = file.sha256
            if n_done < file.size_bytes:
                n_done, told = self._append(file, output, digest)
                expected = expected or told
            output.flush()
            os.fsync(output.fileno())
        if n_done < file.size_bytes:
            # The server closed without an error: the same as a broken line.
            raise EngineError(
                ErrorCode.HUB_UNREACHABLE,
                say("{0} broke off the download: resume it.", self._hub.host),
                f"{n_done} of {file.size_bytes} bytes",
            )
        if n_done > file.size_bytes or (expected is not None and digest.hexdigest() != expected):
            part.unlink()
            raise EngineError(
                ErrorCode.DOWNLOAD_DAMAGED,
                say(
                    "“{0}” arrived with other content than {1} promises, so it was deleted. Download it again; if "
                    "that fails too, something on the way changes it.",
                    file.path,
                    self._hub.host,
                ),
                f"{n_done} bytes, SHA-256 {digest.hexdigest()}, expected {expected}",
            )

    def _read_again(self, output: BinaryIO, digest: Any) -> int:
        """Take what is there into the checksum; its size."""
        output.seek(0)
        n_done = 0
        while chunk := output.read(CHUNK_BYTES):
            self._obey()
            digest.update(chunk)
            n_done += len(chunk)
            self._tell(n_done, is_checking=True)
        return n_done

    def _append(self, file: RemoteFile, output: BinaryIO, digest: Any) -> tuple[int, str | None]:
        """Append the rest; the size then, and the checksum of the whole if the hub tells it."""
        n_done = output.seek(0, os.SEEK_END)
        with self._hub.open_bytes(self._model, file, n_done) as stream:
            if stream.start > n_done:
                raise ValueError(f"asked for byte {n_done}, got those from {stream.start} on")
            position = stream.start
            for chunk in stream.response.iter_raw():
                self._obey()
                fresh = chunk[max(0, n_done - position) :]
                position += len(chunk)
                if n_done + len(fresh) > file.size_bytes:
                    # Longer than it should be; the check finds it, and it does not fill the disk meanwhile.
                    return n_done + len(fresh), stream.sha256
                _write(output, fresh)
                digest.update(fresh)
                n_done += len(fresh)
                self._tell(n_done)
        return n_done, stream.sha256

    def _obey(self) -> None:
        if self._stop.is_set():
            raise TransferStopped

    def _tell(self, n_done: int, *, is_checking: bool = False) -> None:
        total = self._model.size_bytes
        self._report(Progress(min(self._n_before + n_done, total), total, is_checking))


def target_paths(folder: Path, model: RemoteModel) -> tuple[Path, ...]:
    """Where the model's files will lie; raises EngineError(HUB_NAME_INVALID)."""
    return tuple(folder.joinpath(*local_parts(model, file)) for file in model.files)


def n_bytes_there(folder: Path, model: RemoteModel) -> int:
    """Bytes of the model that are on the disk already."""
    there = 0
    for file, target in zip(model.files, target_paths(folder, model), strict=True):
        there += min(file.size_bytes, _size(target) or _size(_part_path(model, file, target)))
    return there


def delete_parts(folder: Path, model: RemoteModel) -> None:
    """Delete what an unfinished download left; finished files stay, and so does what another window is writing."""
    targets = target_paths(folder, model)
    with contextlib.suppress(OSError), file_lock(_lock_path(targets)) as is_ours:
        for file, target in zip(model.files, targets, strict=True) if is_ours else ():
            with contextlib.suppress(OSError):
                _part_path(model, file, target).unlink()


def _lock_path(targets: tuple[Path, ...]) -> Path:
    return targets[0].with_name(targets[0].name + LOCK)


def _part_path(model: RemoteModel, file: RemoteFile, target: Path) -> Path:
    """Named by its content, so that no file is continued with the bytes of another version."""
    return target.with_name(f"{target.name}.{file_version(model, file)}{PART}")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _write(output: BinaryIO, piece: bytes) -> None:
    try:
        output.write(piece)
    except OSError as error:
        raise disk_error(error, str(output.name)) from error

"""The resumable, verified download of one model, which gets its final file name only when it is complete."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Bytes, say
from engine.disk.errors import disk_error
from engine.models.hub.hub_busy import HubBusyError
from engine.models.hub.part_file import CHUNK_BYTES, PartFile, Stretch, delete_part
from engine.models.hub.remote import RemoteFile, RemoteModel, file_version, local_parts

if TYPE_CHECKING:
    # The HTTP library takes a good part of a second to import, and is not needed before the first request.
    from engine.models.hub.byte_stream import ByteStream
    from engine.models.hub.client import Hub

PART = ".part"
"""What an unfinished file's name ends in; the library does not take it for a model."""
SPARE_BYTES = 256 << 20
"""What a download leaves free on the disk."""
PAUSES_S = (1.0, 2.0, 5.0, 10.0, 20.0)
"""Delays between retries; after an attempt that made progress they start again at the first."""
LEAST_BYTES = 30 << 10
"""An attempt with fewer bytes made no progress."""
LONGEST_PAUSE_S = 60
"""The longest automatic delay; if the hub demands a longer one, the error is shown instead."""
_TRANSIENT = frozenset({ErrorCode.HUB_UNREACHABLE, ErrorCode.HUB_BUSY})


class TransferStopped(Exception):
    """The transfer was paused or the program closes; the bytes received are kept."""


@dataclass(frozen=True)
class Progress:
    """Bytes on disk, and of the whole model; ``is_checking`` while the bytes on disk are verified."""

    n_done: int
    n_total: int
    is_checking: bool = False


class Transfer:
    """The download of one model into ``folder``, outside of which nothing is written."""

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
        """Make `run` raise TransferStopped soon."""
        self._stop.set()

    def run(self) -> Path:
        """Fetch the missing bytes; returns the path of the (first) file.

        Raises TransferStopped, and EngineError: what `Hub.open_bytes` raises, DISK_FULL before the first byte,
        DISK_FAILED and DOWNLOAD_DAMAGED.
        """
        targets = target_paths(self._folder, self._model)
        try:
            targets[0].parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(error, str(self._folder)) from error
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
        """Whether the file exists already with this content, not only this size."""
        if _size(target) != file.size_bytes or file.sha256 is None:
            return False
        digest = hashlib.sha256()
        take = self._reader(digest)
        with target.open("rb") as there:
            while chunk := there.read(CHUNK_BYTES):
                take(chunk)
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
                n_tries = 0 if _size(part) - before >= LEAST_BYTES else n_tries + 1
                asked_s = (error.retry_after_s or 0) if isinstance(error, HubBusyError) else 0
                if n_tries >= len(self._pauses_s) or asked_s > LONGEST_PAUSE_S:
                    raise
                if self._stop.wait(max(asked_s, self._pauses_s[n_tries])):
                    raise TransferStopped from error
            else:
                break
        part.replace(target)
        delete_part(part)

    def _fetch_rest(self, file: RemoteFile, part: Path) -> None:
        """Append the missing bytes and verify the whole; after a mismatch as little as possible is fetched again."""
        if _size(part) > file.size_bytes:
            delete_part(part)
        with PartFile(part) as there:
            digest = hashlib.sha256()
            changed = there.read(self._reader(digest))
            # These stretches were corrupted on the disk.
            self._fetch_again(file, there, changed)
            n_found = there.n_bytes
            told = self._append(file, there, digest) if n_found < file.size_bytes else None
            there.sync()
            expected = file.sha256 or told
            found = self._digest(there) if changed else digest.hexdigest()
            if expected in (None, found):
                return
            is_mended, is_worth_more = self._mend(file, there, n_found, str(expected))
        if not is_mended:
            raise self._damaged(file, part, f"SHA-256 {found}, expected {expected}", is_worth_more=is_worth_more)

    def _damaged(self, file: RemoteFile, part: Path, detail: str, *, is_worth_more: bool) -> EngineError:
        host = self._hub.host
        if is_worth_more:
            message = say(
                "“{0}” arrived with other content than {1} promises: resume it, and only the doubtful part of it "
                "is fetched again.",
                file.path,
                host,
            )
        else:
            delete_part(part)
            message = say(
                "“{0}” arrived with other content than {1} promises, so it was deleted. Download it again; if "
                "that fails too, something on the way changes it.",
                file.path,
                host,
            )
        return EngineError(ErrorCode.DOWNLOAD_DAMAGED, message, detail)

    def _mend(self, file: RemoteFile, there: PartFile, n_found: int, expected: str) -> tuple[bool, bool]:
        """Fetch the most likely corrupt stretches again; whether the file is right then, and whether a retry may help.

        These are the stretches without a checksum; if there are none, the smaller of the old part (found on disk) and
        the new part. If that does not help, the other part loses its checksums and is fetched again by the next try.
        """
        unknown = [one for one in there.stretches if one.checksum is None]
        sides = [[one for one in there.stretches if (one.end <= n_found) is is_old] for is_old in (True, False)]
        if not unknown and not all(sides):
            return False, False
        smaller, larger = sides if n_found <= file.size_bytes // 2 else reversed(sides)
        self._fetch_again(file, there, unknown or smaller)
        if self._digest(there) == expected:
            return True, False
        there.doubt([] if unknown else larger)
        return False, not unknown

    def _reader(self, digest: Any) -> Callable[[bytes], None]:
        """A callback that adds re-read chunks to the digest and reports progress."""
        n_read = 0

        def take(chunk: bytes) -> None:
            nonlocal n_read
            self._obey()
            digest.update(chunk)
            n_read += len(chunk)
            self._tell(n_read, is_checking=True)

        return take

    def _digest(self, there: PartFile) -> str:
        digest = hashlib.sha256()
        there.read(self._reader(digest))
        return str(digest.hexdigest())

    def _append(self, file: RemoteFile, there: PartFile, digest: Any) -> str | None:
        """Append the rest; returns the SHA-256 of the whole if the hub reports it."""
        with self._bytes(file, there, there.n_bytes, None) as stream:
            for piece in stream.pieces():
                self._obey()
                with self._writing():
                    there.append(piece)
                digest.update(piece)
                self._tell(there.n_bytes)
        if there.n_bytes < file.size_bytes:
            raise self._broken_off(f"{there.n_bytes} of {file.size_bytes} bytes")
        return stream.sha256

    def _fetch_again(self, file: RemoteFile, there: PartFile, stretches: list[Stretch]) -> None:
        for stretch in stretches:
            with self._bytes(file, there, stretch.start, stretch.end) as stream, self._writing():
                is_whole = there.replace(stretch, self._passing(stream.pieces(), stretch.start))
            if not is_whole:
                raise self._broken_off(f"bytes {stretch.start} to {stretch.end}")

    def _passing(self, pieces: Iterator[bytes], n_done: int) -> Iterator[bytes]:
        for piece in pieces:
            self._obey()
            yield piece
            n_done += len(piece)
            self._tell(n_done, is_checking=True)

    @contextlib.contextmanager
    def _bytes(self, file: RemoteFile, there: PartFile, start: int, end: int | None) -> Iterator[ByteStream]:
        """Open a byte range; without a SHA-256, raises DOWNLOAD_DAMAGED if the version differs from the one on disk."""
        # Imported late: see above.
        from engine.models.hub.patience import Patience

        patience = Patience(obey=self._obey)
        with self._hub.open_bytes(self._model, file, start, end, patience) as stream:
            if file.sha256 is None and stream.version is not None:
                if there.version is None:
                    with self._writing():
                        there.set_version(stream.version)
                elif _is_other_version(there.version, stream.version):
                    raise EngineError(
                        ErrorCode.DOWNLOAD_DAMAGED,
                        say(
                            "“{0}” on {1} has changed since its download began: remove it from the list, and download "
                            "it anew.",
                            file.path,
                            self._hub.host,
                        ),
                        f"{there.version}, now {stream.version}",
                    )
            yield stream

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Convert OSError to a disk error, so that it is not taken for a hub error."""
        try:
            yield
        except OSError as error:
            raise disk_error(error, str(self._folder)) from error

    def _broken_off(self, detail: str) -> EngineError:
        # The server closed the connection early without an error: treated like a lost connection.
        return EngineError(
            ErrorCode.HUB_UNREACHABLE, say("{0} broke off the download: resume it.", self._hub.host), detail
        )

    def _obey(self) -> None:
        if self._stop.is_set():
            raise TransferStopped

    def _tell(self, n_done: int, *, is_checking: bool = False) -> None:
        total = self._model.size_bytes
        self._report(Progress(min(self._n_before + n_done, total), total, is_checking))


def target_paths(folder: Path, model: RemoteModel) -> tuple[Path, ...]:
    """The final paths of the model's files; raises EngineError(HUB_NAME_INVALID)."""
    return tuple(folder.joinpath(*local_parts(model, file)) for file in model.files)


def n_bytes_there(folder: Path, model: RemoteModel) -> int:
    """Bytes of the model that are on the disk already."""
    there = 0
    for file, target in zip(model.files, target_paths(folder, model), strict=True):
        there += min(file.size_bytes, _size(target) or _size(_part_path(model, file, target)))
    return there


def delete_parts(folder: Path, model: RemoteModel) -> None:
    """Delete the partial files of an unfinished download; finished files stay."""
    for file, target in zip(model.files, target_paths(folder, model), strict=True):
        with contextlib.suppress(OSError):
            delete_part(_part_path(model, file, target))


def _part_path(model: RemoteModel, file: RemoteFile, target: Path) -> Path:
    """The partial file's path, named by its content so that it is never resumed with another version's bytes."""
    return target.with_name(f"{target.name}.{file_version(model, file)}{PART}")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_other_version(one: str, other: str) -> bool:
    """Whether two versions of the same kind differ."""
    return one != other and one.partition(":")[0] == other.partition(":")[0]

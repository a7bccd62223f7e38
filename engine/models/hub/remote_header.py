"""Downloads only the headers of models on a hub, by range requests.

The local file is sparse: it has the full size and the real header, with a hole in place of the weights. So everything
that needs no weights works on it, such as reading the model's properties and planning its memory.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from engine.disk.errors import disk_error
from engine.models.header import damaged, read_header_from
from engine.models.hub.patience import Patience
from engine.models.hub.remote import RemoteFile, RemoteModel, commit_version, local_parts

if TYPE_CHECKING:
    from engine.models.hub.client import Hub

FIRST_BYTES = 1 << 20
STEP_BYTES_MAX = 8 << 20
MAX_HEADER_BYTES = 64 << 20
HEADER_TIMEOUT_S = 180.0
"""The timeout of a header: on a slower connection the weights would take days."""
_SPARSE_WINDOWS = 0x000900C4


class HeaderFolder:
    """Stores headers in ``folder``, which no other process uses, until it is closed.

    Files left there by a killed process are deleted.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.close()

    def close(self) -> None:
        """Delete all headers."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def fetch(self, hub: Hub, model: RemoteModel) -> Path:
        """The model's header file, or the first of its shards' ones; only missing bytes are fetched.

        Raises EngineError: what `Hub.open_bytes` and `read_header` raise, DISK_FULL and DISK_FAILED.
        """
        paths = []
        for file in model.files:
            path = self._folder.joinpath(commit_version(model), *local_parts(model, file))
            if not path.is_file():
                self._fetch(hub, model, file, path)
            paths.append(path)
        return paths[0]

    def _fetch(self, hub: Hub, model: RemoteModel, file: RemoteFile, path: Path) -> None:
        part = path.with_name(path.name + ".part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with part.open("w+b") as copy:
                _make_sparse(copy)
                prefix = _RemotePrefix(hub, model, file, copy)
                read_header_from(prefix, path.name, file.size_bytes)
                copy.truncate(file.size_bytes)
            part.replace(path)
        except OSError as error:
            raise disk_error(error, str(self._folder)) from error
        finally:
            if part.exists():
                part.unlink()


class _RemotePrefix:
    """The beginning of a remote file, fetched on demand into ``copy``."""

    def __init__(self, hub: Hub, model: RemoteModel, file: RemoteFile, copy: BinaryIO) -> None:
        self._hub, self._model, self._file, self._copy = hub, model, file, copy
        self._position = 0
        self._n_fetched = 0
        self._patience = Patience(HEADER_TIMEOUT_S)

    def read(self, n_bytes: int, /) -> bytes:
        end = min(self._position + n_bytes, self._file.size_bytes)
        self.fetch_to(end)
        self._copy.seek(self._position)
        taken = self._copy.read(max(0, end - self._position))
        self._position += len(taken)
        return taken

    def seek(self, position: int, /) -> int:
        self._position = position
        return position

    def fetch_to(self, end: int) -> None:
        """Fetch everything before ``end``; each request is larger than the one before."""
        if end > MAX_HEADER_BYTES:
            raise damaged(self._file.path, f"its header goes on beyond {MAX_HEADER_BYTES} bytes")
        while self._n_fetched < end:
            step = min(STEP_BYTES_MAX, max(FIRST_BYTES, self._n_fetched))
            self._fetch(min(max(end, self._n_fetched + step), self._file.size_bytes))

    def _fetch(self, end: int) -> None:
        before = self._n_fetched
        with self._hub.open_bytes(self._model, self._file, before, end, self._patience) as stream:
            for piece in stream.pieces():
                self._write(piece)
        if self._n_fetched == before:
            raise damaged(self._file.path, f"the hub has no byte {before} of it")

    def _write(self, piece: bytes) -> None:
        try:
            self._copy.seek(self._n_fetched)
            self._copy.write(piece)
        except OSError as error:
            raise disk_error(error, self._file.path) from error
        self._n_fetched += len(piece)


def _make_sparse(file: BinaryIO) -> None:
    """Mark the file as sparse on Windows, where holes take disk space otherwise."""
    if sys.platform != "win32":
        return
    import ctypes
    import msvcrt

    returned = ctypes.c_ulong()
    handle = ctypes.c_void_p(msvcrt.get_osfhandle(file.fileno()))
    ctypes.windll.kernel32.DeviceIoControl(handle, _SPARSE_WINDOWS, None, 0, None, 0, ctypes.byref(returned), None)

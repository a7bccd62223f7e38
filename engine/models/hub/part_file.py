"""A partially downloaded file with a sidecar of checksums, one for each stretch received.

The checksums detect corruption on the disk, so that only the corrupt stretches are fetched again.
"""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

SUMS = ".sums"
"""What the name of the file with the checksums ends in, after that of the part."""
STRETCH_BYTES = 8 << 20
CHUNK_BYTES = 1 << 20
MAX_SUMS_BYTES = 64 << 20
_LINE = re.compile(r"(\d{1,15}) (\d{1,10}|-)\Z", re.ASCII)
_VERSION = "version "


@dataclass(frozen=True)
class Stretch:
    """Bytes from ``start`` to ``end`` (exclusive); ``checksum`` None if it was not recorded."""

    start: int
    end: int
    checksum: int | None


class PartFile:
    """A context manager for a single writer; all methods raise OSError. The file is created with the first byte."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sums_path = path.with_name(path.name + SUMS)
        self._file: BinaryIO | None = None
        self.n_bytes = n_bytes = _size(path)
        self.version: str | None = None
        self.stretches: list[Stretch] = []
        if n_bytes:
            self._read_sums()
        else:
            self._sums_path.unlink(missing_ok=True)
        while self.stretches and self.stretches[-1].end > n_bytes:
            # The system crashed before all bytes were flushed.
            self.stretches.pop()
        if self._n_noted < n_bytes:
            self.stretches.append(Stretch(self._n_noted, n_bytes, None))
        if n_bytes:
            self._file = path.open("r+b")
            self._write_sums()
        self._checksum = 0

    def __enter__(self) -> PartFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with contextlib.closing(self._file):
                self.end_stretch()

    @property
    def _n_noted(self) -> int:
        return self.stretches[-1].end if self.stretches else 0

    def read(self, take: Callable[[bytes], None]) -> list[Stretch]:
        """Read the whole file in chunks; returns the stretches that don't match their checksums."""
        changed = []
        for stretch in self.stretches:
            checksum, position = 0, stretch.start
            self._opened().seek(position)
            while position < stretch.end:
                chunk = self._opened().read(min(CHUNK_BYTES, stretch.end - position))
                if not chunk:
                    break
                take(chunk)
                checksum = zlib.crc32(chunk, checksum)
                position += len(chunk)
            if stretch.checksum not in (None, checksum) or position < stretch.end:
                changed.append(stretch)
        return changed

    def append(self, piece: bytes) -> None:
        """Write at the end of the file."""
        file = self._opened()
        file.seek(self.n_bytes)
        file.write(piece)
        self._checksum = zlib.crc32(piece, self._checksum)
        self.n_bytes += len(piece)
        if self.n_bytes - self._n_noted >= STRETCH_BYTES:
            self.end_stretch()

    def end_stretch(self) -> None:
        """End the current stretch and record its checksum, before bytes from another request follow."""
        if self.n_bytes > self._n_noted:
            self._opened().flush()
            self.stretches.append(Stretch(self._n_noted, self.n_bytes, self._checksum))
            self._checksum = 0
            with self._sums_path.open("a", encoding="utf-8") as sums:
                sums.write(_line(self.stretches[-1]))

    def replace(self, stretch: Stretch, pieces: Iterable[bytes]) -> bool:
        """Overwrite a stretch; False if ``pieces`` end early, and the stretch still fails its checksum then."""
        file, position, checksum = self._opened(), stretch.start, 0
        for piece in pieces:
            file.seek(position)
            file.write(piece)
            checksum = zlib.crc32(piece, checksum)
            position += len(piece)
        file.flush()
        if position < stretch.end:
            return False
        self.stretches[self.stretches.index(stretch)] = Stretch(stretch.start, stretch.end, checksum)
        self._write_sums()
        return True

    def doubt(self, stretches: Iterable[Stretch]) -> None:
        """Drop the checksums of these stretches."""
        doubted = {stretch.start for stretch in stretches}
        self.stretches = [Stretch(one.start, one.end, None) if one.start in doubted else one for one in self.stretches]
        self._write_sums()

    def set_version(self, version: str) -> None:
        """Record the version of the content."""
        self.version = version
        self._write_sums()

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._file = self.path.open("w+b")
        return self._file

    def sync(self) -> None:
        """Flush to the disk (fsync)."""
        self.end_stretch()
        os.fsync(self._opened().fileno())

    def _read_sums(self) -> None:
        try:
            with self._sums_path.open("rb") as sums:
                lines = sums.read(MAX_SUMS_BYTES).decode("utf-8", "replace").splitlines()
        except OSError:
            return
        for line in lines:
            if line.startswith(_VERSION):
                self.version = line.removeprefix(_VERSION)
                continue
            match = _LINE.match(line)
            if match is None or int(match[1]) <= self._n_noted:
                # Truncated by a system crash: the rest counts as not recorded.
                return
            checksum = None if match[2] == "-" else int(match[2])
            self.stretches.append(Stretch(self._n_noted, int(match[1]), checksum))

    def _write_sums(self) -> None:
        version = [] if self.version is None else [f"{_VERSION}{self.version}\n"]
        self._sums_path.write_text("".join([*version, *map(_line, self.stretches)]), encoding="utf-8")


def delete_part(path: Path) -> None:
    """Delete a partial file and its checksums, if they exist."""
    for one in (path.with_name(path.name + SUMS), path):
        one.unlink(missing_ok=True)


def _line(stretch: Stretch) -> str:
    return f"{stretch.end} {'-' if stretch.checksum is None else stretch.checksum}\n"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

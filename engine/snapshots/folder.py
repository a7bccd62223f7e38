"""The snapshot folder on disk, with atomic writes and LRU eviction."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Collection, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from filelock import lock_descriptor

from engine.cache.snapshot import Snapshot
from engine.disk.whole_file import write_whole
from engine.snapshots import file as snapshot_file
from engine.snapshots.file import Head, SnapshotUnusable

KEY_NAME = "key"
KEY_BYTES = 32
SUFFIX = ".snapshot"
PART_SUFFIX = ".part"
PART_AGE_S = 3600
"""A partial file older than this was abandoned."""
HEADS_MAX = 2000
"""The most snapshots of one fingerprint that are read."""


@dataclass(frozen=True)
class StoredSnapshot:
    """A snapshot on disk, with its header."""

    path: Path
    head: Head


class SnapshotFolder:
    """Snapshots as files that only their owner can read. The engine of a killed window may still use the same folder
    for a moment.

    With a full disk or an unusable folder nothing is stored, without an error.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key = b""
        with contextlib.suppress(OSError):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._key = self._read_key()
            self._drop_parts()

    @property
    def is_usable(self) -> bool:
        """Whether snapshots can be stored here."""
        return bool(self._key)

    def _read_key(self) -> bytes:
        """The folder's signature key, created if it is missing."""
        path = self._path / KEY_NAME
        if not path.exists():
            write_whole(path, [secrets.token_bytes(KEY_BYTES)])
        key = path.read_bytes()
        if len(key) != KEY_BYTES:
            path.unlink()
            return b""
        return key

    def _drop_parts(self) -> None:
        """Delete partial files of killed engines. Where files can't be locked, their age decides."""
        for part in self._path.glob(f"*{PART_SUFFIX}"):
            with contextlib.suppress(OSError):
                if time.time() - part.stat().st_mtime > PART_AGE_S or _is_no_ones(part):
                    part.unlink()

    def _part_path(self) -> Path:
        return self._path / f"{secrets.token_hex(8)}{PART_SUFFIX}"

    def stored(self, binding: str) -> list[StoredSnapshot]:
        """The snapshots with a fingerprint, most recently used first; damaged files are deleted."""
        found = []
        for path in sorted(self._path.glob(f"*-{binding}-*{SUFFIX}"), key=_last_use, reverse=True)[:HEADS_MAX]:
            try:
                head = snapshot_file.read_head(path, self._key)
            except SnapshotUnusable:
                self.delete(path)
                continue
            # The path differs if a file was renamed.
            if path == self.path_of(head.chat_id, head.binding, head.outline.sequence.tokens()):
                found.append(StoredSnapshot(path, head))
        return found

    def path_of(self, chat_id: str, binding: str, tokens: list[int]) -> Path:
        """The path of a snapshot, unique for chat, fingerprint and tokens."""
        text = hashlib.sha256(repr(tokens).encode()).hexdigest()[:16]
        return self._path / f"{_chat_name(chat_id)}-{binding}-{text}{SUFFIX}"

    def write(
        self, chat_id: str, binding: str, snapshot: Snapshot, budget_bytes: int
    ) -> Generator[None, None, StoredSnapshot | None]:
        """Write in slices, with a ``yield`` after each; returns the stored snapshot, None if the disk is full.

        A snapshot larger than the whole budget is not stored, and none is deleted for it.
        """
        if not self._key or snapshot.n_bytes > budget_bytes:
            return None
        part = self._part_path()
        try:
            with _open_private(part) as file:
                yield from snapshot_file.write(file, chat_id, binding, snapshot, self._key)
            self.make_room(budget_bytes - part.stat().st_size)
            path = part.replace(self.path_of(chat_id, binding, snapshot.outline.sequence.tokens()))
            return StoredSnapshot(path, snapshot_file.read_head(path, self._key))
        except (OSError, SnapshotUnusable):
            return None
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def make_room(self, budget_bytes: int) -> None:
        """Delete the least recently used snapshots until at most ``budget_bytes`` are left."""
        left = budget_bytes
        for path in sorted(self._path.glob(f"*{SUFFIX}"), key=_last_use, reverse=True):
            with contextlib.suppress(OSError):
                left -= path.stat().st_size
                if left < 0:
                    path.unlink()

    def touch(self, path: Path) -> None:
        """Mark a snapshot as just used."""
        with contextlib.suppress(OSError):
            os.utime(path)

    def delete(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

    def delete_chat(self, chat_id: str) -> None:
        """Delete a chat's snapshots, whatever their fingerprint."""
        for path in self._path.glob(f"{_chat_name(chat_id)}-*{SUFFIX}"):
            self.delete(path)

    def delete_others(self, chat_ids: Collection[str]) -> None:
        """Delete the snapshots of all chats but these, whatever their fingerprint."""
        names = {_chat_name(chat_id) for chat_id in chat_ids}
        for path in self._path.glob(f"*{SUFFIX}"):
            if path.name.partition("-")[0] not in names:
                self.delete(path)

    def delete_all(self) -> None:
        """Delete every snapshot."""
        for path in self._path.glob(f"*{SUFFIX}"):
            self.delete(path)

    @property
    def n_bytes(self) -> int:
        """The bytes of all snapshots, whatever their fingerprint."""
        total = 0
        for path in self._path.glob(f"*{SUFFIX}"):
            with contextlib.suppress(OSError):
                total += path.stat().st_size
        return total


def _chat_name(chat_id: str) -> str:
    # An id is untrusted, so it is hashed and never part of a path.
    return hashlib.sha256(chat_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _last_use(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _open_private(path: Path) -> BinaryIO:
    """A new file that only its owner may read, locked until it is closed or its process has ended."""
    file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb")
    with contextlib.suppress(OSError):
        lock_descriptor(file.fileno(), blocking=False)
    return file


def _is_no_ones(part: Path) -> bool:
    """Whether no process writes the file any more; raises OSError where files can't be locked."""
    with part.open("r+b") as file:
        return lock_descriptor(file.fileno(), blocking=False)

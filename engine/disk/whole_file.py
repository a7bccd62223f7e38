"""Atomic file writes: the old content stays until the new one is complete."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

PREFIX, SUFFIX = ".kvasir-", ".part"
LEFT_AFTER_S = 3600.0
"""A part that nobody has written to for so long was left by a process that was killed."""


def write_whole(path: Path, pieces: Iterable[bytes], *, is_synced: bool = False) -> None:
    """Replace the file atomically; raises OSError, and whatever iterating ``pieces`` raises.

    With ``is_synced`` it is flushed to the disk first (fsync, slow), so that it survives a power failure.
    """
    _remove_left_behind(path.parent)
    descriptor, name = tempfile.mkstemp(SUFFIX, PREFIX, path.parent)
    part = Path(name)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - it is open already
            for piece in pieces:
                file.write(piece)
            if is_synced:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _remove_left_behind(folder: Path) -> None:
    for part in folder.glob(f"{PREFIX}*{SUFFIX}"):
        # Another process may be removing it at the same time.
        with contextlib.suppress(OSError):
            if time.time() - part.lstat().st_mtime > LEFT_AFTER_S:
                part.unlink()

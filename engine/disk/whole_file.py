"""Writes a file in one step: it is there when it is whole, or as it was before."""

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
    """Put a file in the place of what was there; raises OSError, and what making the pieces raises.

    With ``is_synced`` it outlives a loss of power too, for which the disk takes its time.
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

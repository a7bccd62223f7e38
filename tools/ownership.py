"""One process at a time: a lock file that the system lets go of when its owner dies.

By hand, since this runs before any package is installed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_SECONDS = 0.5


def _can_take(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def owning(path: Path, waiting: str) -> Iterator[None]:
    """Hold the lock file at `path`; while another process holds it, say `waiting` once and wait."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _can_take(descriptor):
            print(waiting, flush=True)
            while not _can_take(descriptor):
                time.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)  # which also lets go of the lock

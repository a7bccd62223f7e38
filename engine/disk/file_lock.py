"""A lock between processes that goes by a file; the system lets it go when its owner ends, however that happens."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextlib.contextmanager
def file_lock(path: Path) -> Iterator[bool]:
    """Hold the lock of a path while the block runs; False where somebody else holds it, also in this process.

    The file is there only while the lock is held. Where the file system knows no locks, nobody is kept out. Raises
    OSError where the file can't be made.
    """
    descriptor = _acquire(path)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        # Deleted before it is let go: who has opened it meanwhile sees that it is gone, and opens another one.
        # Windows deletes no open file: there it stays, which does no harm.
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _acquire(path: Path) -> int | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _lock(descriptor):
            os.close(descriptor)
            return None
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            return error.errno not in _BUSY
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno not in _BUSY
        return True

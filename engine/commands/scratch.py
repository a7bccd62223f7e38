"""The temporary folder of a command, for its engine's log."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_NAME = re.compile(r"kvasir-(\d{1,9})-\w+")
"""With the number of the process that made it, which no system takes larger."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder for the block; folders left by killed commands are removed first."""
    _remove_left_behind(Path(tempfile.gettempdir()))
    # Windows can't remove a log that is open elsewhere, e.g. in a virus scanner; the next start removes it.
    with tempfile.TemporaryDirectory(prefix=f"kvasir-{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _remove_left_behind(parent: Path) -> None:
    for folder in parent.glob("kvasir-*"):
        name = _NAME.fullmatch(folder.name)
        if name is not None and not psutil.pid_exists(int(name[1])) and _is_own_folder(folder):
            # Another command may be removing it at the same time.
            shutil.rmtree(folder, ignore_errors=True)


def _is_own_folder(path: Path) -> bool:
    """Whether it is a real folder of this user: anybody can create entries, links too, in the temporary folder."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (os.name != "posix" or status.st_uid == os.getuid())

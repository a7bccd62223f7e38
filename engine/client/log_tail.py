"""The end of an engine process's log."""

from __future__ import annotations

import os
from pathlib import Path

LOG_TAIL_BYTES = 16_384


def read_log_tail(path: Path) -> str:
    """The end of the engine's log file, or "" if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - LOG_TAIL_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""

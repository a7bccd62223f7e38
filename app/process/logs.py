"""Log files: the window's own, and one for each start of the engine."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import sys
from pathlib import Path

DEBUG_VARIABLE = "KVASIR_DEBUG"
"""Set to anything, it has the window say everything, on standard error too."""
LOGS_KEPT = 5
APP_LOG_BYTES = 1_000_000


class _WindowLog(logging.handlers.RotatingFileHandler):
    """What can't be written to it, on a full disk as a rule, is lost, and nothing else is."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Say nothing: the terminal is no place for it, and may be as full."""

    def close(self) -> None:
        """Close the file, which writes what is left once more."""
        with contextlib.suppress(OSError):
            super().close()


def prepare_logs(folder: Path) -> Path:
    """Make the folder, drop the oldest engine logs, write the window's log there; the path for the engine's log.

    A folder that can't be written to costs the logs and nothing else.
    """
    engine_log = folder / f"engine-{os.getpid()}.log"
    logger = logging.getLogger("kvasir")
    logger.setLevel(logging.INFO)
    if os.environ.get(DEBUG_VARIABLE):
        logger.setLevel(logging.DEBUG)
        _add(logger, logging.StreamHandler(sys.stderr))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = _WindowLog(
            folder / "window.log", maxBytes=APP_LOG_BYTES, backupCount=1, encoding="utf-8", errors="replace", delay=True
        )
    except OSError:
        return engine_log
    _add(logger, handler)
    _drop_old(folder)
    return engine_log


def close_logs() -> None:
    """Close the window's log."""
    logger = logging.getLogger("kvasir")
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
        handler.close()


def _add(logger: logging.Logger, handler: logging.Handler) -> None:
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)


def _drop_old(folder: Path) -> None:
    def age(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except OSError:
            return 0.0

    for path in sorted(folder.glob("engine-*.log"), key=age)[: -(LOGS_KEPT - 1)]:
        with contextlib.suppress(OSError):
            path.unlink()

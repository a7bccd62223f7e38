"""Says what is wrong with the disk that a model is brought to."""

from __future__ import annotations

import errno

from engine.api.errors import EngineError, ErrorCode

# Windows has no quotas of this name.
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


def disk_error(error: OSError, where: str) -> EngineError:
    """The EngineError for a file that could not be written."""
    if error.errno in _FULL:
        message = f"The disk with “{where}” is full: make room, then resume the download."
        return EngineError(ErrorCode.DISK_FULL, message, repr(error))
    why = error.strerror or type(error).__name__
    message = f"“{where}” can't be written: {why}. Check the disk and who may write there, then try again."
    return EngineError(ErrorCode.DISK_FAILED, message, repr(error))

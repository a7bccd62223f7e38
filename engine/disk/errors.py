"""Maps disk errors of downloads to EngineErrors."""

from __future__ import annotations

import errno

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say

# Windows doesn't define this errno.
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


def disk_error(error: OSError, where: str) -> EngineError:
    """The EngineError for a file that could not be written."""
    if error.errno in _FULL:
        message = say("The disk with “{0}” is full: make room, then resume the download.", where)
        return EngineError(ErrorCode.DISK_FULL, message, repr(error))
    why = error.strerror or type(error).__name__
    message = say("“{0}” can't be written: {1}. Check the disk and who may write there, then try again.", where, why)
    return EngineError(ErrorCode.DISK_FAILED, message, repr(error))

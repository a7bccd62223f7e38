"""The terminal that the window was started from, which may be full or gone: what it does not take is dropped."""

from __future__ import annotations

import contextlib
import os
import sys


def say(sentence: str) -> None:
    """Print a line for whoever started the window."""
    with contextlib.suppress(OSError, ValueError):
        print(sentence, file=sys.stderr, flush=True)


def flush() -> None:
    """Hand on what was printed; what can't be is given up, or Python would try again at its end and fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

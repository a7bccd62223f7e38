"""The standard streams of a process that was started without them."""

from __future__ import annotations

import os


def fill_closed_streams() -> None:
    """Open what a shell closed (``2>&-``), before anything else is opened.

    The next file or pipe would get its number, and native code prints into that.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number, which is this one; the engine's process needs it as well.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)

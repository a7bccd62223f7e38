"""Replaces missing standard streams of a process."""

from __future__ import annotations

import os


def fill_closed_streams() -> None:
    """Open standard streams that a shell closed (``2>&-``), before any other file is opened.

    Otherwise the next file or pipe gets their descriptor, and native code prints into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Opening takes the lowest free descriptor, which is this one; the engine's process inherits it.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)

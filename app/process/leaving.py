"""Ends the window's process although one that it started can't be ended."""

from __future__ import annotations

import multiprocessing
import os
import sys


def leave(exit_code: int) -> int:
    """The exit code, once everything is closed. Does not return where a process is left all the same.

    It sits in a driver that hangs, where no kill reaches it, and Python would wait for it for ever.
    """
    if multiprocessing.active_children():
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(exit_code)
    return exit_code

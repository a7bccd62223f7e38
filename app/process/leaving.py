"""Ends the window's process although one that it started, or a thread, can't be ended."""

from __future__ import annotations

import multiprocessing
import os
import threading

from app.process import terminal


def leave(exit_code: int) -> int:
    """The exit code, once everything is closed. Does not return where a process or a thread is left all the same.

    It sits in a driver or a disk that hangs, where nothing reaches it, and Python would wait for it for ever.
    """
    terminal.flush()
    if multiprocessing.active_children() or _threads_left():
        os._exit(exit_code)
    return exit_code


def _threads_left() -> bool:
    us = (threading.main_thread(), threading.current_thread())
    return any(not thread.daemon and thread not in us for thread in threading.enumerate())

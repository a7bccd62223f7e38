"""Ends a process together with its parent."""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing import connection


def end_with_parent() -> None:
    """Watch the parent in a thread, since native code and endless templates never check the pipe."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), name="parent-watch", daemon=True).start()


def _end_with(parent: int) -> None:
    connection.wait([parent])
    os._exit(1)

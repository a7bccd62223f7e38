"""A process that ends together with the one that started it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing import connection


def end_with_parent() -> None:
    """The pipe shows a parent that died only to who looks; native code and endless templates don't."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), name="parent-watch", daemon=True).start()


def _end_with(parent: int) -> None:
    connection.wait([parent])
    os._exit(1)

"""Ctrl+C in the terminal and a polite request to end close the window, as its own button does; a second one ends it."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, Qt, Signal

GRACE_S = 30.0
"""What closing may take: more than all that is waited for together. After that the process ends as it is."""
HANG_UP_S = 1.0
"""How long a hang-up repeats the first request: a shell sends one after that of its terminal, systemd after SIGTERM."""


class _Asked(QObject):
    """Carries the request from the thread that hears of it to that of the window."""

    to_close = Signal()


@contextmanager
def closing_on_signals(close: Callable[[], object]) -> Iterator[None]:
    """Call ``close`` on SIGINT, SIGTERM and SIGHUP, from the event loop; the next one ends the process at once.

    The exit code is then 128 and the signal's number, as it is where closing takes longer than GRACE_S. A thread hears
    of signals: Python's own handlers would wait for the main thread, which may be busy in Qt or in what hangs.
    """
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    asked = _Asked()
    asked.to_close.connect(close, Qt.ConnectionType.QueuedConnection)
    watcher = threading.Thread(target=_watch, args=(ours, asked), name="signals", daemon=True)
    watcher.start()
    # First of all, or a signal that comes in between would be swallowed.
    wakeup_before = signal.set_wakeup_fd(theirs.fileno())
    # The handler itself has nothing to do: that there was a signal arrives through the socket.
    before = {number: signal.signal(number, lambda *_: None) for number in _numbers()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup_before)
        theirs.close()
        watcher.join()
        ours.close()


def _numbers() -> list[signal.Signals]:
    """The signals that ask to end; a window that was started with nohup outlives its terminal."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN:
        numbers.append(hang_up)
    return numbers


def _watch(ours: socket.socket, asked: _Asked) -> None:
    first = ours.recv(1)
    if not first:
        return
    asked.to_close.emit()
    began = time.monotonic()
    while (left := began + GRACE_S - time.monotonic()) > 0:
        ours.settimeout(left)
        try:
            number = ours.recv(1)
        except TimeoutError:
            break
        if not number:
            return
        if number[0] != getattr(signal, "SIGHUP", None) or time.monotonic() - began > HANG_UP_S:
            break
    os._exit(128 + first[0])

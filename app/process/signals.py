"""Ctrl+C in the terminal and a polite request to end close the window, as its own button does."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QSocketNotifier


@contextmanager
def closing_on_signals(close: Callable[[], object]) -> Iterator[None]:
    """Call ``close`` on SIGINT and SIGTERM while the event loop runs; Python alone would not notice before it ends."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read)

    def on_wake() -> None:
        ours.recv(4096)
        close()

    notifier.activated.connect(on_wake)
    numbers = (signal.SIGINT, signal.SIGTERM)
    # The handler itself has nothing to do: that there was a signal arrives through the socket.
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    wakeup_before = signal.set_wakeup_fd(theirs.fileno())
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup_before)
        for number, handler in before.items():
            signal.signal(number, handler)
        notifier.setEnabled(False)
        ours.close()
        theirs.close()

"""Reports exceptions that end a thread, in the log and in the window."""

from __future__ import annotations

import contextlib
import logging
import threading
import traceback

from PySide6.QtCore import QObject, Qt, Signal

log = logging.getLogger("kvasir")


class ThreadFailures(QObject):
    """``failed`` carries what happened, for who looks closer; on the thread that this object belongs to."""

    failed = Signal(str)
    _came = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._came.connect(self.failed, Qt.ConnectionType.QueuedConnection)

    def on_exception(self, failure: threading.ExceptHookArgs) -> None:
        """To be Python's hook for what nobody caught in a thread."""
        if failure.exc_type is SystemExit:
            return
        name = failure.thread.name if failure.thread is not None else "a thread"
        trace = traceback.format_exception(failure.exc_type, failure.exc_value, failure.exc_traceback)
        text = f"{name}: {''.join(trace)}"
        log.error("%s", text)
        # At the very end there is nobody left to tell.
        with contextlib.suppress(RuntimeError):
            self._came.emit(text)

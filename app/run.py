"""The life of the window's process: from the first object to the last log line."""

from __future__ import annotations

import logging
import sys
import threading
import time

from PySide6.QtWidgets import QApplication

from app.process.leaving import leave
from app.process.logs import close_logs
from app.process.no_screen import ending_where_qt_aborts
from app.process.one_window import FirstWindow
from app.process.options import Options
from app.process.signals import closing_on_signals
from app.process.stalls import StallWatch
from app.program import Program

log = logging.getLogger("kvasir")


def run(options: Options, first: FirstWindow) -> int:
    """Open the window on the data folder that it owns, and stay until it is closed; the exit code."""
    with ending_where_qt_aborts():
        app = QApplication([sys.argv[0]])
    app.setApplicationName("kvasir")
    app.setApplicationDisplayName("Kvasir")
    app.setDesktopFileName("kvasir")
    program = Program(app, options)
    sys.excepthook, threading.excepthook = program.on_exception, program.thread_failures.on_exception
    StallWatch(app)
    program.window.closing.connect(first.stop_listening)

    def end() -> None:
        program.window.close()
        # Also where another window stays open, or a dialog that does not want to close.
        app.exit()

    with closing_on_signals(end):
        try:
            program.show()
            first.listen(program.starts.hear)
            exit_code = app.exec() or program.exit_code
        finally:
            # The folder itself is let go by the system, when nothing of this process can write there any more.
            first.stop_listening()
            _close(program)
    return leave(exit_code)


def _close(program: Program) -> None:
    """Close everything; what can't be closed is logged, and stops neither the rest nor the end."""
    sys.excepthook, threading.excepthook = sys.__excepthook__, threading.__excepthook__
    began = time.monotonic()
    try:
        program.close()
    except Exception:
        log.exception("Not everything could be closed")
    log.info("Everything was closed in %.0f ms", (time.monotonic() - began) * 1000)
    close_logs()

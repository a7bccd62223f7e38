"""Says in one sentence why no window can be opened, where Qt would abort."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QMessageLogContext, QtMsgType, qFormatLogMessage, qInstallMessageHandler

from app.process import terminal

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
"""Variables of which one is set wherever there is a screen on Linux, or something in its place."""


@contextmanager
def ending_where_qt_aborts() -> Iterator[None]:
    """While the application object is made: what is fatal to Qt ends the process with 1 instead of a core dump."""
    said: list[tuple[str, str]] = []

    def on_message(kind: QtMsgType, context: QMessageLogContext, text: str | None) -> None:
        if kind is QtMsgType.QtFatalMsg:
            terminal.say(why_no_window([plain for plain, _line in said], os.environ))
            # Back in Qt it would abort.
            os._exit(1)
        said.append((text or "", qFormatLogMessage(kind, context, text or "")))

    before = qInstallMessageHandler(on_message)
    try:
        yield
    finally:
        qInstallMessageHandler(before)
        for _plain, line in said:
            terminal.say(line)


def why_no_window(warnings: Sequence[str], environment: Mapping[str, str]) -> str:
    """The sentence for the terminal; ``warnings`` are what Qt said before it gave up."""
    if sys.platform == "linux" and not any(environment.get(name) for name in SCREENS):
        return (
            "kvasir: there is no screen to open a window on (DISPLAY and WAYLAND_DISPLAY are not set). Start it in a "
            "desktop session; the command line kvasir-engine needs none."
        )
    details = " ".join(" ".join(warnings).split()) or "Qt says no more"
    return f"kvasir: no window can be opened on this screen. Check DISPLAY and Qt's libraries: {details}"

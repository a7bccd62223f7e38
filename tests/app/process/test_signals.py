"""A window's process that is asked to end, while it does all kinds of things, with terminals that take nothing."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals close a window on Unix")

ROOT = Path(__file__).parents[3]
TOO_LONG_S = 60

WINDOW = """
import contextlib, os, sys, threading, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QMessageBox, QWidget
from app.process import terminal
from app.process.leaving import leave
from app.process.signals import closing_on_signals

ready = int(sys.argv[1])
app = QApplication(["kvasir"])
window = QMainWindow()

def tell():
    os.write(ready, b".")

def end():
    window.close()
    app.exit()

def message():
    box = QMessageBox(window)
    for word in ("one", "two"):
        # Without a button for Escape, it refuses to close.
        box.addButton(word, QMessageBox.ButtonRole.AcceptRole)
    QTimer.singleShot(0, tell)
    box.exec()

def menu():
    shown = QMenu(window)
    shown.addAction("one")
    QTimer.singleShot(0, tell)
    shown.exec()

def another_window():
    global other
    window.close()
    other = QWidget()
    other.show()
    tell()

def busy():
    tell()
    end_at = time.monotonic() + 60
    while time.monotonic() < end_at:
        pass

def thread_stays():
    threading.Thread(target=time.sleep, args=(60,)).start()
    tell()

def print_something():
    # The first stays in a buffer until the end.
    with contextlib.suppress(OSError):
        print("something")
    terminal.say("something else")
    tell()

with closing_on_signals(end):
    window.show()
    QTimer.singleShot(0, globals()[sys.argv[2]])
    code = app.exec()
raise SystemExit(leave(code))
"""

Window = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Window]:
    """Opens a window in a process of its own and waits until it does what it is to do."""
    (tmp_path / "window.py").write_text(WINDOW)
    opened: list[subprocess.Popen[bytes]] = []

    def open_window(does: str, **options: object) -> subprocess.Popen[bytes]:
        ready, theirs = os.pipe()
        command: Sequence[str] = [sys.executable, str(tmp_path / "window.py"), str(theirs), does]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
        # As where it is started by hand, also if the tests run under nohup.
        options.setdefault("preexec_fn", lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        opened.append(subprocess.Popen(command, env=environment, pass_fds=(theirs,), **options))
        os.close(theirs)
        with os.fdopen(ready, "rb") as end:
            assert select.select([end], [], [], TOO_LONG_S)[0]
            assert end.read(1) == b"."
        return opened[-1]

    yield open_window
    for one in opened:
        one.kill()
        one.wait()


@pytest.mark.parametrize(
    ("does", "number"),
    [
        ("tell", signal.SIGTERM),
        ("message", signal.SIGINT),
        ("menu", signal.SIGHUP),
        ("another_window", signal.SIGTERM),
    ],
)
def test_it_ends_whatever_else_is_open(window: Window, does: str, number: signal.Signals) -> None:
    one = window(does)
    one.send_signal(number)
    assert one.wait(TOO_LONG_S) == 0


def test_it_ends_with_its_output_on_a_full_device(window: Window) -> None:
    with Path("/dev/full").open("w") as full:
        one = window("print_something", stdout=full, stderr=full)
    one.send_signal(signal.SIGTERM)
    assert one.wait(TOO_LONG_S) == 0


def test_a_thread_that_hangs_is_not_waited_for(window: Window) -> None:
    one = window("thread_stays")
    one.send_signal(signal.SIGTERM)
    assert one.wait(TOO_LONG_S) == 0


def test_a_second_one_ends_it_at_once(window: Window) -> None:
    one = window("busy")
    one.send_signal(signal.SIGTERM)
    one.send_signal(signal.SIGINT)
    assert one.wait(TOO_LONG_S) in (128 + signal.SIGTERM, 128 + signal.SIGINT)


def test_a_hang_up_said_twice_still_closes_the_window(window: Window) -> None:
    one = window("tell")
    one.send_signal(signal.SIGHUP)
    one.send_signal(signal.SIGHUP)
    assert one.wait(TOO_LONG_S) == 0


def test_under_nohup_a_hang_up_is_nothing(window: Window) -> None:
    one = window("tell", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    one.send_signal(signal.SIGHUP)
    one.send_signal(signal.SIGTERM)
    assert one.wait(TOO_LONG_S) == 0

"""A thread that ends by a mistake is told, in the log and in the window."""

from __future__ import annotations

import threading

import pytest

from app.process.thread_failures import ThreadFailures


@pytest.mark.expected_log("(?s)some-service: .*ZeroDivisionError")
def test_a_mistake_in_a_thread_is_told_on_the_windows_thread(qtbot, monkeypatch):
    failures = ThreadFailures()
    monkeypatch.setattr(threading, "excepthook", failures.on_exception)
    heard = []
    failures.failed.connect(lambda text: heard.append((text, threading.current_thread().name)))
    thread = threading.Thread(target=lambda: 1 // 0, name="some-service")
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: heard != [])
    assert "ZeroDivisionError" in heard[0][0]
    assert heard[0][1] == "MainThread"


def test_a_thread_may_end_itself(qapp, monkeypatch):
    failures = ThreadFailures()
    heard = []
    failures.failed.connect(heard.append)
    monkeypatch.setattr(threading, "excepthook", failures.on_exception)
    thread = threading.Thread(target=lambda: exec("raise SystemExit"))
    thread.start()
    thread.join()
    qapp.processEvents()
    assert heard == []

"""Collecting streamed text."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.transcript.stream import TextCoalescer


def test_pieces_are_handed_on_together_and_in_order(qtbot):
    seen: list[tuple[str, str, str]] = []
    parent = QObject()
    coalescer = TextCoalescer(lambda *args: seen.append(args), parent)
    for piece in "abc":
        coalescer.add("x", piece)
    coalescer.add("x", reasoning="why")
    coalescer.add("y", "other")
    assert seen == []
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen == [("x", "abc", "why"), ("y", "other", "")]


def test_what_waits_can_be_flushed_or_forgotten(qtbot):
    seen: list[tuple[str, str, str]] = []
    parent = QObject()
    coalescer = TextCoalescer(lambda *args: seen.append(args), parent)
    coalescer.add("x", "a")
    coalescer.flush_now()
    coalescer.add("x", "b")
    coalescer.forget()
    coalescer.flush_now()
    assert seen == [("x", "a", "")]

"""Cancellation checks of long operations."""

from __future__ import annotations

from collections.abc import Callable

Look = Callable[[], None]
"""A cancellation check, called between two steps; it cancels by raising an exception."""


class Interrupted(Exception):
    """The operation was cancelled."""


def look_nowhere() -> None:
    """A check that never cancels."""


def looking(is_unwanted: Callable[[], bool]) -> Look:
    """A check that raises Interrupted when ``is_unwanted`` returns True."""

    def look() -> None:
        if is_unwanted():
            raise Interrupted

    return look

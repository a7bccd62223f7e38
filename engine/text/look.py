"""How long work notices between its steps that it is not wanted any more."""

from __future__ import annotations

from collections.abc import Callable

Look = Callable[[], None]
"""Asked between two steps; ends the work by an exception of its own choice."""


class Interrupted(Exception):
    """What was asked for is not wanted any more."""


def look_nowhere() -> None:
    """For work that nobody interrupts."""


def looking(is_unwanted: Callable[[], bool]) -> Look:
    """A look that raises Interrupted."""

    def look() -> None:
        if is_unwanted():
            raise Interrupted

    return look

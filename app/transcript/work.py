"""How much is read and laid out in one turn of the event loop; the rest waits for the next."""

from __future__ import annotations

MOST = 8_000
"""Characters laid out, which take about 25 ms, and reading as many as that."""


class Work:
    """What may still be done. The first thing always may, or nothing would ever be done."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._done = 0
        self.is_left_over = False

    def may_do(self, cost: int) -> bool:
        """Whether something may be done now; then it counts as done."""
        if self._done and self._done + cost > self._most:
            self.is_left_over = True
            return False
        self._done += cost
        return True

"""A patience that is short once: a test needs not wait, and a slow machine has time for what comes after."""

from __future__ import annotations

from tests.engine.client.listener import PATIENCE_S

SHORT_S = 0.2


class FirstShort:
    """Seconds to add to a moment, ``n_short`` times few."""

    def __init__(self, n_short: int = 1) -> None:
        self.n_short = n_short

    def __radd__(self, moment: float) -> float:
        if self.n_short == 0:
            return moment + PATIENCE_S
        self.n_short -= 1
        return moment + SHORT_S

"""Hears a client's events in a test, and waits for the one that matters."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import TypeVar

from engine.api.messages import Event

PATIENCE_S = 60.0
"""A test that waits this long has failed; machines that test are slow."""

_E = TypeVar("_E", bound=Event)


class Listener:
    """Give `hear` to a client; `events` are all that came so far, in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._queue: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._n_passed = 0

    def hear(self, event: Event) -> None:
        self._queue.put(event)

    def wait(self, kind: type[_E], where: Callable[[_E], bool] = lambda _event: True) -> _E:
        """The next event of this kind that has not been waited for yet; what came before it is passed over."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            while self._n_passed < len(self.events):
                event = self.events[self._n_passed]
                self._n_passed += 1
                if isinstance(event, kind) and where(event):
                    return event
            try:
                self.events.append(self._queue.get(timeout=max(0.0, deadline - time.monotonic())))
            except queue.Empty:
                raise AssertionError(f"no {kind.__name__} in {[type(e).__name__ for e in self.events]}") from None

    def wait_for_answer(self, request_id: int) -> Event:
        """The event that ends a request."""
        return self.wait(Event, lambda event: request_id in answered_by(event))

    def drain(self) -> list[Event]:
        """Everything that came so far; `wait` still finds what it has not passed."""
        while not self._queue.empty():
            self.events.append(self._queue.get())
        return self.events

    def of(self, kind: type[_E]) -> list[_E]:
        return [event for event in self.drain() if isinstance(event, kind)]


def answered_by(event: Event) -> tuple[int | None, ...]:
    """The requests that an event ends."""
    name = type(event).__name__
    if name == "EngineLost":
        return event.request_ids  # type: ignore[attr-defined, no-any-return]
    if name in ("Finished", "Failed", "ModelLoaded", "LoadCancelled", "TokensCounted", "ChatRestored"):
        return (event.request_id,)  # type: ignore[attr-defined]
    return ()

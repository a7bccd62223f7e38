"""Work in the background: it runs in a thread, and its result arrives on the window's thread."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from engine.api.errors import EngineError, mistakes_as_errors

T = TypeVar("T")


class Background(QObject):
    """Each job has a thread of its own, called ``name``.

    They are daemons: a server or a drive that does not answer must not hold up the end of the program.
    """

    _posted = Signal(object, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._threads: list[threading.Thread] = []
        self._newest = 0
        self._is_closed = False
        self._posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)

    def run(self, work: Callable[[], object]) -> None:
        """Run ``work`` in a thread."""
        thread = threading.Thread(target=work, name=self._name, daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()

    def ask(self, work: Callable[[], T], then: Callable[[T], object], failed: Callable[[EngineError], object]) -> None:
        """Run ``work``, then one of the others with its result, or with its error: a mistake is an internal one."""

        def do() -> None:
            try:
                with mistakes_as_errors():
                    found = work()
            except EngineError as error:
                self.post(failed, error)
            else:
                self.post(then, found)

        self.run(do)

    def ask_newest(
        self, work: Callable[[], T], then: Callable[[T], object], failed: Callable[[EngineError], object]
    ) -> None:
        """Like `ask`, but nothing is heard of what was asked so before."""
        self._newest += 1
        number = self._newest

        def if_newest(do: Callable[[Any], object], value: object) -> None:
            if number == self._newest:
                do(value)

        self.ask(work, lambda found: if_newest(then, found), lambda error: if_newest(failed, error))

    def post(self, do: Callable[..., object], *values: object) -> None:
        """Call this on the window's thread; may be called from any."""
        # At the very end there is nobody left to tell.
        with contextlib.suppress(RuntimeError):
            self._posted.emit(do, values)

    def close(self, timeout_s: float = 0.0) -> None:
        """Wait at most so long for what is under way; no result arrives after this."""
        self._is_closed = True
        end = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _on_posted(self, do: Callable[..., object], values: tuple[object, ...]) -> None:
        if not self._is_closed:
            do(*values)

"""Keeps the scroll bar of the transcript true: it follows the end, or holds still what the reader looks at."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QAbstractScrollArea

from app.transcript.column import TurnColumn
from app.transcript.documents import DocumentFactory
from app.transcript.work import Work

# Corrected heights may bring further turns onto the screen; more rounds than this never settle anything.
_MAX_ROUNDS = 6
_AT_END = 4


class Scroller(QObject):
    """Lays out what is on the screen and moves the scroll bar with it; y is the column's."""

    following_changed = Signal(bool)

    def __init__(self, area: QAbstractScrollArea, column: TurnColumn) -> None:
        super().__init__(area)
        self._area = area
        self._bar = area.verticalScrollBar()
        self._column = column
        self._factory: DocumentFactory | None = None
        self._is_settling = False
        self.is_following = True
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(area.viewport().update)
        self._bar.valueChanged.connect(self._on_scrolled)

    @property
    def top(self) -> int:
        """What is at the upper edge of the screen."""
        return self._bar.value()

    @property
    def screen(self) -> int:
        """The height of what can be seen."""
        return self._area.viewport().height()

    def set_factory(self, factory: DocumentFactory, line_height: int) -> None:
        """Take what makes documents, and the height of a line to scroll by."""
        self._factory = factory
        self._bar.setSingleStep(line_height * 2)

    def follow(self, is_following: bool) -> None:
        """Follow the end, or let go of it."""
        if is_following != self.is_following:
            self.is_following = is_following
            self.following_changed.emit(is_following)

    def scroll_to(self, y: float) -> None:
        """Bring `y` to the upper edge."""
        self._bar.setValue(round(y))

    def settle(self) -> None:
        """Lay out what is on the screen; while heights are corrected, what was laid out keeps its place."""
        if self._is_settling or self._factory is None:
            return
        self._is_settling = True
        work = Work()
        for _ in range(_MAX_ROUNDS):
            self._update_range()
            if self.is_following:
                self._bar.setValue(self._bar.maximum())
            changed, shift = self._column.lay_out(self.top, self.top + self.screen, self._factory, work)
            if not changed:
                break
            if not self.is_following and shift:
                self._update_range()
                self._bar.setValue(self.top + round(shift))
        self._is_settling = False
        self._column.trim()
        if work.is_left_over:
            # Painting settles, and so goes on with it.
            self._next.start(0)

    def look_again(self) -> None:
        """Follow if the end is on the screen, as after scrolling by hand."""
        self.follow(self._bar.value() >= self._bar.maximum() - _AT_END)
        self.settle()

    def reflow(self, change: Callable[[], None]) -> None:
        """Make a change to all heights, and keep the same part of the same turn at the upper edge."""
        index = self._column.at(self.top)
        share = 0.0
        if index is not None:
            share = (self.top - self._column.top(index)) / max(1.0, self._column.views[index].height)
        change()
        if index is not None and not self.is_following:
            self._is_settling = True
            self._update_range()
            self.scroll_to(self._column.top(index) + share * self._column.views[index].height)
            self._is_settling = False
        self.settle()

    def _update_range(self) -> None:
        self._bar.setPageStep(self.screen)
        self._bar.setRange(0, max(0, round(self._column.total()) - self.screen))

    def _on_scrolled(self) -> None:
        if not self._is_settling:
            self.look_again()

"""The live cache panel: memory, cells, the last request and the last minutes, one below the other."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.cache.cells_section import CellsSection, TextOf
from app.cache.facts import CacheFacts
from app.cache.kv_section import KvSection
from app.cache.memory_bars import MemoryBars
from app.cache.progress_section import ProgressSection
from app.cache.request_section import RequestSection
from app.cache.timeline import Timeline
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from engine.api.messages import CacheChanged, EngineLost, Event, ModelLoaded, ModelUnloaded
from engine.devices import DeviceSample


class CachePanel(Retranslating, QScrollArea):
    """``take`` feeds it every event of the engine, ``show_samples`` what the devices look like.

    While nobody can see it, it only takes note. ``looked_at`` tells whether the memory bars can be seen;
    ``span_pressed`` carries the Span of a cell that was pressed.
    """

    looked_at = Signal(bool)
    span_pressed = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cachePanel")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._theme = theme
        self._facts = CacheFacts()
        self._progress = ProgressSection()
        self._memory = MemoryBars(theme)
        self._cells = CellsSection(theme)
        self._request = RequestSection(theme)
        self._timeline = Timeline(theme)
        self._kv = KvSection(theme)
        self._timeline_heading = QLabel()
        self._timeline_heading.setProperty("level", "heading")
        self._lay_out()
        self._memory.looked_at.connect(self.looked_at)
        self._cells.pressed.connect(self.span_pressed)
        self.retranslate()

    def _lay_out(self) -> None:
        content = QWidget()
        content.setProperty("surface", "side")
        column = QVBoxLayout(content)
        column.setContentsMargins(20, 14, 16, 20)
        column.setSpacing(8)
        column.addWidget(self._progress)
        column.addWidget(self._memory)
        column.addWidget(_line())
        column.addWidget(self._cells)
        column.addWidget(_line())
        column.addWidget(self._request)
        column.addWidget(_line())
        column.addWidget(self._timeline_heading)
        column.addWidget(self._timeline)
        column.addWidget(_line())
        column.addWidget(self._kv)
        column.addStretch()
        self.setWidget(content)

    @property
    def facts(self) -> CacheFacts:
        """What is shown."""
        return self._facts

    def set_text_of(self, text_of: TextOf) -> None:
        """Where the words of a cell come from."""
        self._cells.text_of = text_of

    def take(self, event: Event) -> None:
        """Follow an event of the engine."""
        if isinstance(event, CacheChanged):
            self._timeline.add(event.usage)
        elif isinstance(event, ModelLoaded | ModelUnloaded | EngineLost):
            self._timeline.clear()
        self._show(self._facts.after(event))

    def show_chat(self, chat_id: str) -> None:
        """Which chat is open."""
        self._cells.show_chat(chat_id)

    def show_samples(self, samples: tuple[DeviceSample, ...]) -> None:
        """What the devices look like now."""
        self._memory.show_samples(samples)

    def _show(self, facts: CacheFacts) -> None:
        if facts != self._facts:
            self._facts = facts
            if self.isVisible():
                self._render()

    def _render(self) -> None:
        facts = self._facts
        self._memory.show_held(facts.model.devices if facts.model is not None else ())
        self._progress.show_facts(facts)
        self._cells.show_facts(facts)
        self._request.show_facts(facts)
        self._kv.show_facts(facts)

    def showEvent(self, event: QShowEvent) -> None:
        """Bring it up to date after it was hidden."""
        super().showEvent(event)
        self._render()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Cache"))
        self.setAccessibleName(self.tr("Cache"))
        self._timeline_heading.setText(self.tr("Last five minutes"))


def _line() -> QFrame:
    line = QFrame()
    line.setObjectName("panelLine")
    line.setFixedHeight(17)
    return line

"""The cache in numbers: what is used, what it costs, what was reused, and how fast it went."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QProgressBar, QScrollArea, QVBoxLayout, QWidget

from app import i18n
from app.theme import Theme
from engine.messages import (
    CacheChanged,
    CacheUsage,
    EngineLost,
    Event,
    Finished,
    GenerationStats,
    ModelFacts,
    ModelLoaded,
    ModelUnloaded,
    PrefillProgress,
    TextGenerated,
)

NOTHING = "–"


@dataclass(frozen=True)
class CacheFacts:
    """What was last heard of the cache; None where nothing was heard yet."""

    model: ModelFacts | None = None
    usage: CacheUsage | None = None
    stats: GenerationStats | None = None
    prefill: PrefillProgress | None = None

    def after(self, event: Event) -> CacheFacts:
        """The facts once this has happened."""
        if isinstance(event, ModelLoaded):
            return CacheFacts(model=event.facts)
        if isinstance(event, ModelUnloaded | EngineLost):
            return CacheFacts(stats=self.stats)
        if isinstance(event, CacheChanged):
            return replace(self, usage=event.usage)
        if isinstance(event, PrefillProgress):
            return replace(self, prefill=event if event.n_done < event.n_total else None)
        if isinstance(event, TextGenerated) and self.prefill is not None:
            return replace(self, prefill=None)
        if isinstance(event, Finished):
            return replace(self, stats=event.stats, prefill=None)
        return self

    @property
    def n_cells(self) -> int:
        """Cells there are: those of the cache if it was heard of, else those that the model was loaded with."""
        if self.usage is not None:
            return self.usage.n_cells
        return self.model.n_ctx if self.model is not None else 0

    @property
    def allocated_bytes(self) -> int:
        """Bytes of K and V, all cells."""
        if self.usage is not None:
            return self.usage.allocated_bytes
        return self.model.kv_k_bytes + self.model.kv_v_bytes if self.model is not None else 0


class CachePanel(QScrollArea):
    """Shows CacheFacts; ``take`` feeds it every event of the engine."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cachePanel")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._theme = theme
        self._facts = CacheFacts()
        self._headings: dict[str, QLabel] = {}
        self._names: dict[str, QLabel] = {}
        self._values: dict[str, QLabel] = {}
        self._cells = QLabel(NOTHING)
        self._cells.setObjectName("cellsUsed")
        self._cells.setProperty("level", "number")
        self._cells_of = QLabel()
        self._cells_of.setProperty("level", "meta")
        self._cells_share = QLabel()
        self._cells_share.setProperty("level", "meta")
        self._bar = QProgressBar()
        self._bar.setObjectName("cellsBar")
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._reading = QLabel()
        self._reading.setObjectName("prefillText")
        self._reading.setProperty("level", "meta")
        self._reading_bar = QProgressBar()
        self._reading_bar.setObjectName("prefillBar")
        self._reading_bar.setTextVisible(False)
        self._reading_bar.setRange(0, 1000)
        self._lay_out()
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.retranslate()

    def take(self, event: Event) -> None:
        """Follow an event of the engine."""
        facts = self._facts.after(event)
        if facts != self._facts:
            self._facts = facts
            self._render()

    def clear(self) -> None:
        """A new chat: the model stays, what was used does not."""
        self._facts = CacheFacts(model=self._facts.model)
        self._render()

    def _lay_out(self) -> None:
        content = QWidget()
        content.setProperty("surface", "side")
        column = QVBoxLayout(content)
        column.setContentsMargins(20, 12, 20, 20)
        column.setSpacing(8)
        column.addWidget(self._heading("cells"))
        big = QGridLayout()
        big.setHorizontalSpacing(8)
        baseline = Qt.AlignmentFlag.AlignBottom
        big.addWidget(self._cells, 0, 0, baseline)
        big.addWidget(self._cells_of, 0, 1, baseline)
        big.addWidget(self._cells_share, 0, 2, baseline | Qt.AlignmentFlag.AlignRight)
        big.setColumnStretch(1, 1)
        self._cells_of.setContentsMargins(0, 0, 0, 5)
        self._cells_share.setContentsMargins(0, 0, 0, 5)
        column.addLayout(big)
        column.addWidget(self._bar)
        column.addSpacing(4)
        column.addLayout(self._rows("sinks", "evicted", "reused"))
        column.addWidget(self._reading)
        column.addWidget(self._reading_bar)
        column.addWidget(self._line())
        column.addWidget(self._heading("memory"))
        column.addLayout(self._rows("kv_used", "kv_allocated", "per_token", "type_k", "type_v", "flash"))
        column.addWidget(self._line())
        column.addWidget(self._heading("speed"))
        column.addLayout(self._tiles("decode", "prefill", "first", "share"))
        column.addStretch()
        self.setWidget(content)

    def _heading(self, name: str) -> QLabel:
        label = QLabel()
        label.setProperty("level", "heading")
        self._headings[name] = label
        return label

    def _line(self) -> QFrame:
        line = QFrame()
        line.setObjectName("panelLine")
        line.setFixedHeight(17)
        return line

    def _rows(self, *names: str) -> QGridLayout:
        grid = QGridLayout()
        grid.setVerticalSpacing(6)
        for row, name in enumerate(names):
            grid.addWidget(self._name(name, "row"), row, 0)
            grid.addWidget(self._value(name), row, 1, Qt.AlignmentFlag.AlignRight)
        grid.setColumnStretch(0, 1)
        return grid

    def _tiles(self, *names: str) -> QGridLayout:
        grid = QGridLayout()
        grid.setVerticalSpacing(0)
        for index, name in enumerate(names):
            row, column = divmod(index, 2)
            grid.addWidget(self._name(name, "meta"), 3 * row, column)
            grid.addWidget(self._value(name), 3 * row + 1, column)
            self._values[name].setProperty("level", "tile")
            self._values[name].setTextFormat(Qt.TextFormat.RichText)
            grid.setRowMinimumHeight(3 * row + 2, 10)
            grid.setColumnStretch(column, 1)
        return grid

    def _name(self, name: str, level: str) -> QLabel:
        label = QLabel()
        label.setProperty("level", level)
        self._names[name] = label
        return label

    def _value(self, name: str) -> QLabel:
        label = QLabel(NOTHING)
        label.setObjectName(f"cache_{name}")
        label.setProperty("level", "value")
        self._values[name] = label
        return label

    def _on_theme_changed(self) -> None:
        sizes = self._theme.sizes
        self._cells.setFont(self._theme.font(sizes.number, 600, tabular=True))
        for label in self._values.values():
            is_tile = label.property("level") == "tile"
            label.setFont(self._theme.font(sizes.title + 3 if is_tile else sizes.ui, 500, tabular=True))
        self._render()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Cache"))
        self.setAccessibleName(self.tr("Cache"))
        for name, text in {
            "cells": self.tr("Cells"),
            "memory": self.tr("KV memory"),
            "speed": self.tr("Speed of the last answer"),
        }.items():
            self._headings[name].setText(text)
        for name, (text, tip) in self._row_words().items():
            self._names[name].setText(text)
            self._names[name].setToolTip(tip)
            self._values[name].setToolTip(tip)
        self._bar.setAccessibleName(self.tr("Cells used"))
        self._reading_bar.setAccessibleName(self.tr("Prompt read"))
        self._render()

    def _row_words(self) -> dict[str, tuple[str, str]]:
        return {
            "sinks": (self.tr("Sinks"), self.tr("First tokens, never evicted; they hold the quality")),
            "evicted": (self.tr("Evicted"), self.tr("Tokens that lost their cells; the model no longer sees them")),
            "reused": (self.tr("Reused"), self.tr("Prompt tokens that were in the cache already and cost nothing")),
            "kv_used": (self.tr("Used"), self.tr("Bytes of K and V in the cells in use")),
            "kv_allocated": (self.tr("Allocated"), self.tr("Bytes of K and V for all cells, used or not")),
            "per_token": (self.tr("Per token"), self.tr("Bytes of K and V for one token, over all layers")),
            "type_k": (self.tr("K type"), self.tr("How keys are stored; q8_0 takes about half of f16")),
            "type_v": (self.tr("V type"), self.tr("How values are stored; a quantized V needs flash attention")),
            "flash": (self.tr("Flash attention"), self.tr("Attention without the large score matrix")),
            "decode": (self.tr("Answer"), self.tr("Tokens written per second")),
            "prefill": (self.tr("Prompt"), self.tr("Prompt tokens read per second")),
            "first": (self.tr("First token"), self.tr("Time from the request to the first token")),
            "share": (self.tr("Reused"), self.tr("Share of the prompt that was in the cache already")),
        }

    def _render(self) -> None:
        facts, usage = self._facts, self._facts.usage
        n_cells, n_used = facts.n_cells, usage.n_used if usage else 0
        self._cells.setText(i18n.number(n_used) if n_cells else NOTHING)
        self._cells_of.setText(self.tr("of {0} cells").format(i18n.number(n_cells)) if n_cells else "")
        self._cells_share.setText(i18n.percent(n_used / n_cells) if n_cells else "")
        self._bar.setValue(round(1000 * n_used / n_cells) if n_cells else 0)
        self._set("sinks", i18n.number(usage.n_sink) if usage else NOTHING)
        self._set("evicted", i18n.number(usage.n_evicted) if usage else NOTHING)
        self._set("kv_used", i18n.bytes_text(usage.used_bytes) if usage else NOTHING)
        self._set("kv_allocated", i18n.bytes_text(facts.allocated_bytes) if n_cells else NOTHING)
        model = facts.model
        self._set("per_token", i18n.bytes_text(model.kv_bytes_per_token) if model else NOTHING)
        self._set("type_k", model.type_k if model else NOTHING)
        self._set("type_v", model.type_v if model else NOTHING)
        self._set("flash", (self.tr("on") if model.flash_attn else self.tr("off")) if model else NOTHING)
        self._render_speed()
        self._render_prefill()

    def _render_speed(self) -> None:
        stats = self._facts.stats
        if stats is None:
            for name in ("reused", "decode", "prefill", "first", "share"):
                self._set(name, NOTHING)
            return
        self._set("reused", self.tr("{0} of {1}").format(i18n.number(stats.n_reused), i18n.number(stats.n_prompt)))
        self._tile("decode", i18n.number(stats.decode_tps, 1), self.tr("tok/s"))
        self._tile("prefill", i18n.number(stats.prefill_tps), self.tr("tok/s"))
        if stats.ttft_ms < 10_000:
            self._tile("first", i18n.number(stats.ttft_ms), self.tr("ms"))
        else:
            self._tile("first", i18n.number(stats.ttft_ms / 1000, 1), self.tr("s"))
        share = stats.n_reused / stats.n_prompt if stats.n_prompt else 0.0
        self._tile("share", i18n.number(share * 100, 1), "%")

    def _render_prefill(self) -> None:
        prefill = self._facts.prefill
        self._reading.setVisible(prefill is not None)
        self._reading_bar.setVisible(prefill is not None)
        if prefill is not None and prefill.n_total > 0:
            done, total = i18n.number(prefill.n_done), i18n.number(prefill.n_total)
            self._reading.setText(self.tr("Reading the prompt: {0} of {1} tokens").format(done, total))
            self._reading_bar.setValue(round(1000 * min(1.0, prefill.n_done / prefill.n_total)))

    def _set(self, name: str, text: str) -> None:
        self._values[name].setText(text)

    def _tile(self, name: str, value: str, unit: str) -> None:
        tokens, sizes = self._theme.tokens, self._theme.sizes
        style = f"font-size:{sizes.meta}px; font-weight:400; color:{tokens.text_2}"
        self._values[name].setText(f'{value} <span style="{style}">{unit}</span>')

    def changeEvent(self, event: QEvent) -> None:
        """Follow the language."""
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)

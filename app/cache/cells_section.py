"""The cells: how many are used, what lies in them, and what lies where the pointer is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout

from app.cache.cell_map import CellCounts, CellKind, CellPlace
from app.cache.cell_strip import CellStrip
from app.cache.facts import CacheFacts
from app.cache.legend import Legend
from app.cache.marks import Mark, Pattern
from app.cache.section import NOTHING, PanelSection
from app.look import language
from app.look.theme import Theme
from app.widgets.elided_label import ElidedLabel
from engine.api.messages import Span

KINDS = {
    "system": Mark("cell_system"),
    "user": Mark("cell_user"),
    "assistant": Mark("cell_assistant"),
    "other": Mark("text_3"),
    "free": Mark("cell_free"),
}
"""Together these are all cells."""
AMONG = {"sinks": Mark("text_2", Pattern.RING), "reused": Mark("text_2", Pattern.UNDERLINED)}
"""Marks on some of them."""
GONE = {"evicted": Mark("text_3", Pattern.HATCHED)}
"""Tokens that have no cell."""
EXCERPT = 70

TextOf = Callable[[Span, int], str]
"""The text around a token of a span, given the token's index in the sequence; empty where there is none to show."""


class CellsSection(PanelSection):
    """``text_of`` finds the words that a cell holds; ``pressed`` carries the Span of a cell."""

    pressed = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.text_of: TextOf = lambda _span, _index: ""
        self._facts = CacheFacts()
        self._chat_id: str | None = None
        self._pointed: tuple[range, CellPlace | None] | None = None
        self._used = QLabel(NOTHING)
        self._used.setObjectName("cellsUsed")
        self._used.setProperty("level", "number")
        self._of = ElidedLabel()
        self._of.setProperty("level", "meta")
        self._share = QLabel()
        self._share.setProperty("level", "meta")
        self.strip = CellStrip(theme)
        self._where = ElidedLabel()
        self._where.setObjectName("cellWhere")
        self._words = ElidedLabel()
        self._words.setObjectName("cellWords")
        for line in (self._where, self._words):
            line.setProperty("level", "micro")
        self._kinds, self._among, self._gone = (Legend(marks, theme, "cells") for marks in (KINDS, AMONG, GONE))
        self._of_these = QLabel()
        self._of_these.setProperty("level", "micro")
        self._of_these.setContentsMargins(0, 5, 0, 0)
        self._lay_out()
        self.strip.pointed.connect(self._on_pointed)
        self.strip.pressed.connect(self.pressed)
        theme.changed.connect(self.restyle)
        self.restyle()
        self.retranslate()

    def _lay_out(self) -> None:
        big = QGridLayout()
        big.setHorizontalSpacing(8)
        baseline = Qt.AlignmentFlag.AlignBottom
        big.addWidget(self._used, 0, 0, baseline)
        big.addWidget(self._of, 0, 1, baseline)
        big.addWidget(self._share, 0, 2, baseline | Qt.AlignmentFlag.AlignRight)
        big.setColumnStretch(1, 1)
        self._of.setContentsMargins(0, 0, 0, 5)
        self._share.setContentsMargins(0, 0, 0, 5)
        self.column.addLayout(big)
        self.column.addWidget(self.strip)
        lines = QVBoxLayout()
        lines.setSpacing(2)
        lines.addWidget(self._where)
        lines.addWidget(self._words)
        self.column.addLayout(lines)
        self._gone.setContentsMargins(0, 8, 0, 0)
        legends = QVBoxLayout()
        legends.setSpacing(3)
        for part in (self._kinds, self._of_these, self._among, self._gone):
            legends.addWidget(part)
        self.column.addLayout(legends)

    def show_facts(self, facts: CacheFacts) -> None:
        """Show the cache as it is."""
        if (facts.usage, facts.model) != (self._facts.usage, self._facts.model):
            self._facts = facts
            self.render_facts()

    def show_chat(self, chat_id: str) -> None:
        """Which chat is open: the cells may hold another one."""
        self._chat_id = chat_id
        self._render_words()

    def restyle(self) -> None:
        """Take the fonts and colours in force."""
        self._used.setFont(self._theme.font(self._theme.sizes.number, 600, tabular=True))
        super().restyle()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.heading.setText(self.tr("Cells"))
        self._of_these.setText(self.tr("Of these cells"))
        self._kinds.set_words(
            {
                "system": (self.tr("System"), self.tr("Cells of the system prompt")),
                "user": (self.tr("You"), self.tr("Cells of your messages")),
                "assistant": (self.tr("Assistant"), self.tr("Cells of the answers")),
                "other": (self.tr("Other"), self.tr("Cells of tools and of the template")),
                "free": (self.tr("Free"), self.tr("Cells that hold nothing yet")),
            }
        )
        self._among.set_words(
            {
                "sinks": (self.tr("Sinks"), self.tr("First tokens, never evicted; they hold the quality")),
                "reused": (self.tr("Reused"), self.tr("Cells that the last request found filled, at no cost")),
            }
        )
        self._gone.set_words(
            {"evicted": (self.tr("Evicted"), self.tr("Tokens without cells; the model no longer sees them"))}
        )
        self.render_facts()

    def render_facts(self) -> None:
        """Numbers, strip and legend."""
        usage, n_cells = self._facts.usage, self._facts.n_cells
        n_used = usage.n_used if usage else 0
        self._used.setText(language.number(n_used) if n_cells else NOTHING)
        self._of.set_line(self.tr("of {0} cells").format(language.number(n_cells)) if n_cells else "")
        self._share.setText(language.percent(n_used / n_cells) if n_cells else "")
        counts = self.strip.show_usage(usage, n_cells)
        raster = self.strip.raster
        per_square = raster.grid.n_per_square if raster is not None else 1
        self.aside.setText(self.tr("1 square = %Ln cell(s)", "", per_square) if n_cells else "")
        self._render_legend(counts, n_cells)
        self._render_words()

    def _render_legend(self, counts: CellCounts | None, n_cells: int) -> None:
        if counts is None:
            counts = CellCounts((n_cells, *[0] * (len(CellKind) - 1)), 0, 0)
        by_kind = {
            "system": counts.kinds[CellKind.SYSTEM],
            "user": counts.kinds[CellKind.USER],
            "assistant": counts.kinds[CellKind.ASSISTANT],
            "other": counts.kinds[CellKind.OTHER],
            "free": counts.kinds[CellKind.FREE],
        }
        _show(self._kinds, by_kind, can_hide=("system", "other"))
        among = {"sinks": counts.sinks, "reused": counts.reused}
        _show(self._among, among, can_hide=tuple(among))
        self._of_these.setVisible(any(among.values()))
        self._kinds.setVisible(n_cells > 0)
        _show(self._gone, {"evicted": self.strip.n_gone}, can_hide=("evicted",))

    def _on_pointed(self, cells: range | None, place: CellPlace | None) -> None:
        self._pointed = (cells, place) if cells is not None else None
        self._render_words()

    def _render_words(self) -> None:
        """Two lines that are always there, so that nothing jumps."""
        if self._pointed is None:
            self._where.set_line(self._outlook())
            self._words.set_line("")
            return
        cells, place = self._pointed
        first, last = language.number(cells.start), language.number(cells.stop - 1)
        cell = self.tr("Cell {0}").format(first) if len(cells) == 1 else self.tr("Cells {0}–{1}").format(first, last)
        if place is None:
            self._where.set_line(self.tr("{0} · free").format(cell))
            self._words.set_line("")
            return
        parts = [cell]
        if place.position is not None:
            parts.append(self.tr("position {0}").format(language.number(place.position)))
        if place.span.is_sink:
            parts.append(self.tr("sink"))
        if self._facts.usage is not None and place.index < self._facts.usage.n_reused:
            parts.append(self.tr("reused"))
        self._where.set_line(" · ".join(parts))
        text = self.text_of(place.span, place.index)
        self._words.set_line(self._owner(place.span) + (f": “{text}”" if text else ""))

    def _outlook(self) -> str:
        usage = self._facts.usage
        if usage is None:
            return ""
        if self._chat_id not in (None, usage.chat_id):
            return self.tr("These cells hold another chat")
        if usage.n_until_eviction is None:
            return ""
        return self.tr("Next eviction in %Ln token(s)", "", usage.n_until_eviction)

    def _owner(self, span: Span) -> str:
        name = {"system": self.tr("System"), "user": self.tr("You"), "assistant": self.tr("Assistant")}.get(
            span.role, span.role or self.tr("template")
        )
        if span.message_index is None:
            return name
        return self.tr("{0}, message {1}").format(name, language.number(span.message_index + 1))


def _show(legend: Legend, amounts: dict[str, int], can_hide: tuple[str, ...]) -> None:
    hidden = [name for name in can_hide if not amounts[name]]
    legend.set_values({name: language.number(amount) for name, amount in amounts.items()}, hidden)
    legend.setVisible(len(hidden) < len(amounts))


def excerpt(text: str, share: float) -> str:
    """Some words around a place in a text, given as a share of it from 0 to 1."""
    middle = round(len(text) * min(1.0, max(0.0, share)))
    start = max(0, min(middle - EXCERPT // 2, len(text) - EXCERPT))
    end = min(len(text), start + EXCERPT)
    words = " ".join(text[start:end].split())
    return ("…" if start > 0 else "") + words + ("…" if end < len(text) else "")

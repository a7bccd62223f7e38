"""How far a load or the reading of a prompt has come; there only while one is under way."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from app.cache.facts import CacheFacts
from app.look import language
from app.look.retranslating import Retranslating
from app.widgets.elided_label import ElidedLabel
from engine.api.messages import LoadProgress, LoadStage

STEPS = 1000


class ProgressSection(Retranslating, QWidget):
    """Shows the load or the prefill among CacheFacts, with what is left."""

    def __init__(self) -> None:
        super().__init__()
        self._facts = CacheFacts()
        self._text = ElidedLabel()
        self._text.setObjectName("prefillText")
        self._text.setProperty("level", "meta")
        self._bar = QProgressBar()
        self._bar.setObjectName("prefillBar")
        self._bar.setTextVisible(False)
        self._bar.setRange(0, STEPS)
        self._left = QLabel()
        self._left.setObjectName("prefillLeft")
        self._left.setProperty("level", "meta")
        line = QHBoxLayout()
        line.addWidget(self._text, 1)
        line.addWidget(self._left)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 10)
        column.setSpacing(6)
        column.addLayout(line)
        column.addWidget(self._bar)
        self.retranslate()

    def show_facts(self, facts: CacheFacts) -> None:
        """Show what is under way, or go."""
        if (facts.load, facts.prefill) != (self._facts.load, self._facts.prefill):
            self._facts = facts
            self._render()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self._bar.setAccessibleName(self.tr("Progress"))
        self._render()

    def _render(self) -> None:
        load, prefill = self._facts.load, self._facts.prefill
        for widget in (self, self._text, self._bar):
            widget.setVisible(load is not None or prefill is not None)
        if load is not None:
            self._show(self._load_text(load), "", load.fraction)
        elif prefill is not None and prefill.n_total > 0:
            done, total = language.number(prefill.n_done), language.number(prefill.n_total)
            left = language.number(prefill.n_total - prefill.n_done)
            text = self.tr("Reading: {0} of {1} tokens").format(done, total)
            self._show(text, self.tr("{0} left").format(left), prefill.n_done / prefill.n_total)

    def _show(self, text: str, left: str, fraction: float) -> None:
        self._text.set_line(text)
        self._left.setText(left)
        self._bar.setValue(round(STEPS * min(1.0, max(0.0, fraction))))

    def _load_text(self, load: LoadProgress) -> str:
        share = language.percent(min(1.0, max(0.0, load.fraction)))
        return {
            LoadStage.READING: self.tr("Loading: reading the file's header"),
            LoadStage.WEIGHTS: self.tr("Loading: weights {0}").format(share),
            LoadStage.CONTEXT: self.tr("Loading: making the cache"),
            LoadStage.WARM_UP: self.tr("Loading: first tokens"),
        }[load.stage]

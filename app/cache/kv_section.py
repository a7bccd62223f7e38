"""What K and V take, and how that comes about."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.cache.facts import CacheFacts
from app.cache.section import PanelSection
from app.look import language
from app.look.theme import Theme
from engine.api.messages import KvFormula, KvTerm


class KvSection(PanelSection):
    """Shows CacheFacts; all numbers are the engine's."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._facts = CacheFacts()
        self.add_rows("kv_used", "kv_planned", "kv_allocated", "type_k", "type_v", "flash", "per_token")
        self._formula = QLabel()
        self._formula.setObjectName("kvFormula")
        self._formula.setProperty("level", "micro")
        self._formula.setTextFormat(Qt.TextFormat.PlainText)
        self._formula.setWordWrap(True)
        self._formula.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.column.addWidget(self._formula)
        self.add_rows("as_mha", "as_f16", "as_mha_f16")
        theme.changed.connect(self.restyle)
        self.restyle()
        self.retranslate()

    def show_facts(self, facts: CacheFacts) -> None:
        """Show what is known."""
        if (facts.usage, facts.model) != (self._facts.usage, self._facts.model):
            self._facts = facts
            self.render_facts()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.heading.setText(self.tr("KV memory"))
        self.set_words(
            {
                "kv_used": (self.tr("Used"), self.tr("Bytes of K and V in the cells in use")),
                "kv_planned": (
                    self.tr("Planned"),
                    self.tr("Bytes of K and V for all cells, as counted before the load"),
                ),
                "kv_allocated": (self.tr("Allocated"), self.tr("Bytes of K and V for all cells, used or not")),
                "type_k": (self.tr("K type"), self.tr("How keys are stored; q8_0 takes about half of f16")),
                "type_v": (self.tr("V type"), self.tr("How values are stored; a quantized V needs flash attention")),
                "flash": (self.tr("Flash attention"), self.tr("Attention without the large score matrix")),
                "per_token": (self.tr("Per token"), self.tr("Bytes of K and V for one token, over all layers")),
                "as_mha": (
                    self.tr("If every head had its own K and V"),
                    self.tr("What one token would take with full multi-head attention"),
                ),
                "as_f16": (self.tr("In f16"), self.tr("What one token would take with K and V in f16")),
                "as_mha_f16": (self.tr("Both"), self.tr("Full multi-head attention in f16")),
            }
        )
        self.render_facts()

    def render_facts(self) -> None:
        """Show what is known."""
        facts, model, usage = self._facts, self._facts.model, self._facts.usage
        self.set_value("kv_used", language.bytes_text(usage.used_bytes) if usage else None)
        for name, amount in (("kv_planned", facts.planned_bytes), ("kv_allocated", facts.allocated_bytes)):
            self.set_value(name, language.bytes_text(amount) if amount is not None else None)
        self.set_value("per_token", language.bytes_text(model.kv_bytes_per_token) if model else None)
        self.set_value("type_k", model.type_k if model else None)
        self.set_value("type_v", model.type_v if model else None)
        self.set_value("flash", (self.tr("on") if model.flash_attn else self.tr("off")) if model else None)
        formula = model.kv_formula if model else None
        self._formula.setText(self._formula_text(formula) if formula else "")
        self._formula.setVisible(bool(self._formula.text()))
        self.set_value("as_mha", language.bytes_text(formula.mha_bytes_per_token) if formula else None)
        self.set_value("as_f16", language.bytes_text(formula.f16_bytes_per_token) if formula else None)
        self.set_value("as_mha_f16", language.bytes_text(formula.mha_f16_bytes_per_token) if formula else None)

    def _formula_text(self, formula: KvFormula) -> str:
        if not formula.terms:
            return self.tr("This model keeps a state instead of K and V: it does not grow with the text.")
        lines = [self._term_text(formula, term) for term in formula.terms]
        total = self.tr("{0} a token").format(language.bytes_text(formula.bytes_per_token))
        return f"{formula.attention.upper()}: " + " +\n".join(lines) + f" = {total}"

    def _term_text(self, formula: KvFormula, term: KvTerm) -> str:
        k, v = element_text(formula.element_bytes_k), element_text(formula.element_bytes_v)
        head_k, head_v = language.number(term.head_size_k), language.number(term.head_size_v)
        layers = self.tr("%Ln layer(s)", "", term.n_layer)
        heads = self.tr("%Ln KV head(s)", "", term.n_head)
        if term.head_size_v == 0:
            return self.tr("{0} × {1} × {2} × {3} bytes").format(layers, heads, head_k, k)
        if (head_k, k) == (head_v, v):
            return self.tr("2 × {0} × {1} × {2} × {3} bytes").format(layers, heads, head_k, k)
        return self.tr("{0} × {1} × ({2} × {3} + {4} × {5}) bytes").format(layers, heads, head_k, k, head_v, v)


def element_text(n_bytes: float) -> str:
    """Bytes of one element, in as many decimals as they have: 2, 1.0625, 0.5625."""
    decimals = next(count for count in range(8) if round(n_bytes, count) == n_bytes or count == 7)
    return language.number(n_bytes, decimals)

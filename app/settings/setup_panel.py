"""The settings panel: presets, every setting of the model and its cache, what they would take, and Apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.link.what_if import WhatIf
from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.settings.form import words
from app.settings.preset_bar import PresetBar
from app.settings.preview import Preview
from app.settings.setup_form import SetupForm
from app.store.setup import Setup
from engine.api.messages import CacheUsage, Failed, ModelFacts
from engine.api.plan import Defaults, Fit, MemoryPlan, Proposal
from engine.plan.full_cache import reload_seconds


class SetupPanel(Retranslating, QWidget):
    """``apply_requested`` carries the Setup that a person wants in force; ``command_wanted`` asks for the setup as a
    command line, ``defaults_wanted`` for what the model of a file is set to by itself. `presets` tells of presets that
    were saved or removed."""

    apply_requested = Signal(object)
    defaults_wanted = Signal(str)
    command_wanted = Signal()

    def __init__(self, theme: Theme, what_if: WhatIf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("settingsPanel")
        self.setProperty("surface", "side")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._what_if = what_if
        self._applied = Setup()
        self._asked: Setup | None = None
        self._defaults: Defaults | None = None
        self._path: str | None = None
        self._facts: ModelFacts | None = None
        self._usage: CacheUsage | None = None
        self._read_tps: float | None = None
        self._fit: Fit | None = None
        self._is_refused = False
        self.presets = PresetBar(theme)
        self._why = QLabel()
        self._why.setObjectName("setupWhy")
        self._why.setProperty("level", "micro")
        self._why.setTextFormat(Qt.TextFormat.PlainText)
        self._why.setWordWrap(True)
        self.form = SetupForm(self._applied)
        self.preview = Preview(theme)
        self._note = QLabel()
        self._note.setObjectName("applyNote")
        self._note.setProperty("level", "micro")
        self._note.setWordWrap(True)
        self._mend = QPushButton()
        self._mend.setObjectName("makeItFit")
        self._mend_menu = QMenu(self._mend)
        self._mend.setMenu(self._mend_menu)
        self._reset = QPushButton()
        self._reset.setObjectName("resetSetup")
        self._reset.setProperty("kind", "quiet")
        self._apply = QPushButton()
        self._apply.setObjectName("applyButton")
        self._apply.setProperty("kind", "primary")
        self._lay_out()
        self._connect()
        self.retranslate()

    def _lay_out(self) -> None:
        content = QWidget()
        content.setProperty("surface", "side")
        inner = QVBoxLayout(content)
        inner.setContentsMargins(20, 14, 16, 20)
        inner.addWidget(self.presets)
        inner.addWidget(self._why)
        inner.addSpacing(6)
        inner.addWidget(self.form)
        inner.addStretch()
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(content)
        foot = QFrame()
        foot.setObjectName("setupFoot")
        lines = QVBoxLayout(foot)
        # To the right as the fields, which leave room for the scroll bar.
        lines.setContentsMargins(20, 10, 28, 14)
        lines.setSpacing(6)
        lines.addWidget(self.preview)
        lines.addWidget(self._note)
        lines.addWidget(self._mend)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._reset)
        row.addWidget(self._apply)
        lines.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(area, 1)
        column.addWidget(foot)

    def _connect(self) -> None:
        self.form.edited.connect(self._on_edited)
        self.presets.chosen.connect(self._on_preset)
        self.presets.command_wanted.connect(self.command_wanted)
        self.preview.largest_wanted.connect(lambda n_ctx: self.form.field("n_ctx").take(n_ctx))
        self._reset.clicked.connect(lambda: self.form.change(self._reset_setup()))
        self._apply.clicked.connect(self._on_apply)
        self._what_if.planned.connect(self._on_planned)
        self._what_if.slow.connect(self.preview.show_waiting)
        self._what_if.refused.connect(self._on_refused)
        self._what_if.fit_found.connect(self._on_fit)

    # What it is about

    @property
    def setup(self) -> Setup:
        """What the fields say."""
        return self.form.setup

    @property
    def applied(self) -> Setup:
        """What is in force, as last told."""
        return self._applied

    def show_model(self, path: str | None, setup: Setup, defaults: Defaults | None = None) -> None:
        """A model file is there, or on its way, with a setup; None: there is none to plan for.

        ``defaults``: what it is loaded with while nobody sets it, if that was found out. What was changed in the fields
        since then, as while it was loaded again, stays changed.
        """
        shown = self.form.setup
        wanted = setup.with_changes(self._asked or self._applied, shown) if path == self._path else setup
        self._path, self._applied, self._defaults, self._asked = path, setup, defaults, None
        self.form.show_defaults(Setup(defaults.settings) if defaults is not None else Setup())
        if wanted != shown:
            self.presets.show_changed(wanted)
        self.form.show_setup(wanted)
        self._ask()

    def show_defaults(self, defaults: Defaults | None) -> None:
        """What fits the model was found out."""
        self._defaults = defaults
        self.form.show_defaults(Setup(defaults.settings) if defaults is not None else Setup())
        self._render()

    def show_facts(self, facts: ModelFacts | None) -> None:
        """What the loaded model is and takes."""
        if facts == self._facts:
            return
        self._facts = facts
        self.preview.show_now(facts)
        if facts is not None and facts.n_ctx_train > 0:
            self.form.set_most_tokens(facts.n_ctx_train)
        self._ask()

    def show_costs(self, usage: CacheUsage | None, read_tps: float | None) -> None:
        """What a reload would have to read again, and how fast."""
        if (usage.n_used if usage else 0, read_tps) != (self._usage.n_used if self._usage else 0, self._read_tps):
            self._usage, self._read_tps = usage, read_tps
            self._render()

    # What happens

    def enterEvent(self, event: QEnterEvent) -> None:
        """Have an answer ready for whoever comes to change something."""
        super().enterEvent(event)
        self._what_if.prepare()

    def _ask(self) -> None:
        self._fit, self._is_refused = None, False
        if self._path is not None and self.isVisible():
            given_back = self._facts.devices if self._facts is not None else ()
            self._what_if.ask(self._path, self.form.setup, given_back)
            if self._defaults is None:
                self.defaults_wanted.emit(self._path)
        elif self._path is None:
            self._what_if.forget()
            self.preview.show_plan(None)
        self._render()

    def _on_apply(self) -> None:
        self._asked = self.form.setup
        self.apply_requested.emit(self._asked)

    def _on_edited(self, setup: Setup) -> None:
        self.presets.show_changed(setup)
        self._ask()

    def _on_preset(self, change: Callable[[Setup, int | None], Setup]) -> None:
        self.form.change(change(self.form.setup, self._facts.n_ctx_train if self._facts is not None else None))

    def _on_planned(self, plan: MemoryPlan) -> None:
        self._is_refused = False
        reasons: dict[str, dict[str, str]] = {}
        for refusal in plan.refusals:
            reasons.setdefault(refusal.setting, {})[refusal.value] = language.in_words(refusal.sentence)
        self.form.set_refusals(reasons, types_match=plan.types_must_match)
        warnings = [language.in_words(warning.sentence) for warning in plan.warnings]
        if plan.types_must_match:
            warnings.append(self.tr("This model keeps K and V as one, so their types change together."))
        self.preview.show_plan(plan, warnings)
        self._render()

    def _on_refused(self, failed: Failed) -> None:
        self._is_refused = True
        self.preview.show_refusal(language.in_words(failed.sentence))
        self._render()

    def _on_fit(self, fit: Fit) -> None:
        self._fit = fit
        self.preview.show_fit(fit)
        self._mend_menu.clear()
        for proposal in fit.proposals:
            action = self._mend_menu.addAction(self._proposal_text(proposal))
            action.triggered.connect(lambda _checked=False, one=proposal: self._take(one))
        self._render()

    def _take(self, proposal: Proposal) -> None:
        self.form.change(replace(self.form.setup, load=proposal.settings))

    def _proposal_text(self, proposal: Proposal) -> str:
        """Only what changes, with what it then takes."""
        wanted, now = proposal.settings, self.form.setup.load
        parts = []
        if wanted.n_ctx != now.n_ctx and wanted.n_ctx is not None:
            parts.append(self.tr("{0} tokens").format(language.number(wanted.n_ctx)))
        if (wanted.type_k, wanted.type_v) != (now.type_k, now.type_v):
            parts.append(self.tr("K and V in {0}").format(wanted.type_k))
        if wanted.swa_full != now.swa_full:
            parts.append(self.tr("no full-size sliding window"))
        if wanted.n_ubatch != now.n_ubatch:
            parts.append(self.tr("micro-batch {0}").format(language.number(wanted.n_ubatch)))
        if wanted.n_gpu_layers != now.n_gpu_layers:
            parts.append(self.tr("as many GPU layers as fit"))
        if wanted.flash_attn != now.flash_attn:
            parts.append(self.tr("flash attention {0}").format(words(wanted.flash_attn)))
        return f"{' · '.join(parts)}  ({language.bytes_text(proposal.plan.total_bytes)})"

    def _render(self) -> None:
        setup = self.form.setup
        is_changed = setup != self._applied
        is_reload = self._applied.needs_reload(setup)
        if not is_changed and (self._apply.hasFocus() or self._reset.hasFocus()):
            # Qt would hand the keyboard to whatever comes next, the tab of another page.
            self.setFocus()
        self._apply.setEnabled(self._path is not None and is_changed and not self._is_refused)
        self._apply.setText(self.tr("Apply and reload") if is_reload else self.tr("Apply"))
        self._render_reset(is_changed)
        self._why.setText(self._why_text())
        self._why.setVisible(bool(self._why.text()))
        self._mend.setVisible(self._fit is not None and bool(self._fit.proposals))
        self._note.setText(self._note_text(is_reload) if is_changed else "")
        self._note.setVisible(bool(self._note.text()))

    def _reset_setup(self) -> Setup:
        """What Reset leads to: back to what is in force, and from there to what the model has by itself."""
        if self.form.setup != self._applied or self._defaults is None:
            return self._applied
        return Setup(self._defaults.settings)

    def _render_reset(self, is_changed: bool) -> None:
        self._reset.setEnabled(self._reset_setup() != self.form.setup)
        if is_changed:
            self._reset.setText(self.tr("Undo"))
            self._reset.setToolTip(self.tr("Back to what is in force now"))
        else:
            self._reset.setText(self.tr("Defaults"))
            self._reset.setToolTip(self.tr("Fills in what fits this machine; nothing changes until you apply"))

    def _why_text(self) -> str:
        """Why the settings are what they are."""
        if self._path is None or self._defaults is None:
            return ""
        if self._applied.load != self._defaults.settings:
            return self.tr("These are settings of your own. “Defaults” leads back to what fits this machine.")
        # A full stop of Chinese has its space in itself.
        reasons = " ".join(language.in_words(reason) for reason in self._defaults.reasons).replace("。 ", "。")
        return self.tr("Chosen for this machine: {0}").format(reasons)

    def _note_text(self, is_reload: bool) -> str:
        if not is_reload:
            return self.tr("Takes effect with the next message; nothing is loaded again.")
        n_tokens = self._usage.n_used if self._usage is not None else 0
        if self._facts is None:
            return self.tr("The model is loaded again.")
        seconds = reload_seconds(self._facts, self._usage, self._read_tps)
        if seconds is None:
            return self.tr("The model is loaded again; the chat stays, and is read again.")
        about = language.number(seconds, 1)
        if n_tokens == 0:
            return self.tr("The model is loaded again: about {0} s.").format(about)
        return self.tr("The model is loaded again and the chat of {0} tokens read again: about {1} s.").format(
            language.number(n_tokens), about
        )

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Settings"))
        self.setAccessibleName(self.tr("Settings"))
        self._mend.setText(self.tr("Make it fit"))
        self._mend.setToolTip(self.tr("Changes that fit, smallest loss first; nothing is loaded until you apply"))
        self._apply.setToolTip(self.tr("Put these settings in force; the chat stays"))
        self._render()

    def presets_from(self, presets: Mapping[str, Setup]) -> None:
        """A person's own presets."""
        self.presets.show_own(presets)

    def event(self, event: QEvent) -> bool:
        """Plan what changed while the panel was hidden, once it is shown."""
        if event.type() == QEvent.Type.Show:
            self._ask()
        return super().event(event)

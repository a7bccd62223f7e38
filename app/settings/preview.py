"""What the settings would take, beside what is taken now: per device, exact, with whether it fits."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.cache.marks import Mark, Pattern
from app.cache.memory_bars import PARTS, ShareBar
from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.widgets.elided_label import ElidedLabel
from engine.api.messages import DeviceMemory, ModelFacts
from engine.api.plan import DevicePlan, Fit, MemoryPlan

WARNINGS_MAX = 2
LEFT = Mark("cell_free")
LACKING = Mark("danger", Pattern.HATCHED)


class DevicePreview(QWidget):
    """One device: a bar as it is, a bar as it would be, and the bytes of both."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._name = ElidedLabel()
        self._name.setProperty("level", "meta")
        self._amount = QLabel()
        self._amount.setObjectName("previewAmount")
        self._now, self._then = ShareBar(theme), ShareBar(theme)
        for bar in (self._now, self._then):
            bar.setFixedHeight(6)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(3)
        grid.addWidget(self._name, 0, 0)
        grid.addWidget(self._amount, 0, 1)
        grid.addWidget(self._now, 1, 0, 1, 2)
        grid.addWidget(self._then, 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)

    def show_device(self, plan: DevicePlan, held: DeviceMemory | None) -> None:
        """Show what would lie there, beside what lies there now."""
        name = self.tr("RAM") if plan.name == "CPU" else plan.name
        now, then, free = (
            language.bytes_text(amount)
            for amount in (held.held_bytes if held is not None else 0, plan.held_bytes, plan.free_bytes)
        )
        self._name.set_line(self.tr("{0}, {1} free").format(name, free))
        self._amount.setText(self.tr("{0} → {1}").format(now, then))
        self._amount.setFont(self._theme.font(self._theme.sizes.meta, 500, tabular=True))
        room = max(plan.free_bytes, plan.held_bytes)
        self._now.set_parts(_parts(held, room) if held is not None else [(LEFT, room)])
        self._then.set_parts(_parts(plan, plan.free_bytes))
        self._now.setAccessibleName(self.tr("{0} now: {1}").format(name, now))
        self._then.setAccessibleName(self.tr("{0} then: {1} of {2} free").format(name, then, free))
        self._now.setToolTip(self.tr("As it is now: weights, KV, compute"))
        self._then.setToolTip(self.tr("As it would be: weights, KV, compute, and what stays free"))


def _parts(memory: DevicePlan | DeviceMemory, room: int) -> list[tuple[Mark, int]]:
    """The bar of a device: what lies there, then what is left of the room, or what lacks."""
    weights, kv = memory.weights_bytes, memory.kv_bytes + memory.recurrent_bytes
    compute = memory.compute_bytes + memory.output_bytes
    left = room - weights - kv - compute
    return [
        (PARTS["weights"], weights),
        (PARTS["kv"], kv),
        (PARTS["compute"], compute),
        (LEFT, left) if left >= 0 else (LACKING, -left),
    ]


class Preview(Retranslating, QWidget):
    """``largest_wanted`` carries the tokens of the largest context that fits, when a person asks for it."""

    largest_wanted = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("memoryPreview")
        self._theme = theme
        self._facts: ModelFacts | None = None
        self._plan: MemoryPlan | None = None
        self._fit: Fit | None = None
        self._refusal = ""
        self._is_waiting = False
        self._warnings: tuple[str, ...] = ()
        self._kv = ElidedLabel()
        self._kv.setObjectName("previewKv")
        self._devices = QVBoxLayout()
        self._devices.setSpacing(6)
        self._rows: list[DevicePreview] = []
        self._verdict = QLabel()
        self._verdict.setObjectName("previewVerdict")
        self._verdict.setWordWrap(True)
        self._largest = QPushButton()
        self._largest.setObjectName("largestContext")
        self._largest.setProperty("kind", "link")
        self._largest.clicked.connect(self._on_largest)
        self._warning = QLabel()
        self._warning.setObjectName("previewWarnings")
        self._warning.setProperty("level", "micro")
        self._warning.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._kv)
        column.addLayout(self._devices)
        column.addWidget(self._verdict)
        column.addWidget(self._largest)
        column.addWidget(self._warning)
        theme.changed.connect(self._render)
        self.retranslate()

    def show_now(self, facts: ModelFacts | None) -> None:
        """What the loaded model takes."""
        self._facts = facts
        self._render()

    def show_plan(self, plan: MemoryPlan | None, warnings: Sequence[str] = ()) -> None:
        """What would be taken, and the warnings in the language in force; None: not known yet."""
        self._plan, self._warnings, self._refusal, self._fit = plan, tuple(warnings), "", None
        self._is_waiting = False
        self._render()

    def show_waiting(self) -> None:
        """What was shown is about other settings, and the answer about these takes its time."""
        self._plan, self._warnings, self._refusal, self._fit = None, (), "", None
        self._is_waiting = True
        self._render()

    def show_refusal(self, sentence: str) -> None:
        """Why the settings can't be loaded."""
        self._plan, self._warnings, self._refusal, self._fit = None, (), sentence, None
        self._is_waiting = False
        self._render()

    def show_fit(self, fit: Fit) -> None:
        """The largest context that fits."""
        self._fit = fit
        self._render()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setAccessibleName(self.tr("What it would take"))
        self._largest.setToolTip(self.tr("Put this into the context window"))
        self._largest.setAccessibleName(self.tr("Largest context window that fits"))
        self._render()

    def _render(self) -> None:
        plan, facts = self._plan, self._facts
        self._render_devices()
        now = sum(device.kv_bytes for device in facts.devices) if facts is not None else 0
        if plan is None:
            line = self.tr("KV {0} → …") if self._is_waiting else self.tr("KV {0} now")
            self._kv.set_line(line.format(language.bytes_text(now)))
        else:
            then, cells = language.bytes_text(plan.kv_bytes), language.number(plan.n_ctx)
            self._kv.set_line(self.tr("KV {0} → {1} · {2} cells").format(language.bytes_text(now), then, cells))
        self._verdict.setVisible(plan is not None or bool(self._refusal))
        if plan is None:
            self._set_verdict(self._refusal, "danger")
        elif plan.fits:
            self._set_verdict(self.tr("It fits."), "success")
        else:
            short = ", ".join(
                self.tr("RAM") if device.name == "CPU" else device.name for device in plan.devices if not device.fits
            )
            self._set_verdict(self.tr("It does not fit: there is too little room on {0}.").format(short), "danger")
        self._render_largest()
        self._warning.setVisible(bool(self._warnings))
        self._warning.setText("\n".join(self._warnings[:WARNINGS_MAX]))
        self._warning.setToolTip("\n".join(self._warnings))

    def _render_largest(self) -> None:
        fit = self._fit
        is_known = fit is not None and not (self._refusal and fit.largest_n_ctx is None)
        self._largest.setVisible(is_known)
        if fit is None or not is_known:
            return
        is_there = self._plan is not None and self._plan.n_ctx == fit.largest_n_ctx
        self._largest.setEnabled(fit.largest_n_ctx is not None and not is_there)
        if fit.largest_n_ctx is None:
            self._largest.setText(self.tr("No context window fits"))
        else:
            n_tokens = language.number(fit.largest_n_ctx)
            is_beyond = self._plan is not None and self._plan.fits and self._plan.n_ctx > fit.largest_n_ctx
            # More would fit, but nothing longer than what the model was trained for is looked for.
            text = self.tr("Trained length: {0} tokens") if is_beyond else self.tr("Largest that fits: {0} tokens")
            self._largest.setText(text.format(n_tokens))

    def _render_devices(self) -> None:
        wanted = [device for device in self._plan.devices if device.held_bytes] if self._plan is not None else []
        while len(self._rows) > len(wanted):
            row = self._rows.pop()
            self._devices.removeWidget(row)
            row.deleteLater()
        while len(self._rows) < len(wanted):
            row = DevicePreview(self._theme)
            self._rows.append(row)
            self._devices.addWidget(row)
        held = {memory.name: memory for memory in self._facts.devices} if self._facts is not None else {}
        for row, device in zip(self._rows, wanted, strict=True):
            row.show_device(device, held.get(device.name))

    def _set_verdict(self, sentence: str, color: str) -> None:
        self._verdict.setText(sentence)
        self._verdict.setStyleSheet(f"color: {getattr(self._theme.tokens, color)}")

    def _on_largest(self) -> None:
        if self._fit is not None and self._fit.largest_n_ctx is not None:
            self.largest_wanted.emit(self._fit.largest_n_ctx)

"""One bar for each device: what fills its memory, and who holds it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLocale, QRectF, QSize, Signal
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPainterPath, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.cache.legend import Legend
from app.cache.marks import Mark, Pattern, paint_mark
from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.widgets.elided_label import ElidedLabel
from engine.api.messages import DeviceMemory
from engine.devices import DeviceSample, MemoryShares, SampleProblem, memory_shares

BAR_HEIGHT = 10
PARTS = {
    "weights": Mark("cell_user"),
    "kv": Mark("cell_assistant"),
    "compute": Mark("cell_system"),
    "rest": Mark("text_3"),
    "others": Mark("text_3", Pattern.HATCHED),
    "free": Mark("cell_free"),
}
"""In the order in which they stand in a bar; each is a field of MemoryShares."""


class ShareBar(QWidget):
    """Parts of a whole beside each other; a part that is there at all is at least two pixels wide."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._parts: list[tuple[Mark, int]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Any width."""
        return QSize(100, BAR_HEIGHT)

    def set_parts(self, parts: Sequence[tuple[Mark, int]]) -> None:
        """Marks and amounts, from the left."""
        wanted = [(mark, amount) for mark, amount in parts if amount > 0]
        if wanted != self._parts:
            self._parts = wanted
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the parts inside of a rounded bar."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), 3, 3)
        painter.setClipPath(outline)
        tokens = self._theme.tokens
        painter.fillRect(self.rect(), QColor(tokens.cell_free))
        total = sum(amount for _, amount in self._parts)
        left = 0.0
        for mark, amount in self._parts:
            width = max(2.0, self.width() * amount / total)
            paint_mark(painter, QRectF(left, 0, width - 1, self.height()), mark, tokens)
            left += width
        painter.end()


class MemoryBar(Retranslating, QWidget):
    """One device."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[DeviceSample, DeviceMemory | None] | None = None
        self._name = ElidedLabel()
        self._name.setProperty("level", "row")
        self._amount = QLabel()
        self._amount.setObjectName("memoryAmount")
        self._bar = ShareBar(theme)
        self._legend = Legend(PARTS, theme, "memory")
        self._problem = QLabel()
        self._problem.setObjectName("memoryProblem")
        self._problem.setProperty("level", "micro")
        self._problem.setWordWrap(True)
        row = QHBoxLayout()
        row.addWidget(self._name, 1)
        row.addWidget(self._amount)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self._bar)
        column.addWidget(self._legend)
        column.addWidget(self._problem)
        theme.changed.connect(self._restyle)
        self._restyle()
        self.retranslate()

    def show_sample(self, sample: DeviceSample, held: DeviceMemory | None) -> None:
        """Show what was sampled, and what the model took there."""
        if (sample, held) == self._shown:
            return
        self._shown = (sample, held)
        self.setObjectName(f"memoryBar_{sample.name}")
        self._render()

    def _render(self) -> None:
        if self._shown is None:
            return
        sample, held = self._shown
        name = self.tr("RAM") if sample.name == "CPU" else sample.name
        full_name = f"{name} · {sample.description}" if sample.description else name
        self._name.set_line(full_name)
        self._problem.setText(self._problem_text(sample))
        self._problem.setVisible(sample.problem is not None)
        has_numbers = sample.problem in (None, SampleProblem.NOT_LIVE)
        self._bar.setVisible(has_numbers)
        self._legend.setVisible(has_numbers)
        self._amount.setVisible(has_numbers)
        if not has_numbers:
            return
        shares = memory_shares(sample, held)
        used, total = (
            language.bytes_text(sample.total_bytes - shares.free_bytes),
            language.bytes_text(sample.total_bytes),
        )
        self._amount.setText(self.tr("{0} of {1}").format(used, total))
        amounts = _amounts(shares)
        self._bar.set_parts([(PARTS[part], amount) for part, amount in amounts.items()])
        self._bar.setAccessibleName(
            self.tr("{0}: {1} of {2} in use, KV {3}").format(name, used, total, language.bytes_text(shares.kv_bytes))
        )
        hidden = [part for part, amount in amounts.items() if amount == 0 and part not in ("others", "free")]
        self._legend.set_values({part: short_bytes_text(amount) for part, amount in amounts.items()}, hidden)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self._legend.set_words(
            {
                "weights": (self.tr("Weights"), self.tr("The model itself")),
                "kv": (self.tr("KV"), self.tr("K and V of all cells, used or not; recurrent state too")),
                "compute": (self.tr("Compute"), self.tr("Buffers for computing; they grow with the micro-batch")),
                "rest": (self.tr("Engine"), self.tr("What the engine needs beside: driver, libraries")),
                "others": (self.tr("Others"), self.tr("Other programs and the system")),
                "free": (self.tr("Free"), self.tr("Free for any program")),
            }
        )
        self._render()

    def _problem_text(self, sample: DeviceSample) -> str:
        if sample.problem is None:
            return ""
        if sample.name == "CPU":
            return self.tr("The system does not say how full the memory is; it is asked again in a moment.")
        return {
            SampleProblem.NOT_LIVE: self.tr("No driver tells what others use now: as it was when the engine started."),
            SampleProblem.GPU_LOST: self.tr("The GPU has gone. Check its power and driver, then restart the computer."),
            SampleProblem.DRIVER_MISMATCH: self.tr(
                "The driver was updated and the old one still runs: restart the computer to see its memory."
            ),
            SampleProblem.NO_PERMISSION: self.tr("The driver lets only other users see its memory."),
            SampleProblem.DRIVER_FAILED: self.tr("The driver doesn't answer; it is asked again in a while."),
        }[sample.problem]

    def _restyle(self) -> None:
        self._amount.setFont(self._theme.font(self._theme.sizes.meta, 500, tabular=True))
        self._bar.update()


class MemoryBars(QWidget):
    """All devices; ``looked_at`` carries whether they are visible."""

    looked_at = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("memoryBar")
        self._theme = theme
        self._samples: tuple[DeviceSample, ...] = ()
        self._held: dict[str, DeviceMemory] = {}
        self._bars: list[MemoryBar] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(14)

    def show_samples(self, samples: tuple[DeviceSample, ...]) -> None:
        """What the devices look like now."""
        self._samples = samples
        self._render()

    def show_held(self, devices: Sequence[DeviceMemory]) -> None:
        """What the loaded model took; nothing if there is none."""
        held = {memory.name: memory for memory in devices}
        if held != self._held:
            self._held = held
            self._render()

    def _render(self) -> None:
        # A device that holds the model's layers stands first.
        order = sorted(self._samples, key=lambda sample: sample.name == "CPU")
        while len(self._bars) > len(order):
            bar = self._bars.pop()
            self._column.removeWidget(bar)
            bar.deleteLater()
        while len(self._bars) < len(order):
            bar = MemoryBar(self._theme)
            self._bars.append(bar)
            self._column.addWidget(bar)
        for bar, sample in zip(self._bars, order, strict=True):
            bar.show_sample(sample, self._held.get(sample.name))

    def showEvent(self, event: QShowEvent) -> None:
        """Sample while it is visible."""
        super().showEvent(event)
        self.looked_at.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop sampling while it is hidden."""
        super().hideEvent(event)
        self.looked_at.emit(False)


def short_bytes_text(n_bytes: int) -> str:
    """Three figures or four: 98.4 MiB, 972 MiB."""
    amount = float(n_bytes)
    while amount >= 1000:
        amount /= 1024
    decimals = 0 if amount >= 100 else 1
    return QLocale().formattedDataSize(n_bytes, decimals, QLocale.DataSizeFormat.DataSizeIecFormat)


def _amounts(shares: MemoryShares) -> dict[str, int]:
    return {part: getattr(shares, f"{part}_bytes") for part in PARTS}

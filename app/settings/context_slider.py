"""A slider over context windows: each step multiplies, and every value is one that llama.cpp really makes."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSlider

STEP = 256
"""llama.cpp rounds cells up to a multiple of this."""
N_STEPS = 200


class ContextSlider(QSlider):
    """``moved_to`` carries the tokens that a person slid to."""

    moved_to = Signal(int)

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setObjectName("n_ctxSlider")
        self.setRange(0, N_STEPS)
        self.setPageStep(N_STEPS // 10)
        self._most = 8192
        self.valueChanged.connect(lambda step: self.moved_to.emit(self.tokens(step)))

    def set_most(self, most: int) -> None:
        """The right end, in tokens."""
        self._most = max(2 * STEP, most // STEP * STEP)

    def tokens(self, step: int) -> int:
        """The tokens at a step."""
        exact = STEP * (self._most / STEP) ** (step / N_STEPS)
        return min(self._most, max(STEP, round(exact / STEP) * STEP))

    def show_tokens(self, n_tokens: int) -> None:
        """Stand where these tokens are; no signal is emitted."""
        nearest = min(range(N_STEPS + 1), key=lambda step: abs(self.tokens(step) - n_tokens))
        if self.tokens(self.value()) != n_tokens:
            self.blockSignals(True)
            self.setValue(nearest)
            self.blockSignals(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """A wheel that scrolls the panel changes nothing on its way."""
        event.ignore()

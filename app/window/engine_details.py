"""What the engine says about itself: versions, back ends, devices, and the end of its log."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QWidget

from app.link.status import EngineState, EngineStatus
from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.widgets.popup import Popup
from engine.api.installation import Installation, installation
from engine.api.messages import BACKENDS_WITHOUT_GPU, Device, EngineReady

WIDTH = 540


class EngineDetails(Retranslating, Popup):
    """``read_log`` gives the end of the engine's log; a stopped engine has a button for ``restart_requested``."""

    restart_requested = Signal()

    def __init__(self, theme: Theme, read_log: Callable[[], str], parent: QWidget) -> None:
        super().__init__(parent, WIDTH)
        self.setObjectName("engineDetails")
        self._theme = theme
        self._read_log = read_log
        self._status = EngineStatus()
        self._state = ""
        self.column.setContentsMargins(16, 14, 16, 14)
        self.column.setSpacing(10)
        self._title = QLabel()
        self._title.setProperty("level", "title")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)
        self._advice = QLabel()
        self._advice.setObjectName("engineAdvice")
        self._advice.setProperty("level", "meta")
        self._advice.setWordWrap(True)
        self._log_title = QLabel()
        self._log_title.setProperty("level", "heading")
        self._log = QPlainTextEdit()
        self._log.setObjectName("engineLog")
        self._log.setReadOnly(True)
        self._log.setTabChangesFocus(True)
        self._log.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._log.setFixedHeight(170)
        self._copy = QPushButton()
        self._copy.setObjectName("copyEngine")
        self._copy.setIcon(theme.icon("copy"))
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.as_text()))
        self._restart = QPushButton()
        self._restart.setObjectName("restartEngine")
        self._restart.setProperty("kind", "primary")
        self._restart.clicked.connect(self.close)
        self._restart.clicked.connect(self.restart_requested)
        buttons = QHBoxLayout()
        buttons.addWidget(self._copy)
        buttons.addStretch()
        buttons.addWidget(self._restart)
        self.column.addWidget(self._title)
        self.column.addLayout(self._grid)
        self.column.addWidget(self._advice)
        self.column.addWidget(self._log_title)
        self.column.addWidget(self._log)
        self.column.addLayout(buttons)
        self.retranslate()

    def set_status(self, status: EngineStatus, word: str) -> None:
        """What the engine is doing, also in a word."""
        is_new = status.engine != self._status.engine or status.facts != self._status.facts
        self._status, self._state = status, word
        if is_new or self.isVisible():
            self._render()

    def open_below(self, anchor: QWidget) -> None:
        """Show it with the log as it is now, at its end."""
        self._render()
        self._log.setFont(self._theme.code_font(self._theme.sizes.meta))
        self._log.setPlainText(self._read_log())
        self.open_at(anchor)
        bar = self._log.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._copy.setFocus(Qt.FocusReason.PopupFocusReason)

    def as_text(self) -> str:
        """Everything it shows, for a bug report."""
        lines = [f"{name}: {value}" for name, value in self._rows()]
        return "\n".join([*lines, "", self._log.toPlainText()])

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setAccessibleName(self.tr("Engine"))
        self._title.setText(self.tr("Engine"))
        self._log_title.setText(self.tr("End of the log"))
        self._log.setAccessibleName(self.tr("End of the log"))
        self._copy.setText(self.tr("Copy all"))
        self._copy.setToolTip(self.tr("Copy versions, devices and the log, for a bug report"))
        self._restart.setText(self.tr("Start again"))
        self._restart.setToolTip(self.tr("Start the engine again; the model is loaded once more"))
        self._render()

    def _rows(self) -> list[tuple[str, str]]:
        engine = self._status.engine
        rows = [(self.tr("State"), self._state)]
        if engine is not None:
            rows.append((self.tr("Versions"), " · ".join(f"{name} {text}" for name, text in engine.versions.items())))
            rows.append((self.tr("Back ends"), " · ".join(engine.backends) or "–"))
            if engine.cpu_variant:
                rows.append((self.tr("CPU code"), engine.cpu_variant))
            rows += [(device.name, self._device_text(device)) for device in engine.devices]
        return rows

    def _device_text(self, device: Device) -> str:
        free, total = language.bytes_text(device.free_bytes), language.bytes_text(device.total_bytes)
        memory = self.tr("{0} free of {1}").format(free, total)
        return f"{device.description} · {memory}" if device.total_bytes > 0 else device.description

    def _advice_text(self, engine: EngineReady) -> str:
        """What to do for a graphics card, where llama.cpp has found none."""
        if engine.without_gpu:
            return self.tr(
                "Graphics cards are left alone until Kvasir is started again, since a driver does not answer. "
                "Restart the computer, or update the driver."
            )
        for_cards = [name for name in engine.backends if name not in BACKENDS_WITHOUT_GPU]
        if for_cards:
            return self.tr("{0} is built in, but it found no graphics card; its driver may be missing.").format(
                " · ".join(for_cards)
            )
        return {
            Installation.CHECKOUT: self.tr(
                "This build of llama.cpp computes on the CPU only. “make run GPU=vulkan” (or cuda, metal, hip) "
                "builds one that uses a graphics card."
            ),
            Installation.PROGRAM: self.tr(
                "This package of Kvasir computes on the CPU only. One that is made for your graphics card uses it."
            ),
            Installation.PIP: self.tr(
                "This build of llama.cpp computes on the CPU only. llama-cpp-python installed again with "
                "CMAKE_ARGS=-DGGML_VULKAN=ON (or CUDA, METAL, HIP) uses a graphics card."
            ),
        }[installation()]

    def _render(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for row, (name, value) in enumerate(self._rows()):
            label, text = QLabel(name), QLabel(value)
            label.setProperty("level", "row")
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setWordWrap(True)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(text, row, 1)
        engine = self._status.engine
        has_gpu = engine is not None and any(device.is_gpu for device in engine.devices)
        self._advice.setVisible(engine is not None and not has_gpu)
        self._advice.setText(self._advice_text(engine) if engine is not None else "")
        self._restart.setVisible(self._status.state is EngineState.STOPPED)

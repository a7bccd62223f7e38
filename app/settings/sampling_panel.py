"""The drawer for the system prompt and the sampling settings of the next answer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.look.retranslating import Retranslating
from app.settings.chat_policy import ChatPolicy
from app.settings.form import SettingsForm
from app.settings.prompt_menu import PromptMenu
from app.store.preferences import MAX_SYSTEM_PROMPT
from app.store.records import PromptPreset
from engine.api.settings import PolicySettings, SamplingSettings
from engine.api.valid import valid_text

TYPING_MS = 400
"""A system prompt is remembered once its typing pauses."""


class SamplingPanel(Retranslating, QScrollArea):
    """What holds for the open chat from the next request on: ``sampling_edited`` carries SamplingSettings,
    ``system_prompt_edited`` a text, ``policy_edited`` PolicySettings or None, ``prompt_kept`` a PromptPreset."""

    sampling_edited = Signal(object)
    policy_edited = Signal(object)
    prompt_kept = Signal(object)
    system_prompt_edited = Signal(str)

    def __init__(self, sampling: SamplingSettings, system_prompt: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("samplingPanel")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._system_heading = QLabel()
        self._system_heading.setProperty("level", "heading")
        self.prompts = PromptMenu()
        self.policy = ChatPolicy()
        self._system = QPlainTextEdit(system_prompt)
        self._system.setObjectName("systemPrompt")
        self._system.setTabChangesFocus(True)
        self._system.setFixedHeight(132)
        self._system.document().setDocumentMargin(8)
        self._system_hint = QLabel()
        self._system_hint.setProperty("level", "micro")
        self._system_hint.setWordWrap(True)
        self._sampling_heading = QLabel()
        self._sampling_heading.setProperty("level", "heading")
        self._form = SettingsForm(sampling)
        self._reset = QPushButton()
        self._reset.setObjectName("resetSampling")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(TYPING_MS)
        self._lay_out()
        self.policy.edited.connect(self.policy_edited)
        self.prompts.chosen.connect(self._system.setPlainText)
        self.prompts.kept.connect(lambda name: self.prompt_kept.emit(PromptPreset(name, self.system_prompt)))
        self._system.textChanged.connect(self._timer.start)
        self._system.installEventFilter(self)
        self._timer.timeout.connect(lambda: self.system_prompt_edited.emit(self.system_prompt))
        self._form.edited.connect(self.sampling_edited)
        self._reset.clicked.connect(self._on_reset)
        self.retranslate()

    def _lay_out(self) -> None:
        content = QWidget()
        content.setProperty("surface", "side")
        column = QVBoxLayout(content)
        column.setContentsMargins(20, 12, 20, 20)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.addWidget(self._system_heading, 1)
        row.addWidget(self.prompts)
        column.addLayout(row)
        column.addWidget(self._system)
        column.addWidget(self._system_hint)
        column.addSpacing(12)
        column.addWidget(self._sampling_heading)
        column.addWidget(self._form)
        column.addSpacing(4)
        column.addWidget(self._reset, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(16)
        column.addWidget(self.policy)
        column.addStretch()
        self.setWidget(content)

    @property
    def system_prompt(self) -> str:
        """The text as it stands in the field."""
        return valid_text(self._system.toPlainText()[:MAX_SYSTEM_PROMPT])

    def flush(self) -> None:
        """Emit a pending edit of the system prompt now."""
        if self._timer.isActive():
            self._timer.stop()
            self.system_prompt_edited.emit(self.system_prompt)

    def show_settings(self, system_prompt: str, sampling: SamplingSettings, policy: PolicySettings | None) -> None:
        """What holds for another chat."""
        self.policy.show_policy(policy)
        if system_prompt != self._system.toPlainText():
            self._system.setPlainText(system_prompt)
            self._timer.stop()
        self._form.set_settings(sampling)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Sampling"))
        self.setAccessibleName(self.tr("Sampling"))
        self._system_heading.setText(self.tr("System prompt"))
        self._system.setPlaceholderText(self.tr("How the model should behave, for example: Answer briefly."))
        self._system.setAccessibleName(self.tr("System prompt"))
        self._system.setToolTip(
            self.tr(
                "Stands before this chat, and before those begun after it. "
                "A change makes the next request read the whole chat again."
            )
        )
        self._system_hint.setText(self.tr("Holds from the next message on; the chat is then read again once."))
        self._sampling_heading.setText(self.tr("Sampling"))
        self._form.setAccessibleName(self.tr("Sampling"))
        self._reset.setText(self.tr("Back to the defaults"))
        self._reset.setToolTip(self.tr("Takes all sampling settings back; the system prompt stays"))

    def _on_reset(self) -> None:
        self._form.set_settings(SamplingSettings())
        self.sampling_edited.emit(SamplingSettings())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whoever goes on to the message has finished the system prompt."""
        if watched is self._system and event.type() == QEvent.Type.FocusOut:
            self.flush()
        return super().eventFilter(watched, event)

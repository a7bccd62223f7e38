"""What leaves the cache when it is full, for one chat alone."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QVBoxLayout, QWidget

from app.look.retranslating import Retranslating
from app.settings.form import SettingsForm
from engine.api.settings import PolicySettings


class ChatPolicy(Retranslating, QWidget):
    """``edited`` carries PolicySettings, or None where those of the model hold."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chatPolicy")
        self._heading = QLabel()
        self._heading.setProperty("level", "heading")
        self._own = QCheckBox()
        self._own.setObjectName("ownPolicy")
        self._hint = QLabel()
        self._hint.setProperty("level", "micro")
        self._hint.setWordWrap(True)
        self._form = SettingsForm(PolicySettings())
        self._form.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for part in (self._heading, self._own, self._form, self._hint):
            column.addWidget(part)
        self._own.toggled.connect(self._form.setVisible)
        self._own.clicked.connect(self._tell)
        self._form.edited.connect(self._tell)
        self.retranslate()

    def show_policy(self, policy: PolicySettings | None) -> None:
        """What holds for another chat."""
        self._own.setChecked(policy is not None)
        self._form.set_settings(policy or PolicySettings())

    def _tell(self) -> None:
        self.edited.emit(self._form.settings if self._own.isChecked() else None)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self._heading.setText(self.tr("When the cache is full"))
        self._own.setText(self.tr("This chat has a policy of its own"))
        self._own.setToolTip(
            self.tr("Otherwise the settings of the model hold. A change holds from the next message on.")
        )
        self._hint.setText(
            self.tr("Otherwise the settings of the model hold. A change holds from the next message on.")
        )

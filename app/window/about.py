"""What Kvasir is, its version, and the licences of everything in it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

import engine
from app.look.resources import licences
from app.look.retranslating import Retranslating


class AboutDialog(Retranslating, QDialog):
    """Does not stop the window; gone once it is closed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("aboutDialog")
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(720, 560)
        self._name = QLabel()
        self._name.setObjectName("aboutName")
        self._name.setProperty("level", "title")
        self._words = QLabel()
        self._words.setWordWrap(True)
        self._licences = QPlainTextEdit(licences())
        self._licences.setObjectName("licences")
        self._licences.setReadOnly(True)
        # Keys move the text and Tab leaves it.
        self._licences.setTabChangesFocus(True)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(12)
        for widget in (self._name, self._words, self._licences, self._buttons):
            layout.addWidget(widget)
        self.retranslate()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("About Kvasir"))
        self._name.setText(self.tr("Kvasir {0}").format(engine.__version__))
        self._words.setText(
            self.tr("A desktop chat for local language models in which you can see and steer the KV cache.")
            + "\n"
            + self.tr("Its licence, and those of everything in it:")
        )
        self._licences.setAccessibleName(self.tr("Licences"))
        self._licences.setToolTip(self.tr("The list of all parts first, then the text of each licence"))
        self._buttons.button(QDialogButtonBox.StandardButton.Close).setText(self.tr("Close"))

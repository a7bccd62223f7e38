"""Asks before a load that would not fit the free memory, with settings that fit ready to be taken instead."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.look import language
from app.models.file_names import name_of_file
from engine.api.plan import Proposal
from engine.api.settings import LoadSettings


class FitQuestion(QObject):
    """``parent`` is the window that it asks in front of."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent

    def ask(
        self,
        path: str,
        settings: LoadSettings,
        proposal: Proposal | None,
        answer: Callable[[LoadSettings | None], object],
    ) -> None:
        """Ask; ``answer`` is called once, with the settings to load with or None."""
        box = QMessageBox(self._parent)
        box.setObjectName("doesNotFit")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(self.tr("“{0}” does not fit into the free memory with its settings.").format(name_of_file(path)))
        fitting = None
        if proposal is not None:
            box.setInformativeText(self.tr("It fits with these: {0}.").format(self._words(proposal)))
            fitting = box.addButton(self.tr("Load so that it fits"), QMessageBox.ButtonRole.AcceptRole)
            box.setDefaultButton(fitting)
        else:
            box.setInformativeText(self.tr("No settings make it fit: a smaller file of it may."))
        anyway = box.addButton(self.tr("Load all the same"), QMessageBox.ButtonRole.DestructiveRole)
        anyway.setToolTip(self.tr("Other programs may become slow, or the load may fail"))
        box.addButton(QMessageBox.StandardButton.Cancel)

        def on_finished() -> None:
            box.deleteLater()
            chosen = box.clickedButton()
            if proposal is not None and chosen is fitting:
                answer(proposal.settings)
            else:
                answer(settings if chosen is anyway else None)

        box.finished.connect(on_finished)
        box.open()

    def _words(self, proposal: Proposal) -> str:
        settings = proposal.settings
        parts = [
            self.tr("{0} tokens").format(language.number(settings.n_ctx or proposal.plan.n_ctx)),
            self.tr("K {0}, V {1}").format(settings.type_k.value, settings.type_v.value),
            self.tr("{0} layers on the GPU").format(proposal.plan.n_gpu_layers),
            language.bytes_text(proposal.plan.total_bytes),
        ]
        if not proposal.plan.n_gpu_layers:
            del parts[2]
        return " · ".join(parts)

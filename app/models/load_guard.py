"""Asks before a load that would not fit the free memory, with settings that fit ready to be taken instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.link.fit_queue import FitQueue
from app.link.session import EngineSession
from app.look import i18n
from app.models.file_names import name_of_file
from engine.api.errors import EngineError
from engine.api.plan import Fit, Proposal
from engine.api.settings import GpuLayers, LoadSettings

SURE_SHARE = 0.7
"""What is guessed to take less than this share of the free memory fits, and is not measured first."""

Load = Callable[[LoadSettings], object]


class LoadGuard(QObject):
    """``parent`` is the window that it asks in front of."""

    def __init__(self, session: EngineSession, fits: FitQueue, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._fits, self._parent = session, fits, parent
        self._waiting: tuple[str, LoadSettings, Load] | None = None
        fits.fit_found.connect(self._on_fit)
        fits.fit_refused.connect(self._on_refused)

    def is_sure(self, path: Path, settings: LoadSettings) -> bool:
        """Whether a load clearly fits, by a guess; called in a thread, since it reads the header."""
        from engine.devices import available_ram_bytes
        from engine.models.gguf import read_model_info
        from engine.plan.estimate import rough_bytes

        engine = self._session.status.engine
        gpus = [one for one in (engine.devices if engine is not None else ()) if one.kind == "gpu"]
        if gpus and settings.n_gpu_layers is not GpuLayers.AUTO:
            return False
        try:
            needed = rough_bytes(read_model_info(path), settings)
        except EngineError:
            # The load says what is wrong.
            return True
        free = available_ram_bytes() + sum(one.free_bytes for one in gpus)
        facts = self._session.status.facts
        given_back = sum(memory.total_bytes for memory in facts.devices) if facts is not None else 0
        return needed < SURE_SHARE * (free + given_back)

    def admit(self, path: str, settings: LoadSettings, load: Load) -> None:
        """Load what fits by an exact plan; ask about the rest."""
        self._waiting = (path, settings, load)
        self._fits.find(path, settings)

    def _on_fit(self, path: str, fit: Fit) -> None:
        if self._waiting is None or self._waiting[0] != path:
            return
        _, settings, load = self._waiting
        self._waiting = None
        if fit.largest_n_ctx is not None and not fit.proposals:
            load(settings)
        else:
            self._ask(path, fit.proposals[:1], settings, load)

    def _on_refused(self, path: str) -> None:
        if self._waiting is not None and self._waiting[0] == path:
            _, settings, load = self._waiting
            self._waiting = None
            # The load fails for the same reason, and says so where the person looks for it.
            load(settings)

    def _ask(self, path: str, proposals: tuple[Proposal, ...], settings: LoadSettings, load: Load) -> None:
        box = QMessageBox(self._parent)
        box.setObjectName("doesNotFit")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(self.tr("“{0}” does not fit into the free memory with its settings.").format(name_of_file(path)))
        accept = QMessageBox.ButtonRole.AcceptRole
        for one in proposals:
            box.setInformativeText(self.tr("It fits with these: {0}.").format(self._words(one)))
            button = box.addButton(self.tr("Load so that it fits"), accept)
            button.clicked.connect(lambda _checked, one=one: load(one.settings))
            box.setDefaultButton(button)
        if not proposals:
            box.setInformativeText(self.tr("No settings make it fit: a smaller file of it may."))
        anyway = box.addButton(self.tr("Load all the same"), QMessageBox.ButtonRole.DestructiveRole)
        anyway.setToolTip(self.tr("Other programs may become slow, or the load may fail"))
        anyway.clicked.connect(lambda: load(settings))
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.finished.connect(box.deleteLater)
        box.open()

    def _words(self, proposal: Proposal) -> str:
        settings = proposal.settings
        parts = [
            self.tr("{0} tokens").format(i18n.number(settings.n_ctx or proposal.plan.n_ctx)),
            self.tr("K {0}, V {1}").format(settings.type_k.value, settings.type_v.value),
            self.tr("{0} layers on the GPU").format(proposal.plan.n_gpu_layers),
            i18n.bytes_text(proposal.plan.total_bytes),
        ]
        if not proposal.plan.n_gpu_layers:
            del parts[2]
        return " · ".join(parts)

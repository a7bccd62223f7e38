"""Asks before a load that would not fit the free memory, with settings that fit ready to be taken instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.link.plan_service import PlanService
from app.link.session import EngineSession
from app.look import i18n
from app.models.file_names import name_of_file
from engine.api.errors import EngineError
from engine.api.messages import Failed, FindFit, FitFound, PlanAnswer
from engine.api.plan import Proposal
from engine.api.settings import GpuLayers, LoadSettings

SURE_SHARE = 0.7
"""What is guessed to take less than this share of the free memory fits, and is not measured first."""
ASKER = "load"

Load = Callable[[LoadSettings], object]


class LoadGuard(QObject):
    """``parent`` is the window that it asks in front of."""

    def __init__(self, session: EngineSession, plans: PlanService, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._plans, self._parent = session, plans, parent

    def is_sure(self, path: Path, settings: LoadSettings) -> bool:
        """Whether a load clearly fits, by a guess; called in a thread, since it reads the header."""
        import psutil

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
        free = psutil.virtual_memory().available + sum(one.free_bytes for one in gpus)
        facts = self._session.status.facts
        given_back = sum(memory.total_bytes for memory in facts.devices) if facts is not None else 0
        return needed < SURE_SHARE * (free + given_back)

    def admit(self, path: str, settings: LoadSettings, load: Load) -> None:
        """Load what fits by an exact plan; ask about the rest."""
        # Another load is another question.
        self._plans.forget(ASKER)
        question = FindFit(path, settings, self._session.status.held)
        self._plans.ask(ASKER, question, partial(self._on_answer, path, settings, load), is_urgent=True)

    def _on_answer(self, path: str, settings: LoadSettings, load: Load, answer: PlanAnswer) -> None:
        if isinstance(answer, FitFound) and (answer.fit.largest_n_ctx is None or answer.fit.proposals):
            self._ask(path, answer.fit.proposals[:1], settings, load)
        elif isinstance(answer, FitFound | Failed):
            # A load that the planner refuses fails for the same reason, and says so where the person looks for it.
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

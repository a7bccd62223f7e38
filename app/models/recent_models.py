"""Remembers which models were loaded, and keeps the picker's list of them up to date."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.link.model_loader import ModelLoader
from app.link.session import EngineSession
from app.models.file_names import model_name
from app.models.picker import ModelPicker
from app.store.preferences import RecentModel
from app.store.preferences_store import PreferencesStore
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import Event, Failed, ModelLoaded
from engine.models.starter import installed_starter


class RecentModels(QObject):
    """A model that was loaded comes first; one whose file is gone is forgotten when somebody chooses it."""

    def __init__(
        self, session: EngineSession, store: PreferencesStore, loader: ModelLoader, picker: ModelPicker
    ) -> None:
        super().__init__(picker)
        self._store, self._picker = store, picker
        session.event_received.connect(self._on_event)
        loader.failed.connect(self._on_failed)
        self._refresh()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, ModelLoaded):
            facts = event.facts
            recent = RecentModel(facts.path, model_name(facts), facts.quantization, facts.size_bytes)
            self._store.set(self._store.current.with_recent(recent))
            self._refresh()

    def _on_failed(self, path: str, error: EngineError | Failed) -> None:
        if error.code is ErrorCode.MODEL_NOT_FOUND:
            self._store.set(self._store.current.without_recent(path))
            self._refresh()

    def _refresh(self) -> None:
        starter = installed_starter()
        self._picker.set_recent(self._store.current.recent_models, str(starter) if starter is not None else None)

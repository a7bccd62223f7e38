"""Keeps the settings panel true to the model that is there, and has done what is asked for in it."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.link.load import Load, Stage, Why
from app.link.model_loader import ModelLoader
from app.link.model_setups import ModelSetups
from app.link.session import EngineSession
from app.link.status import EngineStatus
from app.settings.command_line import server_command
from app.settings.setup_panel import SetupPanel
from app.store.setup import Setup
from app.widgets.notices import Level, Notices
from engine.api.messages import EngineReady, Event


class SetupController(QObject):
    """``notices`` show that a command was copied."""

    def __init__(
        self, panel: SetupPanel, session: EngineSession, setups: ModelSetups, loader: ModelLoader, notices: Notices
    ) -> None:
        super().__init__(panel)
        self._panel, self._session, self._setups = panel, session, setups
        self._loader, self._notices = loader, notices
        self._path: str | None = None
        panel.presets_from(setups.store.current.presets)
        panel.apply_requested.connect(loader.apply)
        panel.command_wanted.connect(self._copy_command)
        panel.defaults_wanted.connect(self._find_defaults)
        panel.presets.saved.connect(lambda name: self._set_preset(name, panel.setup))
        panel.presets.removed.connect(lambda name: self._set_preset(name, None))
        setups.changed.connect(self._on_setup_changed)
        setups.defaults_found.connect(self._on_defaults_found)
        loader.ended.connect(self._on_load_ended)
        session.status_changed.connect(self._on_status)
        session.event_received.connect(self._on_event)

    def _set_preset(self, name: str, setup: Setup | None) -> None:
        store = self._setups.store
        current = store.current
        store.set(current.with_preset(name, setup) if setup is not None else current.without_preset(name))
        self._panel.presets_from(store.current.presets)

    def _copy_command(self) -> None:
        if self._path is not None:
            command = server_command(self._path, self._panel.setup, self._setups.store.current.sampling)
            QGuiApplication.clipboard().setText(command)
            self._notices.tell(Level.INFO, self.tr("The llama-server command is in the clipboard."), command)

    def _find_defaults(self, path: str) -> None:
        # Those of a model that nobody has set are found when it is opened.
        if self._setups.is_own(path):
            self._loader.find_defaults(path)

    def _show_setup(self) -> None:
        self._panel.show_model(self._path, self._setups.setup(self._path), self._setups.defaults(self._path))

    def _on_defaults_found(self, path: str) -> None:
        if path == self._path:
            self._panel.show_defaults(self._setups.defaults(path))

    def _on_setup_changed(self, path: str) -> None:
        if path == self._path:
            self._show_setup()

    def _on_load_ended(self, load: Load) -> None:
        # Settings that were tried are not in force, or somebody else had it loaded with others. What was only typed, or
        # gave way to newer ones, stays as it is in the fields.
        was_tried = load.wish.why is Why.APPLIED and load.request_id is not None
        is_undone = was_tried and load.stage is not Stage.LOADED and not self._loader.is_under_way
        if load.wish.path == self._path and (is_undone or self._setups.setup(self._path) != self._panel.applied):
            self._show_setup()

    def _on_status(self, status: EngineStatus) -> None:
        if status.model_path != self._path:
            self._path = status.model_path
            self._show_setup()
        self._panel.show_facts(status.facts)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, EngineReady):
            self._panel.form.set_gpus(sum(device.is_gpu for device in event.devices))

"""The window of models on a hub and a planner of the tests' own."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import keyring
import keyring.backends.null
import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.link.bridge import EngineBridge
from app.link.fit_queue import FitQueue
from app.link.model_setups import ModelSetups
from app.link.opener import ModelOpener
from app.link.session import EngineSession
from app.link.settings_chooser import SettingsChooser
from app.look.theme import Theme
from app.models.hub_worker import HubWorker
from app.models.library_watcher import LibraryWatcher
from app.models.model_desk import ModelDesk
from app.models.models_window import ModelsWindow
from app.models.workers import Workers
from app.store.preferences import PreferencesStore
from engine.models.stores import Source, Store
from tests.app.fake_engine import FakeEngine
from tests.app.models.fake_planner import FakePlanner
from tests.engine.models.raw_gguf import STRING, U32, model, pair
from tests.hub_server import HubServer, hub_server


@dataclass
class ModelRoom:
    """A window of models, and what stands behind it; ``opened`` are the files that were to be loaded, ``stores`` those
    of other programs."""

    desk: ModelDesk
    session: EngineSession
    store: PreferencesStore
    planner: FakePlanner
    server: HubServer
    folder: Path
    hub: HubWorker
    fits: FitQueue
    bridge: EngineBridge
    opener: ModelOpener
    engine: FakeEngine
    setups: ModelSetups
    chooser: SettingsChooser
    library: LibraryWatcher
    opened: list[str] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)

    @property
    def window(self) -> ModelsWindow:
        return next(one for one in QApplication.topLevelWidgets() if isinstance(one, ModelsWindow) and one.isVisible())

    def write(self, name: str, *, title: str = "") -> Path:
        """A small model in Kvasir's folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gguf_bytes(title or path.stem))
        return path


def gguf_bytes(name: str) -> bytes:
    return model(
        pair("general.name", STRING, name),
        pair("general.file_type", U32, 15),
        pair("general.license", STRING, "apache-2.0"),
    )


MakeRoom = Callable[[], ModelRoom]


@pytest.fixture
def make_room(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[MakeRoom]:
    ring = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.null.Keyring())
    rooms: list[ModelRoom] = []
    with hub_server() as server:

        def make_hub():
            from engine.models.hub.client import Hub

            return Hub(server.endpoint)

        def make() -> ModelRoom:
            bridge = EngineBridge()
            engine = FakeEngine(bridge.post)
            session = EngineSession(engine, bridge)
            store = PreferencesStore(tmp_path / "preferences.json", lambda problem: pytest.fail(str(problem)))
            folder = tmp_path / "data" / "models"
            planners: list[FakePlanner] = []

            def make_planner(post):
                planners.append(FakePlanner(post))
                return planners[-1]

            stores: list[Store] = []

            def stores_of(own, added):
                return (Store(Source.KVASIR, own), *(Store(Source.FOLDER, one) for one in added), *stores)

            workers = Workers(
                LibraryWatcher(folder, stores_of),
                HubWorker(folder, tmp_path / "data" / "downloads.json", tmp_path / "headers", make_hub),
                FitQueue(make_planner),
            )
            opened: list[str] = []
            setups = ModelSetups(store)
            chooser = SettingsChooser(session, workers.fits)
            opener = ModelOpener(session, setups, chooser, lambda path: opened.append(str(path)))
            desk = ModelDesk(Theme(qapp), session, store, workers, opener)
            room = ModelRoom(
                desk,
                session,
                store,
                planners[0],
                server,
                folder,
                workers.hub,
                workers.fits,
                bridge,
                opener,
                engine,
                setups,
                chooser,
                workers.library,
                opened,
                stores,
            )
            rooms.append(room)
            return room

        yield make
        for room in rooms:
            room.desk.close()
            room.desk.close_window()
    # A thread that held the last reference to a QObject would delete it where it must not be.
    for thread in threading.enumerate():
        if thread.name in ("hub", "library", "model-header"):
            thread.join(20)
    QCoreApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    rooms.clear()
    gc.collect()
    keyring.set_keyring(ring)
    qapp.setStyleSheet("")


@pytest.fixture
def room(make_room: MakeRoom) -> ModelRoom:
    return make_room()

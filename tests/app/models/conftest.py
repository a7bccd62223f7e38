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
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.link.bridge import EngineBridge
from app.link.model_loader import AskPerson, ModelLoader
from app.link.model_setups import ModelSetups
from app.link.plan_service import PlanService
from app.link.session import EngineSession
from app.look.theme import Theme
from app.models.hub_worker import HubWorker
from app.models.library_watcher import LibraryWatcher
from app.models.models_controller import ModelsController
from app.models.models_window import ModelsWindow
from app.models.workers import Workers
from app.store.preferences_store import PreferencesStore
from app.widgets.notices import Notices
from engine.models.stores import Source, Store
from tests.app.fake_engine import FakeEngine
from tests.app.models.fake_planner import FakePlanner
from tests.engine.models.raw_gguf import STRING, U32, model, pair
from tests.hub_server import HubServer, hub_server


@dataclass
class ModelRoom:
    """A window of models, and what stands behind it; ``opened`` are the files that were to be loaded, ``stores`` those
    of other programs."""

    desk: ModelsController
    session: EngineSession
    store: PreferencesStore
    planner: FakePlanner
    server: HubServer
    folder: Path
    hub: HubWorker
    plans: PlanService
    bridge: EngineBridge
    loader: ModelLoader
    engine: FakeEngine
    notices: Notices
    setups: ModelSetups
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


MakeRoom = Callable[..., ModelRoom]


@pytest.fixture
def make_room(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[MakeRoom]:
    ring = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.null.Keyring())
    rooms: list[ModelRoom] = []
    parents: list[QWidget] = []
    with hub_server() as server:

        def make_hub():
            from engine.models.hub.client import Hub

            return Hub(server.endpoint)

        def make(*, ask: AskPerson | None = None) -> ModelRoom:
            bridge = EngineBridge()
            engine = FakeEngine(bridge.post)
            session = EngineSession(engine, bridge)
            store = PreferencesStore(tmp_path / "preferences.json", lambda problem: pytest.fail(str(problem)))
            folder = tmp_path / "data" / "models"
            planner = FakePlanner()
            stores: list[Store] = []

            def stores_of(own, added):
                return (Store(Source.KVASIR, own), *(Store(Source.FOLDER, one) for one in added), *stores)

            workers = Workers(
                LibraryWatcher(folder, stores_of),
                HubWorker(folder, tmp_path / "data" / "downloads.json", tmp_path / "headers", make_hub),
                PlanService(planner),
            )
            opened: list[str] = []
            setups = ModelSetups(store)
            loader = ModelLoader(session, setups, workers.plans, ask, lambda path: opened.append(str(path)))
            theme, parent = Theme(qapp), QWidget()
            parents.append(parent)
            notices = Notices(theme, parent)
            desk = ModelsController(theme, loader, store, workers, notices)
            room = ModelRoom(
                desk,
                session,
                store,
                planner,
                server,
                folder,
                workers.hub,
                workers.plans,
                bridge,
                loader,
                engine,
                notices,
                setups,
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
    parents.clear()
    gc.collect()
    keyring.set_keyring(ring)
    qapp.setStyleSheet("")


@pytest.fixture
def room(make_room: MakeRoom) -> ModelRoom:
    return make_room()

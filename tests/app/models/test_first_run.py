"""The page without a model: what it offers to begin with, and how that becomes a model."""

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
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QPushButton
from pytestqt.qtbot import QtBot

from app.commands.actions import Actions
from app.link.bridge import EngineBridge
from app.link.plan_service import PlanService
from app.link.session import EngineSession
from app.look.language import Languages
from app.look.theme import Theme
from app.models import first_run
from app.models.first_cards import FirstCard
from app.models.first_models import Offer
from app.models.first_run import FirstRun
from app.models.hub_worker import HubWorker
from app.models.library_watcher import LibraryWatcher
from app.models.workers import Workers
from app.window.welcome import Welcome
from engine.api.settings import LoadSettings
from engine.models.hub import reach
from engine.models.hub.downloads import DownloadState
from engine.models.hub.suggestions import SUGGESTIONS
from engine.models.starter import starter_path
from engine.models.stores import Source, Store
from tests.app.fake_engine import FakeEngine
from tests.app.models.conftest import gguf_bytes
from tests.app.models.fake_planner import FakePlanner
from tests.hub_server import HubServer, hub_server

CONTENT = gguf_bytes("A model") + bytes(1 << 20)
BY_NAME = {one.name: one for one in SUGGESTIONS}


@dataclass
class Page:
    """The welcome page, what stands behind it, and the files that were to be loaded."""

    window: QMainWindow
    welcome: Welcome
    session: EngineSession
    server: HubServer
    workers: Workers
    folder: Path
    opened: list[str] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)

    @property
    def offer(self) -> Offer:
        return self.welcome.first_models.offer

    @property
    def cards(self) -> list[FirstCard]:
        return self.welcome.first_models.cards

    def fit(self, index: int = 0) -> str:
        return self.cards[index].fit.text()

    def shown(self, index: int = 0) -> list[str]:
        """The buttons of a card that can be seen."""
        buttons = self.cards[index].findChildren(QPushButton)
        return [button.objectName() for button in buttons if button.isVisible()]

    def buttons(self) -> list[str]:
        """Those of the page itself."""
        found = self.welcome.findChildren(QPushButton)
        return [one.objectName() for one in found if one.isVisible() and one.objectName().startswith("welcome")]

    def press(self, name: str, index: int = 0) -> None:
        button = self.cards[index].findChild(QPushButton, name)
        assert button is not None
        assert button.isVisible()
        button.click()


StartPage = Callable[..., Page]


@pytest.fixture
def start_page(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[StartPage]:
    """Opens a page; ``has_starter`` and ``is_connected`` say what is there."""
    ring = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.null.Keyring())
    pages: list[Page] = []
    with hub_server() as server:

        def make_hub():
            from engine.models.hub.client import Hub

            return Hub(server.endpoint)

        def start(*, has_starter: bool = False, is_connected: bool = True) -> Page:
            monkeypatch.setattr(first_run, "has_starter", lambda: has_starter)
            monkeypatch.setattr(reach, "may_be_reached", lambda environment: is_connected)
            monkeypatch.setattr(first_run, "free_memory", lambda engine: (0, 8 << 30))
            bridge = EngineBridge()
            session = EngineSession(FakeEngine(bridge.post), bridge)
            folder = tmp_path / "models"
            stores: list[Store] = []
            workers = Workers(
                LibraryWatcher(folder, lambda own, added: (Store(Source.KVASIR, own), *stores)),
                HubWorker(folder, tmp_path / "downloads.json", tmp_path / "headers", make_hub),
                PlanService(FakePlanner()),
            )
            theme = Theme(qapp)
            window = QMainWindow()
            qtbot.addWidget(window)
            welcome = Welcome(theme, Actions(window, theme), window)
            page = Page(window, welcome, session, server, workers, folder, stores=stores)
            pages.append(page)
            FirstRun(welcome.first_models, session, workers, workers.library.look, page.opened.append)
            session.status_changed.connect(welcome.set_status)
            welcome.resize(800, 700)
            window.show()
            session.start()
            return page

        yield start
        for page in pages:
            page.workers.close()
    for thread in threading.enumerate():
        if thread.name in ("hub", "library"):
            thread.join(20)
    QCoreApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    pages.clear()
    gc.collect()
    keyring.set_keyring(ring)
    qapp.setStyleSheet("")


def publish(page: Page, *, but: str = "") -> None:
    for one in SUGGESTIONS:
        if one.name != but:
            page.server.add(one.repo, {"model-q4_k_m.gguf": CONTENT})


def wait_for(qtbot: QtBot, page: Page, offer: Offer) -> None:
    qtbot.waitUntil(lambda: page.offer is offer)


def test_three_suggestions_and_not_a_word_to_the_hub(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page()
    wait_for(qtbot, page, Offer.SUGGESTED)
    assert [card.title.line for card in page.cards] == [
        "Qwen3 4B",
        "Qwen2.5 1.5B Instruct",
        "SmolLM2 1.7B Instruct",
    ]
    assert [page.shown(index) for index in range(3)] == [["downloadFirst"]] * 3
    assert page.fit().startswith("Fits, on the processor · takes about 3.2 GiB")
    assert "guess" in page.cards[0].fit.toolTip()
    assert page.server.requests == []


def test_download_and_open(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page()
    publish(page)
    wait_for(qtbot, page, Offer.SUGGESTED)
    page.server.gate = threading.Event()
    page.press("downloadFirst")
    qtbot.waitUntil(lambda: page.shown() == ["pauseFirst"], timeout=10_000)
    qtbot.waitUntil(lambda: page.server.reached_gate.is_set() and page.cards[0].bar.isVisible())
    page.press("pauseFirst")
    qtbot.waitUntil(lambda: page.shown() == ["resumeFirst"])
    page.server.gate.set()
    page.press("resumeFirst")
    qtbot.waitUntil(lambda: page.shown() == ["openFirst"], timeout=10_000)
    assert not page.cards[0].bar.isVisible()
    with qtbot.waitSignal(page.workers.library.listed):
        page.workers.library.look()
    assert page.shown(1) == ["downloadFirst"], "it is listed now, and the others can be downloaded all the same"
    page.press("openFirst")
    assert Path(page.opened[0]).read_bytes() == CONTENT


def test_what_was_downloaded_is_offered_after_it_was_unloaded(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page()
    publish(page)
    wait_for(qtbot, page, Offer.SUGGESTED)
    page.press("downloadFirst")
    qtbot.waitUntil(lambda: page.shown() == ["openFirst"], timeout=10_000)
    page.session.load("/models/Tiny-1B-Q4_K_M.gguf", LoadSettings())
    qtbot.waitUntil(lambda: page.session.status.facts is not None)
    page.session.unload()
    wait_for(qtbot, page, Offer.FOUND)
    assert [card.title.line for card in page.cards] == ["A model"]


def test_a_suggestion_that_is_gone_says_so_and_the_others_go_on(
    start_page: StartPage, qtbot: QtBot, languages: Languages
) -> None:
    page = start_page()
    publish(page, but="Qwen3 4B")
    wait_for(qtbot, page, Offer.SUGGESTED)
    page.press("downloadFirst")
    qtbot.waitUntil(lambda: "is no longer where it was" in page.fit(), timeout=10_000)
    assert "is no longer" not in page.fit(1)
    languages.choose("zh_CN")
    qtbot.waitUntil(lambda: "已不在" in page.fit())
    languages.choose("en")
    assert page.shown() == ["downloadFirst"]
    page.press("downloadFirst", 1)
    qtbot.waitUntil(lambda: page.shown(1) == ["openFirst"], timeout=10_000)
    assert "is no longer" in page.fit()


def test_a_renamed_repository_still_shows_its_progress(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page()
    page.server.add("new/home", {"model-Q4_K_M.gguf": CONTENT})
    page.server.renamed[BY_NAME["Qwen3 4B"].repo] = "new/home"
    wait_for(qtbot, page, Offer.SUGGESTED)
    page.press("downloadFirst")
    qtbot.waitUntil(lambda: page.shown() == ["openFirst"], timeout=10_000)


def test_a_failure_can_be_tried_again(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page()
    publish(page)
    page.server.status = 429
    wait_for(qtbot, page, Offer.SUGGESTED)
    page.press("downloadFirst")
    qtbot.waitUntil(lambda: "asks for a pause" in page.fit(), timeout=10_000)
    page.server.status = None
    page.press("downloadFirst")
    qtbot.waitUntil(lambda: page.shown() == ["openFirst"], timeout=10_000)


def test_without_a_connection_it_says_what_to_do_and_looks_again(
    start_page: StartPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_run, "LOOK_MS", 20)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    page = start_page(is_connected=False)
    wait_for(qtbot, page, Offer.NO_CONNECTION)
    texts = " ".join(label.text() for label in page.welcome.findChildren(QLabel))
    assert "no connection" in texts
    assert ".gguf" in texts
    assert page.buttons() == ["welcomeOpen", "welcomeAddFolder"]
    assert page.cards == []
    monkeypatch.setattr(reach, "may_be_reached", lambda environment: True)
    wait_for(qtbot, page, Offer.SUGGESTED)
    assert page.server.requests == []


def test_what_is_here_already_comes_first(start_page: StartPage, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "models" / "mine.gguf"
    path.parent.mkdir()
    path.write_bytes(gguf_bytes("Mine"))
    page = start_page(is_connected=False)
    wait_for(qtbot, page, Offer.FOUND)
    page.press("openFirst")
    assert page.opened == [str(path)]


def test_with_the_starter_nothing_is_suggested(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page(has_starter=True)
    with qtbot.waitSignal(page.workers.library.listed):
        pass
    assert page.offer is Offer.NOTHING
    assert page.buttons() == ["welcomeChoose", "welcomeFind"]


def test_the_starter_alone_is_no_model_that_was_found(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page(has_starter=True)
    page.stores.append(Store(Source.STARTER, starter_path().parent))
    with qtbot.waitSignal(page.workers.library.listed) as listed:
        page.workers.library.look()
    assert [model.source for model in listed.args[0].models] == [Source.STARTER]
    assert page.offer is Offer.NOTHING


def test_the_page_makes_way_for_a_model(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page()
    wait_for(qtbot, page, Offer.SUGGESTED)
    page.session.load("/models/Tiny-1B-Q4_K_M.gguf", LoadSettings())
    qtbot.waitUntil(lambda: page.session.status.facts is not None)
    assert page.offer is Offer.NOTHING
    assert page.buttons() == []


def test_the_starter_says_that_there_are_better_ones(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page()
    page.session.load(str(starter_path()), LoadSettings())
    qtbot.waitUntil(lambda: page.session.status.facts is not None)
    assert page.buttons() == ["welcomeFind"]
    page.session.load("/models/Tiny-1B-Q4_K_M.gguf", LoadSettings())
    qtbot.waitUntil(lambda: page.buttons() == [])


def test_a_low_window_shows_the_first_one_at_least(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page()
    wait_for(qtbot, page, Offer.SUGGESTED)
    assert [card.isVisible() for card in page.cards] == [True, True, True]
    page.welcome.resize(420, 260)
    assert [card.isVisible() for card in page.cards] == [True, False, False]
    page.welcome.resize(800, 700)
    assert [card.isVisible() for card in page.cards] == [True, True, True]


def test_a_restart_shows_the_download_again(start_page: StartPage, qtbot: QtBot) -> None:
    page = start_page()
    publish(page)
    wait_for(qtbot, page, Offer.SUGGESTED)
    page.server.gate = threading.Event()
    page.press("downloadFirst")
    qtbot.waitUntil(lambda: page.shown() == ["pauseFirst"], timeout=10_000)
    page.press("pauseFirst")
    page.server.gate.set()
    page.workers.close()
    again = start_page()
    wait_for(qtbot, again, Offer.SUGGESTED)
    assert again.workers.hub.queue.downloads[0].state is DownloadState.PAUSED
    assert again.shown() == ["resumeFirst"]

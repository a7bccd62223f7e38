"""The window of models: what is here, what fits, what is found, and what comes of a download."""

from __future__ import annotations

import shutil
import threading
from types import SimpleNamespace

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QInputDialog, QMessageBox, QPushButton, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from app.look.language import Languages
from app.models.fit_question import FitQuestion
from app.models.model_card import ModelCard
from app.widgets.elided_label import ElidedLabel
from engine.api.settings import CacheType, GpuLayers
from engine.models.hub.remote import Reference, RemoteFile, RemoteModel
from tests.app.models.conftest import MakeRoom, ModelRoom, gguf_bytes
from tests.app.models.fake_planner import REFUSED
from tests.hub_server import TOKEN


def titles(cards: list[ModelCard]) -> list[str]:
    return [card.title.line for card in cards]


def card_of(cards: list[ModelCard], title: str) -> ModelCard:
    return next(card for card in cards if title in card.title.line)


def press(qtbot: QtBot, card: ModelCard, name: str) -> None:
    button = card.findChild(QPushButton, name)
    assert button is not None
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def shown_fits(cards: list[ModelCard]) -> dict[str, str]:
    return {card.title.line: card.fit.text().split(" · ")[0] for card in cards}


# --- the library ---


def test_models_of_this_machine_with_what_fits(room: ModelRoom, qtbot: QtBot) -> None:
    room.write("small.gguf", title="Small")
    room.write("large.gguf", title="Large")
    room.write("huge.gguf", title="Huge")
    room.write("refused.gguf", title="Refused")
    room.write("cut.gguf").write_bytes(gguf_bytes("cut")[:-50])
    room.desk.show_library()
    page = room.window.library
    expected = {
        "cut": "“cut.gguf” is incomplete: it ends too early, as in a broken download. Download it again.",
        "Small": "Fits on the GPU",
        "Large": "20 of 33 layers on the GPU",
        "Huge": "Does not fit into the free memory",
        "Refused": str(REFUSED),
    }
    qtbot.waitUntil(lambda: shown_fits(page.cards) == expected)
    small = card_of(page.cards, "Small")
    assert "32768 tokens" in small.fit.text()
    assert "K/V q8_0" in small.fit.text()
    assert small.fit.toolTip() == "All 33 layers fit on the GPU."
    assert small.isVisible()
    facts = " · ".join(label.line for label in small.findChildren(ElidedLabel))
    for fact in (
        "Q4_K_M",
        "KiB",
        "0 M parameters",
        "trained for 512 tokens",
        "of KV per 1,000",
        "apache-2.0",
        "small.gguf",
    ):
        assert fact in facts
    assert not card_of(page.cards, "cut").findChildren(QPushButton), "what is broken can't be loaded"


def test_a_model_is_loaded_as_its_line_says(room: ModelRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=0))
    room.session.start()
    path = str(room.write("small.gguf"))
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: shown_fits(page.cards) == {"small": "Fits on the GPU"})
    press(qtbot, page.cards[0], "loadModel")
    qtbot.waitUntil(lambda: [command.path for command in room.engine.sent] == [path])
    load = room.engine.sent[0].settings
    assert (load.n_ctx, load.type_k) == (32_768, CacheType.Q8_0)
    assert load.n_gpu_layers is GpuLayers.AUTO, "counted again at each load"
    assert room.store.current.setups == {}, "the next time there may be other memory"


def test_what_does_not_fit_asks_first_and_once(
    make_room: MakeRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    room = make_room(ask=FitQuestion(parent).ask)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=0))
    room.session.start()
    path = str(room.write("huge.gguf"))
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: "huge" in shown_fits(page.cards) and "not fit" in page.cards[0].fit.text())

    def box() -> QMessageBox | None:
        shown = (one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox) and one.isVisible())
        return next(shown, None)

    press(qtbot, page.cards[0], "loadModel")
    qtbot.waitUntil(lambda: box() is not None)
    assert not room.engine.sent
    next(button for button in box().buttons() if button.text() == "Load all the same").click()
    assert [command.path for command in room.engine.sent] == [path]
    assert box() is None
    assert path not in room.store.current.setups, "nobody has set it"


def test_a_name_that_leads_out_is_a_sentence(room: ModelRoom, qtbot: QtBot) -> None:
    room.desk.show_finder()
    finder = room.window.finder
    finder.download_wanted.emit(RemoteModel("o/n", "main", (RemoteFile("../../x.gguf", 5, None),)))
    assert "would lead out" in finder.findChild(object, "findMessage").text()


def test_files_come_and_go(room: ModelRoom, qtbot: QtBot) -> None:
    room.write("one.gguf")
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: titles(page.cards) == ["one"])
    room.write("two.gguf")
    qtbot.waitUntil(lambda: titles(page.cards) == ["one", "two"])
    (room.folder / "one.gguf").unlink()
    qtbot.waitUntil(lambda: titles(page.cards) == ["two"])
    shutil.rmtree(room.folder)
    qtbot.waitUntil(lambda: page.cards == [])


def test_an_added_folder_is_listed_and_remembered(room: ModelRoom, qtbot: QtBot, tmp_path) -> None:
    elsewhere = tmp_path / "别处 models"
    elsewhere.mkdir()
    (elsewhere / "there.gguf").write_bytes(gguf_bytes("There"))
    room.desk.show_library()
    room.desk.add_folder(str(elsewhere))
    room.desk.add_folder(str(elsewhere))
    page = room.window.library
    qtbot.waitUntil(lambda: titles(page.cards) == ["There"])
    assert room.store.current.model_folders == (str(elsewhere),)
    menu = page.findChild(QPushButton, "addFolder").menu()
    next(action for action in menu.actions() if str(elsewhere) in action.text()).trigger()
    qtbot.waitUntil(lambda: page.cards == [])
    assert room.store.current.model_folders == ()
    assert page.findChild(QPushButton, "addFolder").menu() is None
    assert (elsewhere / "there.gguf").is_file()


def test_an_added_folder_that_vanishes_and_returns(room: ModelRoom, qtbot: QtBot, tmp_path) -> None:
    elsewhere = tmp_path / "disk" / "models"
    elsewhere.mkdir(parents=True)
    (elsewhere / "there.gguf").write_bytes(gguf_bytes("There"))
    room.desk.show_library()
    room.desk.add_folder(str(elsewhere))
    page = room.window.library
    qtbot.waitUntil(lambda: titles(page.cards) == ["There"])
    elsewhere.rename(tmp_path / "unplugged")
    qtbot.waitUntil(lambda: page.cards == [])
    assert room.store.current.model_folders == (str(elsewhere),)
    (tmp_path / "unplugged").rename(elsewhere)
    qtbot.waitUntil(lambda: titles(page.cards) == ["There"])


def test_in_a_wide_window_a_button_stays_near_its_model(room: ModelRoom, qtbot: QtBot) -> None:
    room.write("one.gguf")
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: titles(page.cards) == ["one"])
    room.window.resize(3000, 900)
    qtbot.waitUntil(lambda: 1000 < page.cards[0].width() < 1200)


def test_the_filter(room: ModelRoom, qtbot: QtBot) -> None:
    for name in ("Alpha 7B", "Alpha 1B", "Beta 7B"):
        room.write(f"{name}.gguf", title=name)
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: len(page.cards) == 3)
    qtbot.keyClicks(page.findChild(object, "libraryFilter"), "7b alpha")
    assert titles(page.cards) == ["Alpha 7B"]


# --- the hub ---


def ask(qtbot: QtBot, room: ModelRoom, text: str) -> None:
    finder = room.window.finder
    finder.field.setText(text)
    qtbot.keyClick(finder.field, Qt.Key.Key_Return)


def test_search_open_judge_download_load(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add("o/Tiny-GGUF", {"Tiny-Q4_K_M.gguf": gguf_bytes("Tiny"), "Tiny-Q8_0-large.gguf": gguf_bytes("T8")})
    room.desk.show_finder()
    window = room.window
    repos = window.finder.findChild(object, "foundRepos")
    assert repos.count() >= 1, "suggestions come first"
    ask(qtbot, room, "tiny")
    qtbot.waitUntil(lambda: repos.count() == 1 and "o/Tiny-GGUF" in repos.item(0).text())
    assert "1000 downloads" in repos.item(0).text()
    repos.itemActivated.emit(repos.item(0))
    expected = {"Tiny-Q4_K_M": "Fits on the GPU", "Tiny-Q8_0-large": "20 of 33 layers on the GPU"}
    qtbot.waitUntil(lambda: shown_fits(window.finder.cards) == expected)
    assert not (room.folder / "o").exists(), "nothing was downloaded to know it"
    press(qtbot, card_of(window.finder.cards, "Q4_K_M"), "downloadModel")
    qtbot.waitUntil(lambda: bool(window.downloads.cards))
    qtbot.waitUntil(lambda: "Complete" in window.downloads.cards[0].fit.text())
    assert not card_of(window.finder.cards, "Q4_K_M").findChild(QPushButton, "downloadModel").isEnabled()
    qtbot.waitUntil(lambda: titles(window.library.cards) == ["Tiny"])
    window.show_page(window.downloads)
    press(qtbot, window.downloads.cards[0], "loadDownload")
    path = str(room.folder / "o" / "Tiny-GGUF" / "Tiny-Q4_K_M.gguf")
    qtbot.waitUntil(lambda: room.opened == [path])


def test_an_address_opens_its_repository(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add("o/n", {"a-Q8_0.gguf": gguf_bytes("A"), "b-Q4_0.gguf": gguf_bytes("B")})
    room.desk.show_finder()
    ask(qtbot, room, "https://huggingface.co/o/n/blob/main/a-Q8_0.gguf")
    qtbot.waitUntil(lambda: titles(room.window.finder.cards) == ["a-Q8_0"])


def test_problems_are_said_with_their_way_out(room: ModelRoom, qtbot: QtBot) -> None:
    room.desk.show_finder()
    message = room.window.finder.findChild(object, "findMessage")
    ask(qtbot, room, "o/missing")
    qtbot.waitUntil(lambda: "o/missing" in message.text())
    assert "check its name" in message.text()
    room.server.status = 503
    ask(qtbot, room, "words")
    qtbot.waitUntil(lambda: "try again later" in message.text())
    room.server.status = None
    ask(qtbot, room, "nothing like this")
    qtbot.waitUntil(lambda: "Nothing found" in message.text())


@pytest.mark.expected_log("download of o/gated/a-Q8_0.gguf: hub_gated")
def test_a_gated_model_and_its_token(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add("o/gated", {"a-Q8_0.gguf": gguf_bytes("A")}, is_gated=True)
    room.desk.show_finder()
    ask(qtbot, room, "o/gated")
    finder = room.window.finder
    qtbot.waitUntil(lambda: bool(finder.cards) and "accept its terms" in finder.cards[0].fit.text())
    press(qtbot, finder.cards[0], "downloadModel")
    downloads = room.window.downloads
    qtbot.waitUntil(lambda: bool(downloads.cards) and "accept its terms" in downloads.cards[0].fit.text())
    qtbot.mouseClick(finder.findChild(QPushButton, "accessToken"), Qt.MouseButton.LeftButton)
    dialog = room.window.findChild(QInputDialog)
    dialog.setTextValue(TOKEN)
    dialog.accept()
    qtbot.waitUntil(lambda: room.hub.hub().token == TOKEN)
    room.window.show_page(downloads)
    press(qtbot, downloads.cards[0], "resumeDownload")
    qtbot.waitUntil(lambda: "Complete" in downloads.cards[0].fit.text())


# --- downloads ---


def test_pause_resume_and_remove(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add("o/n", {"a-Q8_0.gguf": gguf_bytes("A")})
    room.desk.show_finder()
    ask(qtbot, room, "o/n")
    finder, downloads = room.window.finder, room.window.downloads
    qtbot.waitUntil(lambda: shown_fits(finder.cards) == {"a-Q8_0": "Fits on the GPU"})
    room.server.gate = threading.Event()
    press(qtbot, finder.cards[0], "downloadModel")
    assert room.server.reached_gate.wait(10)
    room.window.show_page(downloads)
    qtbot.waitUntil(lambda: bool(downloads.cards))
    press(qtbot, downloads.cards[0], "pauseDownload")
    qtbot.waitUntil(lambda: downloads.cards[0].fit.text() == "Paused")
    room.server.gate.set()
    press(qtbot, downloads.cards[0], "resumeDownload")
    qtbot.waitUntil(lambda: "Complete" in downloads.cards[0].fit.text())
    press(qtbot, downloads.cards[0], "removeDownload")
    qtbot.waitUntil(lambda: downloads.cards == [])
    assert (room.folder / "o" / "n" / "a-Q8_0.gguf").is_file()


def test_closing_during_a_download_takes_little_and_the_next_start_goes_on(make_room: MakeRoom, qtbot: QtBot) -> None:
    room = make_room()
    room.server.add("o/n", {"a-Q8_0.gguf": gguf_bytes("A")})
    room.desk.show_finder()
    ask(qtbot, room, "o/n")
    finder = room.window.finder
    qtbot.waitUntil(lambda: shown_fits(finder.cards) == {"a-Q8_0": "Fits on the GPU"})
    room.server.gate = threading.Event()
    press(qtbot, finder.cards[0], "downloadModel")
    assert room.server.reached_gate.wait(10)
    room.server.gate.set()
    room.desk.close()
    room.desk.close_window()
    room.server.gate = None
    again = make_room()
    again.desk.start()
    path = again.folder / "o" / "n" / "a-Q8_0.gguf"
    qtbot.waitUntil(path.is_file)
    assert path.read_bytes() == gguf_bytes("A")


def test_a_download_that_ends_while_nobody_looks_is_told(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add("o/n", {"a-Q8_0.gguf": gguf_bytes("A")})
    model = room.hub.hub().repo(Reference("o/n")).models[0]
    room.hub.queue.add(model)
    qtbot.waitUntil(lambda: [notice.text for notice in room.notices.notices] == ["“a-Q8_0” is downloaded."])


@pytest.mark.expected_log("download of o/gated/a-Q8_0.gguf: hub_gated")
def test_all_of_it_changes_its_language(room: ModelRoom, qtbot: QtBot, languages: Languages) -> None:
    room.write("small.gguf", title="Small")
    room.write("refused.gguf", title="Refused")
    room.server.add("o/gated", {"a-Q8_0.gguf": gguf_bytes("A")}, is_gated=True)
    room.desk.show_library()
    window = room.window
    qtbot.waitUntil(lambda: shown_fits(window.library.cards) == {"Small": "Fits on the GPU", "Refused": str(REFUSED)})
    room.hub.queue.add(room.hub.hub().repo(Reference("o/gated")).models[0])
    qtbot.waitUntil(lambda: bool(window.downloads.cards) and "terms" in window.downloads.cards[0].fit.text())
    languages.choose("zh_CN")
    qtbot.waitUntil(lambda: window.windowTitle() == "模型")
    tabs = window.findChild(QTabWidget)
    assert [tabs.tabText(index) for index in range(3)] == ["本机", "查找", "下载"]
    fits = shown_fits(window.library.cards)
    assert fits == {"Small": "GPU 放得下", "Refused": "这是“nonsense”模型，当前版本无法运行：需要更新的 Kvasir。"}
    assert card_of(window.library.cards, "Small").fit.toolTip() == "全部 33 层都能放入 GPU。"
    assert "需要授权" in window.downloads.cards[0].fit.text()
    assert window.downloads.cards[0].findChild(QPushButton, "resumeDownload").text() == "重试"
    languages.choose("en")
    qtbot.waitUntil(lambda: window.windowTitle() == "Models")
    assert shown_fits(window.library.cards)["Small"] == "Fits on the GPU"

"""The lists of models stay quick and calm: long ones, those that change, and names that are anything but names."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import keyring
import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as Gui
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from app.models import hub_worker
from app.models.fit_question import FitQuestion
from app.models.model_card import CARDS_AT_ONCE, ModelCard
from app.widgets.elided_label import ElidedLabel
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import LoadModel
from engine.api.sentences import say
from tests.app.models.conftest import MakeRoom, ModelRoom, gguf_bytes
from tests.hub_server import TOKEN
from tests.tiny import TinySpec, write_tiny_model

REPO = "o/n"


def titles(cards: list[ModelCard]) -> list[str]:
    return [card.title.line for card in cards]


def button(card: ModelCard, name: str) -> QPushButton:
    found = card.findChild(QPushButton, name)
    assert found is not None
    return found


def ask(qtbot: QtBot, room: ModelRoom, text: str) -> None:
    field = room.window.finder.field
    field.setText(text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


# --- long ones, and those that change ---


def test_the_keyboard_stays_where_it_is_when_files_come(room: ModelRoom, qtbot: QtBot) -> None:
    for number in range(12):
        room.write(f"m{number:02d}.gguf")
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: len(page.cards) == 12 and all("GPU" in card.fit.text() for card in page.cards))
    load = button(page.cards[8], "loadModel")
    load.setFocus()
    room.write("m00b.gguf")
    qtbot.waitUntil(lambda: len(page.cards) == 13)
    assert QApplication.focusWidget() is load
    assert load.isVisible()
    button(page.cards[0], "loadModel").setFocus()
    for card in page.cards[1:]:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is button(card, "loadModel"), "the new one is where it stands"


def test_the_keyboard_begins_where_the_page_does(room: ModelRoom, qtbot: QtBot) -> None:
    room.write("m.gguf")
    room.desk.show_finder()
    window = room.window
    qtbot.waitUntil(lambda: bool(window.library.cards))
    assert QApplication.focusWidget() is window.finder.field
    window.show_page(window.library)
    assert QApplication.focusWidget() is window.library.focusProxy()
    assert window.library.focusProxy().objectName() == "libraryFilter"
    bar = window.findChild(QTabWidget).tabBar()
    bar.setFocus()
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert window.finder.isVisible()
    assert QApplication.focusWidget() is bar, "to go on to the next tab"


def test_a_download_that_is_added_leaves_the_keyboard_there(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add(REPO, {"a-Q4_0.gguf": gguf_bytes("A"), "b-Q8_0.gguf": gguf_bytes("Bb")})
    room.desk.show_finder()
    finder = room.window.finder
    ask(qtbot, room, REPO)
    qtbot.waitUntil(lambda: len(finder.cards) == 2)
    other = button(finder.cards[1], "downloadModel")
    other.setFocus()
    button(finder.cards[0], "downloadModel").click()
    qtbot.waitUntil(lambda: button(finder.cards[0], "downloadModel").text() == "Added")
    assert QApplication.focusWidget() is other


def test_a_long_list_comes_in_parts(room: ModelRoom, qtbot: QtBot) -> None:
    n_files = 2 * CARDS_AT_ONCE + 3
    room.server.add(REPO, {f"m{number:05d}-Q8_0.gguf": b"x" * (number + 1) for number in range(n_files)})
    room.desk.show_finder()
    finder = room.window.finder
    ask(qtbot, room, REPO)
    qtbot.waitUntil(lambda: len(finder.cards) == CARDS_AT_ONCE)
    first = finder.cards[0]
    more = finder.findChild(QPushButton, "moreCards")
    assert more.text() == f"Show {CARDS_AT_ONCE} more"
    more.click()
    assert len(finder.cards) == 2 * CARDS_AT_ONCE
    assert finder.cards[0] is first
    assert more.text() == "Show 3 more"
    more.click()
    assert len(finder.cards) == n_files
    assert not more.isVisible()


def test_a_long_library_comes_in_parts_and_the_filter_finds_all_of_it(room: ModelRoom, qtbot: QtBot) -> None:
    for number in range(CARDS_AT_ONCE + 5):
        room.write(f"m{number:03d}.gguf")
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: len(page.cards) == CARDS_AT_ONCE)
    last = f"m{CARDS_AT_ONCE + 4:03d}"
    assert last not in titles(page.cards)
    page.findChild(QWidget, "libraryFilter").setText(last)
    assert titles(page.cards) == [last]
    page.findChild(QWidget, "libraryFilter").setText("")
    page.findChild(QPushButton, "moreCards").click()
    assert titles(page.cards)[-1] == last


# --- what is no longer so ---


def test_another_file_under_an_old_name_is_judged_anew(room: ModelRoom, qtbot: QtBot) -> None:
    path = room.write("m.gguf", title="Before")
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: titles(page.cards) == ["Before"] and "GPU" in page.cards[0].fit.text())
    n_asked = len(room.planner.asked)
    new = path.with_name("m.new")
    new.write_bytes(gguf_bytes("Another one"))
    new.replace(path)
    qtbot.waitUntil(lambda: titles(page.cards) == ["Another one"] and len(room.planner.asked) == n_asked + 1)


def test_what_could_not_be_judged_can_be_tried_again(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add(REPO, {"a-Q8_0.gguf": gguf_bytes("A")}, is_gated=True)
    room.desk.show_finder()
    finder = room.window.finder
    ask(qtbot, room, REPO)
    qtbot.waitUntil(lambda: bool(finder.cards) and "accept its terms" in finder.cards[0].fit.text())
    room.hub.hub().token = TOKEN
    again = button(finder.cards[0], "judgeModel")
    assert again.isVisible()
    again.click()
    qtbot.waitUntil(lambda: "Fits on the GPU" in finder.cards[0].fit.text())
    assert not again.isVisible()


def test_a_repository_that_is_opened_again_is_judged_again(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add(REPO, {"a-Q8_0.gguf": gguf_bytes("A")})
    room.desk.show_finder()
    finder = room.window.finder
    for n_asked in (1, 2):
        ask(qtbot, room, REPO)
        qtbot.waitUntil(lambda n_asked=n_asked: len(room.planner.asked) == n_asked)
        qtbot.waitUntil(lambda: "Fits on the GPU" in finder.cards[0].fit.text())


# --- loading from a list ---


def test_why_a_model_could_not_be_loaded_stands_beside_it(room: ModelRoom, qtbot: QtBot) -> None:
    def refuse(_path: object) -> None:
        raise EngineError(ErrorCode.MODEL_UNREADABLE, say("“m.gguf” could not be read."), "")

    path = str(room.write("m.gguf"))
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: bool(page.cards) and "GPU" in page.cards[0].fit.text())
    room.loader.check = refuse
    button(page.cards[0], "loadModel").click()
    qtbot.waitUntil(lambda: page.cards[0].fit.text() == "“m.gguf” could not be read.")
    assert button(page.cards[0], "loadModel").isEnabled()
    assert path in page.cards[0].title.toolTip()


def test_a_finished_download_whose_file_is_gone(room: ModelRoom, qtbot: QtBot) -> None:
    def refuse(_path: object) -> None:
        raise EngineError(ErrorCode.MODEL_NOT_FOUND, say("There is no file."), "")

    room.server.tells_digests = False
    room.server.add(REPO, {"a-Q8_0.gguf": gguf_bytes("A")})
    room.desk.show_finder()
    ask(qtbot, room, REPO)
    finder, downloads = room.window.finder, room.window.downloads
    qtbot.waitUntil(lambda: bool(finder.cards))
    button(finder.cards[0], "downloadModel").click()
    qtbot.waitUntil(lambda: bool(downloads.cards) and downloads.cards[0].fit.text() == "Complete")
    room.loader.check = refuse
    room.window.show_page(downloads)
    button(downloads.cards[0], "loadDownload").click()
    qtbot.waitUntil(lambda: downloads.cards[0].fit.text() == "There is no file.")
    room.loader.check = lambda _path: None
    button(downloads.cards[0], "loadDownload").click()
    assert downloads.cards[0].fit.text() == "Complete"


def test_a_model_on_its_way_says_so_on_its_button(room: ModelRoom, qtbot: QtBot) -> None:
    room.session.start()
    room.engine.loads_by_hand = True
    path = str(room.write("m.gguf"))
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: bool(page.cards) and "GPU" in page.cards[0].fit.text())
    load = button(page.cards[0], "loadModel")
    load.click()
    qtbot.waitUntil(lambda: bool(room.engine.sent) and isinstance(room.engine.sent[-1], LoadModel))
    assert room.engine.sent[-1].path == path
    qtbot.waitUntil(lambda: load.text() == "Loading…")
    assert not load.isEnabled()


# --- the keyboard and screen readers ---


def test_pressed_twice_a_button_does_not_do_what_the_next_one_does(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add(REPO, {"a-Q4_0.gguf": gguf_bytes("A"), "b-Q8_0.gguf": gguf_bytes("Bb")})
    room.server.gate = threading.Event()
    room.desk.show_finder()
    finder, downloads = room.window.finder, room.window.downloads
    ask(qtbot, room, REPO)
    qtbot.waitUntil(lambda: len(finder.cards) == 2)
    for name, page in (("downloadModel", finder), ("pauseDownload", downloads)):
        room.window.show_page(page)
        pressed = button(page.cards[0], name)
        pressed.setFocus()
        qtbot.keyClick(pressed, Qt.Key.Key_Space)
        qtbot.waitUntil(lambda pressed=pressed: not (pressed.isVisible() and pressed.isEnabled()))
        assert QApplication.focusWidget() is page.cards[0]
        qtbot.keyClick(page.cards[0], Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: len(downloads.cards) == 1)
    assert downloads.cards[0].fit.text() == "Paused"
    qtbot.keyClick(downloads.cards[0], Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is button(downloads.cards[0], "resumeDownload")


def test_buttons_say_whose_they_are(room: ModelRoom, qtbot: QtBot) -> None:
    room.server.add(REPO, {"a-Q4_0.gguf": gguf_bytes("A")})
    room.write("m.gguf", title="Mine")
    room.desk.show_library()
    page, finder = room.window.library, room.window.finder
    qtbot.waitUntil(lambda: bool(page.cards))
    assert button(page.cards[0], "loadModel").accessibleName() == "Load, Mine"
    room.desk.show_finder()
    ask(qtbot, room, REPO)
    qtbot.waitUntil(lambda: bool(finder.cards))
    assert button(finder.cards[0], "downloadModel").accessibleName() == "Download, a-Q4_0"


# --- names ---


def test_names_are_shown_letter_by_letter(make_room: MakeRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    room = make_room(ask=FitQuestion(parent).ask)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=0))
    name = "huge <b>n<img src=x>"
    room.write(f"{name}.gguf", title=name)
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: titles(page.cards) == [name] and bool(page.cards[0].fit.text()))
    room.window.resize(400, 400)
    for label in page.cards[0].findChildren(ElidedLabel):
        tip = label.toolTip()
        assert "<img" not in tip, "Qt would look for the picture"
        assert not Gui.mightBeRichText(tip) or "&lt;img" in tip
    room.session.start()
    button(page.cards[0], "loadModel").click()
    qtbot.waitUntil(lambda: parent.findChild(QMessageBox) is not None)
    box = parent.findChild(QMessageBox)
    assert name in box.text()
    assert box.textFormat() is Qt.TextFormat.PlainText


def test_a_recurrent_model_has_no_kv(room: ModelRoom, qtbot: QtBot) -> None:
    room.folder.mkdir(parents=True)
    write_tiny_model(room.folder / "mamba.gguf", TinySpec(arch="mamba"))
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: bool(page.cards))
    facts = " ".join(label.line for label in page.cards[0].findChildren(ElidedLabel))
    assert "recurrent: no KV" in facts
    assert "NONE" not in facts


def test_a_sliding_window_makes_later_tokens_cheaper(room: ModelRoom, qtbot: QtBot) -> None:
    room.folder.mkdir(parents=True)
    write_tiny_model(room.folder / "m.gguf", TinySpec(arch="gemma3", n_layer=6, n_swa=64))
    room.desk.show_library()
    page = room.window.library
    qtbot.waitUntil(lambda: bool(page.cards))
    facts = " ".join(label.line for label in page.cards[0].findChildren(ElidedLabel))
    # Two heads of 32 numbers for K and for V, two bytes each: 250 KiB in each layer, of which one has no window.
    assert "1.5 MiB of KV per 1,000 tokens, 250.0 KiB beyond the window of 64" in facts


# --- the end ---


def test_a_keyring_that_waits_for_its_person_does_not_hold_up_the_end(
    room: ModelRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_asked, may_answer = threading.Event(), threading.Event()

    def ask_person(_service: str, _name: str) -> None:
        is_asked.set()
        may_answer.wait(20)

    monkeypatch.setattr(keyring, "get_password", ask_person)
    monkeypatch.setattr(hub_worker, "CLOSE_TIMEOUT_S", 0.01)
    room.desk.show_finder()
    ask(qtbot, room, REPO)
    assert is_asked.wait(10)
    began = time.monotonic()
    room.hub.close()
    assert time.monotonic() - began < 5
    may_answer.set()

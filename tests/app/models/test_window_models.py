"""Models in the whole window on a fake engine: loaded, dropped onto it, refused, and offered again."""

from __future__ import annotations

import json
import threading

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPlainTextEdit, QWidget

from app.link.status import EngineState
from app.store.preferences import Preferences, RecentModel
from app.store.preferences_store import PreferencesStore
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import Cancel, Failed, LoadCancelled, LoadModel, LoadProgress, LoadStage, LossOutcome
from engine.api.sentences import say

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def settle() -> None:
    QApplication.processEvents()


def test_a_load_that_fails_keeps_the_words_and_says_why_at_its_place(start_desk, qtbot):
    desk = start_desk(loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: any(isinstance(command, LoadModel) for command in desk.engine.sent))
    desk.send("My words")
    load = desk.engine.last(LoadModel)
    desk.engine.post(
        Failed(load.request_id, ErrorCode.MODEL_LOAD_FAILED, say("It can't be loaded: take another."), "why")
    )
    qtbot.waitUntil(lambda: desk.notices() != [])
    assert desk.notices() == ["It can't be loaded: take another."]
    assert desk.program.composer.text() == "My words"
    errors = [label.text() for label in desk.program.picker.findChildren(QLabel, "settingError")]
    assert "It can't be loaded: take another." in errors
    assert desk.program.session.status.state is EngineState.NO_MODEL
    desk.program.composer.send()
    assert desk.program.picker.isVisible(), "sending without a model offers models"
    desk.program.picker.close()


def test_a_model_that_is_gone_when_the_engine_comes_back_is_told(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Tell me.")
    load = desk.engine.die(desk.engine.request.request_id)
    desk.engine.post(LoadProgress(load, LoadStage.WEIGHTS, 0.0))
    desk.engine.post(Failed(load, ErrorCode.MODEL_NOT_FOUND, say("There is no such file any more.")))
    qtbot.waitUntil(lambda: desk.program.session.status.state is EngineState.NO_MODEL)
    assert desk.notices()[-1] == "There is no such file any more."


def test_an_engine_that_is_given_up_can_be_started_again(start_desk, qtbot):
    desk = start_desk()
    desk.engine.die(outcome=LossOutcome.GAVE_UP)
    qtbot.waitUntil(lambda: desk.program.session.status.state is EngineState.STOPPED)
    assert desk.program.top_bar.state.text() == "stopped"
    desk.engine.is_running = False
    desk.program.actions["show_engine"].trigger()
    button = desk.program.details.findChild(QAbstractButton, "restartEngine")
    assert button.isVisible()
    button.click()
    assert desk.engine.is_running
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)


def test_load_progress_can_be_cancelled(start_desk, qtbot):
    desk = start_desk(loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: any(isinstance(command, LoadModel) for command in desk.engine.sent))
    load = desk.engine.last(LoadModel)
    desk.engine.post(LoadProgress(load.request_id, LoadStage.WEIGHTS, 0.5))
    qtbot.waitUntil(lambda: desk.program.top_bar.state.text() == "loading 45 %")
    desk.program.picker.open_below(desk.program.top_bar.model)
    cancel = desk.program.picker.findChild(QAbstractButton, "cancelLoad")
    assert cancel.isVisible()
    cancel.click()
    qtbot.waitUntil(lambda: desk.program.session.status.state is EngineState.NO_MODEL)
    desk.program.picker.close()
    assert desk.notices() == [], "who cancels needs no telling"


def test_a_load_that_waits_for_the_engine_to_start_can_be_cancelled(start_desk, qtbot):
    desk = start_desk()
    load = desk.engine.die(is_up_again=False)
    qtbot.waitUntil(lambda: desk.program.session.status.state is EngineState.STARTING)
    desk.program.picker.open_below(desk.program.top_bar.model)
    cancel = desk.program.picker.findChild(QAbstractButton, "cancelLoad")
    assert cancel.isVisible()
    cancel.click()
    assert desk.engine.last(Cancel).request_id == load
    desk.engine.post(LoadCancelled(load))
    qtbot.waitUntil(lambda: not cancel.isVisible())
    desk.program.picker.close()


def drop(widget: QWidget, path: str) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path)])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, buttons, keys)
    QApplication.sendEvent(widget, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(widget, QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, buttons, keys))


@pytest.mark.parametrize("place", ["window", "composer"])
def test_a_dropped_model_is_loaded_and_what_can_not_be_read_is_told(start_desk, qtbot, place):
    desk = start_desk()
    window = desk.program.window
    target = window if place == "window" else window.findChild(QPlainTextEdit, "composer").viewport()
    drop(target, "/elsewhere/Other.GGUF")
    qtbot.waitUntil(lambda: desk.program.session.status.model_path == "/elsewhere/Other.GGUF")
    drop(target, "/elsewhere/notes.txt")
    qtbot.waitUntil(lambda: any("notes.txt" in notice for notice in desk.notices()))
    assert desk.program.composer.text() == ""


def test_a_wrong_file_keeps_the_model_that_is_loaded(start_desk, qtbot):
    desk = start_desk()
    before = desk.program.session.status

    def refuse(path):
        raise EngineError(ErrorCode.MODEL_EMPTY, say("“x.gguf” is empty: its download never began. Download it again."))

    desk.program.loader.check = refuse
    desk.program.loader.open("/elsewhere/x.gguf")
    qtbot.waitUntil(lambda: desk.notices() != [])
    assert desk.program.session.status == before
    errors = [label.text() for label in desk.program.picker.findChildren(QLabel, "settingError")]
    assert any("is empty" in error for error in errors)


def test_of_two_files_the_one_asked_for_last_is_loaded(start_desk, qtbot):
    desk = start_desk()
    may_go_on = threading.Event()
    looked = []

    def look(path):
        if path.name == "slow.gguf":
            may_go_on.wait(5)
        looked.append(path.name)

    desk.program.loader.check = look
    desk.program.loader.open("/elsewhere/slow.gguf")
    desk.program.loader.open("/elsewhere/quick.gguf")
    qtbot.waitUntil(lambda: desk.program.session.status.model_path == "/elsewhere/quick.gguf")
    may_go_on.set()
    qtbot.waitUntil(lambda: looked == ["quick.gguf", "slow.gguf"])
    settle()
    assert [command.path for command in desk.engine.sent if isinstance(command, LoadModel)][
        -1
    ] == "/elsewhere/quick.gguf"


def test_another_model_reads_the_text_and_not_the_ids(start_desk, qtbot):
    desk = start_desk()
    desk.send("Hi")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    desk.program.loader.open("/elsewhere/Other.gguf")
    qtbot.waitUntil(lambda: desk.program.session.status.model_path == "/elsewhere/Other.gguf")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    desk.send("Again")
    assert all(message.token_ids is None for message in desk.engine.request.messages)


def test_models_that_were_loaded_are_offered_again(start_desk, qtbot):
    recent = (RecentModel("/models/a.gguf", "A", "Q8_0", 1000), RecentModel("/models/b.gguf", "B", "Q4_0", 2000))
    desk = start_desk(preferences=Preferences(recent_models=recent))
    rows = [
        row.model.path for row in desk.program.picker.findChildren(QAbstractButton, "modelRow") if not row.isHidden()
    ]
    assert "/models/a.gguf" in rows
    assert "/models/b.gguf" in rows
    assert desk.program.store.current.last_model == desk.program.session.status.model_path


def test_ollama_s_files_have_ollama_s_names_and_long_names_stay_in_the_list(start_desk, qtbot, tmp_path):
    digest = "0123456789abcdef" * 4
    blob = tmp_path / "blobs" / f"sha256-{digest}"
    manifest = tmp_path / "manifests" / "registry.ollama.ai" / "library" / "llama3" / "8b"
    for file in (blob, manifest):
        file.parent.mkdir(parents=True)
    blob.write_bytes(b"")
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}"}
    manifest.write_text(json.dumps({"layers": [layer]}), encoding="utf-8")
    long = RecentModel(f"/models/{'long ' * 40}.gguf", "Long " * 40, "Q8_0", 1000)
    desk = start_desk(preferences=Preferences(recent_models=(RecentModel(str(blob)), long)))
    picker = desk.program.picker
    picker.open_below(desk.program.top_bar.model)
    rows = {row.model.path: row for row in picker.findChildren(QAbstractButton, "modelRow") if not row.isHidden()}
    assert rows[str(blob)].accessibleName() == "llama3:8b, Ollama"
    assert rows[long.path].width() <= rows[long.path].parentWidget().parentWidget().width()
    picker.close()
    desk.program.loader.open(str(blob))
    qtbot.waitUntil(lambda: desk.engine.last(LoadModel).path == str(blob))
    qtbot.waitUntil(lambda: desk.program.top_bar.model.accessibleDescription().startswith("llama3:8b"))


def test_a_model_that_has_gone_is_no_longer_offered(start_desk, qtbot):
    recent = (RecentModel("/models/gone.gguf", "Gone", "Q8_0", 1000),)
    desk = start_desk(preferences=Preferences(recent_models=recent))

    def refuse(path):
        raise EngineError(ErrorCode.MODEL_NOT_FOUND, say("There is no file “gone.gguf” any more."))

    desk.program.loader.check = refuse
    desk.program.loader.open("/models/gone.gguf")
    qtbot.waitUntil(lambda: desk.notices() != [])
    kept = PreferencesStore(desk.preferences_path, lambda _problem: None).load()
    assert "/models/gone.gguf" not in [model.path for model in kept.recent_models]
    assert kept.last_model != "/models/gone.gguf"

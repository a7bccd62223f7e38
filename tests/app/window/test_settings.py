"""Settings put in force through the whole window, on a fake engine and a fake planner: nothing of the chat is lost."""

from __future__ import annotations

import json
import shlex

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from app.store.preferences import Preferences
from app.store.setup import Setup
from engine.api.errors import ErrorCode
from engine.api.messages import (
    Cancel,
    Failed,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    ModelLoaded,
)
from engine.api.sentences import say
from engine.api.settings import CacheType, LoadSettings, Policy, PolicySettings
from tests.app.fake_engine import model_facts
from tests.app.window.settings_hand import apply, apply_load, change, loads


@pytest.fixture
def desk(start_desk, planners):
    return start_desk()


def talk(desk, qtbot) -> None:
    desk.send("Hello")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)


def test_a_live_setting_reaches_the_next_request_without_a_load(desk, qtbot):
    change(desk, n_sink=9, policy=Policy.WINDOW)
    apply(desk)
    assert len(loads(desk)) == 1
    talk(desk, qtbot)
    assert desk.engine.request.policy == PolicySettings(n_sink=9, policy=Policy.WINDOW)


def test_a_reload_keeps_the_chat_and_its_tokens(desk, qtbot):
    talk(desk, qtbot)
    said = desk.say()
    change(desk, n_ctx=2048, type_k=CacheType.Q8_0)
    apply_load(desk, qtbot)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert loads(desk)[-1] == LoadSettings(n_ctx=2048, type_k=CacheType.Q8_0)
    assert desk.say() == said
    desk.send("And now?")
    messages = desk.engine.request.messages
    assert [message.role for message in messages] == ["user", "assistant", "user"]
    assert messages[1].token_ids is not None


def test_each_model_remembers_its_setup(desk, qtbot):
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    first = desk.program.session.status.model_path
    desk.program.loader.open("/models/other.gguf")
    qtbot.waitUntil(lambda: desk.program.session.status.model_path == "/models/other.gguf")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert loads(desk)[-1] == LoadSettings()
    desk.program.loader.open(first)
    qtbot.waitUntil(lambda: desk.program.session.status.model_path == first)
    assert loads(desk)[-1] == LoadSettings(n_ctx=2048)
    kept = json.loads(desk.preferences_path.read_text("utf-8"))["setups"]
    assert [(one["path"], one["load"]["n_ctx"]) for one in kept] == [(first, 2048)]


def test_the_same_model_loaded_with_other_settings_elsewhere_is_shown_as_it_is(desk, qtbot):
    path = desk.program.session.status.model_path
    setup = Setup(LoadSettings(n_ctx=1024))
    desk.program.store.set(desk.program.store.current.with_setup(path, setup))
    desk.program.loader.open(path)
    qtbot.waitUntil(lambda: loads(desk)[-1] == setup.load)
    qtbot.waitUntil(lambda: desk.program.settings_panel.setup == setup)


def test_a_kept_setup_is_loaded_at_the_start(start_desk, planners, tmp_path):
    path = tmp_path / "Tiny-1B-Q4_K_M.gguf"
    setup = Setup(LoadSettings(n_ctx=1024), PolicySettings(policy=Policy.STOP))
    desk = start_desk(preferences=Preferences(setups={str(path): setup}))
    assert loads(desk) == [setup.load]
    assert desk.program.settings_panel.setup == setup


@pytest.fixture
def slow_desk(start_desk, planners, qtbot):
    desk = start_desk(loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: len(loads(desk)) == 1)
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    return desk


def finish_load(desk) -> None:
    command = desk.engine.last(LoadModel)
    desk.engine.post(ModelLoaded(command.request_id, model_facts(command.path)))


def fail_load(desk, sentence: str, *, began: bool = True) -> None:
    """The load under way fails, after or before the old model was unloaded for it."""
    request_id = desk.engine.last(LoadModel).request_id
    if began:
        desk.engine.post(LoadProgress(request_id, LoadStage.READING, 0.0))
    desk.engine.post(Failed(request_id, ErrorCode.OUT_OF_MEMORY, say(sentence)))


def test_a_reload_that_fails_brings_back_what_was_in_force(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    fail_load(desk, "That is too much.")
    qtbot.waitUntil(lambda: len(loads(desk)) == 3)
    assert loads(desk)[-1] == LoadSettings()
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert "That is too much." in desk.notices()
    assert desk.program.settings_panel.setup == Setup()
    assert desk.program.store.current.setups == {}


def test_a_reload_that_is_refused_at_once_leaves_the_model_loaded(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    fail_load(desk, "That can't be.", began=False)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert len(loads(desk)) == 2
    assert desk.program.settings_panel.setup == Setup()


def test_a_reload_can_be_cancelled(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    request_id = desk.engine.last(LoadModel).request_id
    desk.program.actions["cancel_load"].trigger()
    assert desk.engine.last(Cancel) == Cancel(request_id)
    desk.engine.post(LoadCancelled(request_id))
    qtbot.waitUntil(lambda: loads(desk)[-1] == LoadSettings())
    assert len(loads(desk)) == 3


def test_a_second_apply_is_not_undone_by_the_end_of_the_first(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    first = desk.engine.last(LoadModel).request_id
    ended = []
    desk.program.loader.ended.connect(ended.append)
    change(desk, n_ctx=1024)
    apply_load(desk, qtbot)
    desk.engine.post(LoadCancelled(first))
    qtbot.waitUntil(lambda: len(ended) == 1)
    assert desk.program.settings_panel.setup.load.n_ctx == 1024, "what is being loaded"
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert [one.n_ctx for one in loads(desk)] == [4096, 2048, 1024]
    assert desk.program.settings_panel.setup.load.n_ctx == 1024


def test_another_model_chosen_during_a_reload_stays_chosen(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    first = desk.engine.last(LoadModel).request_id
    desk.program.loader.open("/models/other.gguf")
    qtbot.waitUntil(lambda: desk.engine.last(LoadModel).path == "/models/other.gguf")
    desk.engine.post(LoadCancelled(first))
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.engine.last(LoadModel).path == "/models/other.gguf"


def test_a_load_that_brings_back_what_was_and_fails_too_ends_there(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    for n_loads in (2, 3):
        qtbot.waitUntil(lambda n_loads=n_loads: len(loads(desk)) == n_loads)
        fail_load(desk, f"No {n_loads}.")
    qtbot.waitUntil(lambda: "No 3." in desk.notices())
    assert len(loads(desk)) == 3


def fit_box() -> QMessageBox | None:
    shown = (one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox) and one.isVisible())
    return next(shown, None)


def test_apply_asks_first_where_it_would_not_fit_and_keeps_what_was_agreed_on(desk, qtbot, monkeypatch):
    monkeypatch.setattr("app.link.model_loader.surely_fits", lambda *_: False)
    change(desk, n_ctx=16_384)
    apply(desk)
    qtbot.waitUntil(lambda: fit_box() is not None)
    assert len(loads(desk)) == 1, "nothing is loaded before the answer"
    agreed = LoadSettings(n_ctx=16_384, type_k=CacheType.Q8_0, type_v=CacheType.Q8_0)
    fit_box().defaultButton().click()
    qtbot.waitUntil(lambda: desk.program.settings_panel.applied == Setup(agreed))
    assert loads(desk)[-1] == agreed
    path = desk.program.session.status.model_path
    assert desk.program.store.current.setups == {path: Setup(agreed)}


def test_a_change_that_is_not_loaded_all_the_same_changes_nothing(desk, qtbot, monkeypatch):
    monkeypatch.setattr("app.link.model_loader.surely_fits", lambda *_: False)
    change(desk, n_ctx=16_384)
    apply(desk)
    qtbot.waitUntil(lambda: fit_box() is not None)
    fit_box().reject()
    assert len(loads(desk)) == 1
    assert desk.program.settings_panel.setup.load.n_ctx == 16_384, "what was typed stays typed"
    assert desk.program.session.status.can_answer
    assert desk.program.settings_panel.applied == Setup()
    assert desk.program.store.current.setups == {}


def test_a_preset_of_ones_own_is_kept(desk):
    panel = desk.program.settings_panel
    change(desk, n_ctx=512)
    panel.presets.saved.emit("Mine")
    assert desk.program.store.current.presets == {"Mine": Setup(LoadSettings(n_ctx=512))}
    panel.presets.removed.emit("Mine")
    assert desk.program.store.current.presets == {}


def test_the_settings_are_copied_as_a_command(desk):
    change(desk, n_ctx=512)
    desk.program.settings_panel.command_wanted.emit()
    words = shlex.split(QGuiApplication.clipboard().text())
    assert words[:3] == ["llama-server", "--model", desk.program.session.status.model_path]
    assert words[words.index("--ctx-size") + 1] == "512"
    assert "The llama-server command is in the clipboard." in desk.notices()


def test_everything_that_works_in_the_background_ends_with_the_window(desk, planners):
    desk.program.window.close()
    desk.program.close()
    assert planners[0].is_closed


def test_a_message_that_waits_for_a_reload_is_sent_by_the_policy_that_came_with_it(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048, policy=Policy.WINDOW)
    apply_load(desk, qtbot)
    desk.send("And now?")
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.chat.conversation.last is not None)
    assert desk.engine.request.policy.policy is Policy.WINDOW


def test_a_message_that_waits_for_another_model_is_sent_without_the_tokens_of_the_one_before(slow_desk, qtbot):
    desk = slow_desk
    talk(desk, qtbot)
    desk.program.loader.open("/models/other.gguf")
    qtbot.waitUntil(lambda: desk.engine.last(LoadModel).path == "/models/other.gguf")
    first = desk.engine.request
    desk.send("And now?")
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.engine.request is not first)
    assert [message.token_ids for message in desk.engine.request.messages] == [None] * 3


def test_a_message_that_waits_for_a_load_that_fails_waits_for_what_is_brought_back(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    desk.send("And now?")
    fail_load(desk, "That is too much.")
    qtbot.waitUntil(lambda: len(loads(desk)) == 3)
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.chat.conversation.last is not None)
    assert desk.engine.request.messages[-1].text == "And now?"

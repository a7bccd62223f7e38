"""The whole window on a fake engine: what a person does, and what it then shows."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPlainTextEdit, QProgressBar, QScrollArea, QWidget

from app.chat.turns import Action, TurnState, Visibility
from app.engine_status import EngineState
from app.settings.preferences import Preferences, PreferencesStore, RecentModel
from engine.errors import EngineError, ErrorCode
from engine.messages import (
    CacheChanged,
    CountTokens,
    Failed,
    Generate,
    LoadModel,
    LoadProgress,
    LoadStage,
    LossOutcome,
    Message,
    ModelLoaded,
    Notice,
    NoticeCode,
    PrefillProgress,
    SpanState,
    TextKind,
    TokensCounted,
)
from engine.settings import SamplingSettings
from tests.app.fake_engine import model_facts, span, usage

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def settle() -> None:
    QApplication.processEvents()


class ShownWindows(QObject):
    """Notes every window that appears, also for a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.names.append(watched.objectName() or type(watched).__name__)
        return False


def test_one_window_opens_and_takes_the_keyboard(start_desk, qapp, qtbot):
    shown = ShownWindows()
    qapp.installEventFilter(shown)
    desk = start_desk()
    desk.send("Hi")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    qapp.removeEventFilter(shown)
    assert shown.names == ["mainWindow"]
    assert qapp.focusWidget().objectName() == "composer"


def test_a_message_is_answered_and_the_next_one_carries_the_ids(start_desk, qtbot):
    desk = start_desk()
    desk.send("Name three colours.")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    assert desk.say() == [("user", "Name three colours."), ("assistant", desk.engine.answer + " ")]
    assert desk.program.composer.text() == ""
    turn = desk.program.transcript.turns[-1]
    assert turn.state is TurnState.DONE
    assert turn.author == "Tiny-1B"
    assert any("36.4" in fact for fact in turn.facts)
    desk.send("And two animals.")
    settle()
    assert desk.engine.request.messages[1].token_ids == (0, 1, 2, 3)


def test_what_is_typed_while_the_model_loads_is_sent_when_it_is_there(start_desk, qtbot):
    desk = start_desk(loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: any(isinstance(command, LoadModel) for command in desk.engine.sent))
    desk.send("First words")
    assert desk.program.composer.text() == "First words", "it can still be changed"
    assert not any(isinstance(command, Generate) for command in desk.engine.sent)
    desk.type("Better words")
    load = desk.engine.last(LoadModel)
    desk.engine.post(ModelLoaded(load.request_id, model_facts(load.path)))
    qtbot.waitUntil(lambda: desk.say() != [])
    assert desk.say()[0] == ("user", "Better words")
    assert desk.program.composer.text() == ""


def test_stop_takes_a_waiting_message_back(start_desk, qtbot):
    desk = start_desk(loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: any(isinstance(command, LoadModel) for command in desk.engine.sent))
    desk.send("Not yet")
    desk.program.actions["stop"].trigger()
    load = desk.engine.last(LoadModel)
    desk.engine.post(ModelLoaded(load.request_id, model_facts(load.path)))
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    assert desk.say() == []
    assert desk.program.composer.text() == "Not yet"


def test_a_load_that_fails_keeps_the_words_and_says_why_at_its_place(start_desk, qtbot):
    desk = start_desk(loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: any(isinstance(command, LoadModel) for command in desk.engine.sent))
    desk.send("My words")
    load = desk.engine.last(LoadModel)
    desk.engine.post(Failed(load.request_id, ErrorCode.MODEL_LOAD_FAILED, "It can't be loaded: take another.", "why"))
    qtbot.waitUntil(lambda: desk.notices() != [])
    assert desk.notices() == ["It can't be loaded: take another."]
    assert desk.program.composer.text() == "My words"
    errors = [label.text() for label in desk.program.picker.findChildren(QLabel, "settingError")]
    assert "It can't be loaded: take another." in errors
    assert desk.program.session.status.state is EngineState.NO_MODEL
    desk.program.composer.send()
    assert desk.program.picker.isVisible(), "sending without a model offers models"
    desk.program.picker.close()


def test_stopping_keeps_the_text(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Count.")
    desk.engine.stream("One, two")
    settle()
    assert desk.program.actions["stop"].isEnabled()
    desk.program.actions["stop"].trigger()
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.program.transcript.turns[-1].state is TurnState.STOPPED
    assert desk.say()[-1] == ("assistant", "One, two")


def test_an_engine_that_dies_costs_no_word(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Tell me.")
    desk.engine.stream("Once upon")
    desk.type("typed meanwhile")
    desk.engine.die(desk.engine.request.request_id)
    qtbot.waitUntil(lambda: desk.notices() != [])
    settle()
    assert desk.say() == [("user", "Tell me."), ("assistant", "Once upon")]
    assert desk.program.transcript.turns[-1].state is TurnState.FAILED
    assert desk.program.composer.text() == "typed meanwhile"
    bar = desk.program.notices
    assert bar.notices[0].detail == "ggml: the last line of the log"
    load = desk.engine.next_request_id()
    desk.engine.post(LoadProgress(load, LoadStage.WEIGHTS, 0.5))
    desk.engine.post(ModelLoaded(load, model_facts(desk.program.session.status.model_path)))
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    desk.program.composer.send()
    settle()
    assert desk.engine.request.messages[-1] == Message("user", "typed meanwhile")
    assert Message("assistant", "Once upon") in desk.engine.request.messages


def test_a_model_that_is_gone_when_the_engine_comes_back_is_told(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Tell me.")
    desk.engine.die(desk.engine.request.request_id)
    load = desk.engine.next_request_id()
    desk.engine.post(LoadProgress(load, LoadStage.WEIGHTS, 0.0))
    desk.engine.post(Failed(load, ErrorCode.MODEL_NOT_FOUND, "There is no such file any more."))
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


def test_events_of_a_chat_that_was_left_do_not_show(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True, preferences=Preferences(finish_when_left=False))
    desk.send("Old question")
    old = desk.engine.request
    desk.program.actions["new_chat"].trigger()
    desk.engine.stream("late words", request_id=old.request_id)
    settle()
    assert desk.say() == []
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    desk.send("New question")
    desk.engine.stream("late words", request_id=old.request_id)
    desk.engine.stream("Yes.")
    desk.engine.finish(text="Yes.")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    assert desk.say() == [("user", "New question"), ("assistant", "Yes.")]
    assert desk.engine.request.chat_id != old.chat_id


def test_a_message_that_alone_is_too_long_returns_to_the_composer(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("far too many words")
    desk.type("since then")
    sentence = "This is too long by 12 tokens: it has 40 and there is room for 28. Shorten it."
    desk.engine.post(Failed(desk.engine.request.request_id, ErrorCode.PROMPT_TOO_LONG, sentence))
    qtbot.waitUntil(lambda: desk.notices() != [])
    settle()
    assert desk.say() == []
    assert desk.program.composer.text() == "far too many words\n\nsince then"
    assert desk.notices() == [sentence]


def test_regenerating_replaces_the_last_answer(start_desk, qtbot):
    desk = start_desk()
    desk.send("Question")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    desk.engine.answer = "Another."
    desk.program.transcript.action_requested.emit(desk.program.transcript.turns[-1].id, Action.REGENERATE)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    assert desk.say() == [("user", "Question"), ("assistant", "Another. ")]
    assert desk.engine.request.messages == (Message("user", "Question"),)


def test_continuing_goes_on_in_the_same_turn(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Count.")
    desk.engine.stream("One, ")
    desk.engine.finish(text="One, ")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    desk.program.actions["continue_answer"].trigger()
    assert desk.engine.request.continue_last
    desk.engine.stream("two")
    desk.engine.finish(text="two")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    assert desk.say() == [("user", "Count."), ("assistant", "One, two")]


def test_editing_the_last_message_replaces_it_only_when_it_is_sent(start_desk, qtbot):
    desk = start_desk()
    desk.send("First version")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    hint = desk.program.composer.findChild(QLabel, "composerHint")
    desk.type("a draft")
    desk.program.actions["edit_last"].trigger()
    assert desk.program.composer.text() == "First version"
    assert "Editing" in hint.text()
    assert len(desk.say()) == 2
    desk.program.actions["stop"].trigger()
    assert desk.program.composer.text() == "a draft"
    assert desk.say()[0] == ("user", "First version")
    desk.program.actions["edit_last"].trigger()
    desk.send("Second version")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    assert [text for role, text in desk.say() if role == "user"] == ["Second version"]
    assert desk.engine.request.messages == (Message("user", "Second version"),)


def test_reasoning_is_told_apart(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Why?")
    desk.engine.stream("Let me think.", TextKind.REASONING)
    desk.engine.stream("Because.")
    desk.engine.die(desk.engine.request.request_id)
    qtbot.waitUntil(lambda: desk.notices() != [])
    turn = desk.program.transcript.turns[-1]
    assert (turn.reasoning, turn.text) == ("Let me think.", "Because.")


def test_the_draft_is_counted_when_typing_pauses_and_late_answers_are_dropped(start_desk, qtbot):
    desk = start_desk()
    for text in ("one", "one two", "one two three"):
        desk.type(text)
        settle()
    room = desk.program.composer.findChild(QLabel, "composerRoom")
    qtbot.waitUntil(lambda: room.text().startswith("3 / "))
    assert sum(isinstance(command, CountTokens) for command in desk.engine.sent) == 1
    counted = desk.engine.last(CountTokens)
    desk.type("one two three four")
    desk.engine.post(TokensCounted(counted.request_id, 5, 5, 77))
    settle()
    assert "77" not in room.text()
    desk.program.composer.clear()
    assert room.text() == ""


def test_system_prompt_and_sampling_hold_for_the_next_request(start_desk, qtbot):
    desk = start_desk()
    panel = desk.program.sampling_panel
    panel.findChild(QPlainTextEdit, "systemPrompt").setPlainText("Be brief.")
    panel.flush()
    panel.sampling_edited.emit(SamplingSettings(temperature=0.0))
    desk.send("Hi")
    assert desk.engine.request.messages[0] == Message("system", "Be brief.")
    assert desk.engine.request.sampling.temperature == 0.0
    kept = PreferencesStore(desk.preferences_path, lambda _problem: None).load()
    assert kept.system_prompt == "Be brief."


@pytest.mark.parametrize("by_key", [True, False])
def test_a_system_prompt_typed_just_before_holds_already(start_desk, qtbot, by_key):
    desk = start_desk()
    program = desk.program
    program.actions["show_sampling"].trigger()
    field = program.sampling_panel.findChild(QPlainTextEdit, "systemPrompt")
    desk.type("Hi")
    field.setFocus()
    qtbot.keyClicks(field, "Rhyme.")
    if by_key:
        program.actions["send"].trigger()
    else:
        program.composer.focus()
        program.composer.send()
    assert desk.engine.request.messages[0] == Message("system", "Rhyme.")


def test_what_left_the_cache_is_dimmed(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Old")
    desk.engine.stream("Answer")
    desk.engine.finish(text="Answer")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    desk.send("New")
    chat_id = desk.engine.request.chat_id
    spans = (span(0, 9, 0, SpanState.EVICTED), span(9, 12, 1, SpanState.EVICTED), span(12, 20, 1), span(20, 30, 2))
    desk.engine.post(CacheChanged(usage("another chat", n_evicted=12, spans=(span(0, 9, 2, SpanState.EVICTED),))))
    desk.engine.post(CacheChanged(usage(chat_id, n_evicted=12, spans=spans)))
    seen = [Visibility.NONE, Visibility.PARTLY, Visibility.ALL]
    qtbot.waitUntil(lambda: [turn.visibility for turn in desk.program.transcript.turns][:3] == seen)


def test_the_cache_panel_follows(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    panel = desk.program.cache_panel
    assert panel.findChild(QLabel, "cache_kv_allocated").text() == "128.0 MiB"
    desk.send("Hi")
    desk.engine.post(PrefillProgress(desk.engine.request.request_id, 16, 32, 8))
    bar = panel.findChild(QProgressBar, "prefillBar")
    qtbot.waitUntil(lambda: not bar.isHidden())
    assert bar.value() == 500
    desk.engine.post(CacheChanged(usage(desk.engine.request.chat_id, n_used=1024)))
    desk.engine.finish(text="Hello")
    qtbot.waitUntil(bar.isHidden)
    assert panel.findChild(QLabel, "cellsUsed").text() == "1,024"
    assert panel.findChild(QLabel, "cache_reused").text() == "20 of 32"
    assert "36.4" in panel.findChild(QLabel, "cache_decode").text()


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
        raise EngineError(ErrorCode.MODEL_EMPTY, "“x.gguf” is empty: its download never began. Download it again.")

    desk.program.opener.check = refuse
    desk.program.opener.open("/elsewhere/x.gguf")
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

    desk.program.opener.check = look
    desk.program.opener.open("/elsewhere/slow.gguf")
    desk.program.opener.open("/elsewhere/quick.gguf")
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
    desk.program.opener.open("/elsewhere/Other.gguf")
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


def test_a_model_that_has_gone_is_no_longer_offered(start_desk, qtbot):
    recent = (RecentModel("/models/gone.gguf", "Gone", "Q8_0", 1000),)
    desk = start_desk(preferences=Preferences(recent_models=recent))

    def refuse(path):
        raise EngineError(ErrorCode.MODEL_NOT_FOUND, "There is no file “gone.gguf” any more.")

    desk.program.opener.check = refuse
    desk.program.opener.open("/models/gone.gguf")
    qtbot.waitUntil(lambda: desk.notices() != [])
    kept = PreferencesStore(desk.preferences_path, lambda _problem: None).load()
    assert "/models/gone.gguf" not in [model.path for model in kept.recent_models]
    assert kept.last_model != "/models/gone.gguf"


def test_a_suggestion_only_fills_the_composer(start_desk):
    desk = start_desk()
    suggestion = desk.program.welcome.findChild(QAbstractButton, "suggestion0")
    suggestion.click()
    assert desk.program.composer.text() == suggestion.accessibleName() != ""
    assert desk.say() == []


@pytest.mark.parametrize(("height", "is_shown"), [(820, True), (480, False)])
def test_in_a_low_window_suggestions_give_way(start_desk, height, is_shown):
    desk = start_desk()
    desk.program.window.resize(660, height)
    settle()
    assert desk.program.welcome.findChild(QAbstractButton, "suggestion0").isVisible() == is_shown
    assert desk.program.window.height() == height


def test_a_notice_of_the_engine_is_shown(start_desk, qtbot):
    desk = start_desk()
    desk.engine.post(Notice(NoticeCode.CPU_FALLBACK, "Kvasir now uses other code.", "detail"))
    desk.engine.post(Notice(NoticeCode.CPU_ONLY, "No news at each start."))
    qtbot.waitUntil(lambda: desk.notices() != [])
    settle()
    assert desk.notices() == ["Kvasir now uses other code."]


def test_theme_text_size_and_language_change_at_once_and_are_kept(start_desk, qtbot):
    desk = start_desk()
    program = desk.program
    program.actions["next_theme"].trigger()
    program.actions["next_theme"].trigger()
    assert program.theme.tokens.dark
    program.actions["larger_text"].trigger()
    assert program.theme.sizes.body > 15
    kept = PreferencesStore(desk.preferences_path, lambda _problem: None).load()
    assert (kept.theme, kept.text_scale) == ("dark", 1.1)
    program.actions["normal_text"].trigger()
    assert program.theme.sizes.body == 15


@pytest.mark.parametrize("page", ["show_cache", "show_sampling"])
def test_large_text_is_not_cut_off_in_the_panel(start_desk, qtbot, page):
    desk = start_desk(preferences=Preferences(text_scale=1.0))
    desk.program.actions[page].trigger()
    for _ in range(6):
        desk.program.actions["larger_text"].trigger()
    area = next(area for area in desk.program.panel.findChildren(QScrollArea) if area.isVisible())
    qtbot.waitUntil(lambda: area.widget().width() <= area.viewport().width())


def test_a_link_is_shown_before_it_opens(start_desk, qtbot, monkeypatch):
    opened = []
    monkeypatch.setattr("app.engine_notices.QDesktopServices.openUrl", opened.append)
    desk = start_desk()
    desk.program.transcript.link_activated.emit("https://example.org/a?b=c")
    assert "https://example.org/a?b=c" in desk.notices()[0]
    assert opened == []
    desk.program.notices.findChild(QAbstractButton, "noticeAction").click()
    assert [url.toString() for url in opened] == ["https://example.org/a?b=c"]
    desk.program.transcript.link_activated.emit("file:///etc/passwd")
    assert "file:///etc/passwd" in desk.notices()[-1]
    assert [
        button for button in desk.program.notices.findChildren(QAbstractButton, "noticeAction") if button.isVisible()
    ] == []


def test_panels_hide_move_and_come_back_with_the_next_start(start_desk, qtbot):
    desk = start_desk()
    program = desk.program
    program.actions["move_panel"].trigger()
    assert program.window.dockWidgetArea(program.panel) == Qt.DockWidgetArea.LeftDockWidgetArea
    program.actions["toggle_panel"].trigger()
    assert program.panel.isHidden()
    program.window.resize(700, 600)
    program.window.close()
    kept = PreferencesStore(desk.preferences_path, lambda _problem: None).load()
    again = start_desk(preferences=replace(kept, theme="light")).program
    assert again.panel.isHidden()
    assert again.window.dockWidgetArea(again.panel) == Qt.DockWidgetArea.LeftDockWidgetArea
    assert again.window.size().width() == 700


@pytest.mark.expected_log("preferences: damaged")
def test_damaged_preferences_are_told(start_desk, tmp_path):
    (tmp_path / "preferences.json").write_text("{")
    desk = start_desk()
    assert "preferences.json.damaged-1" in desk.notices()[0]


def test_every_control_is_named_for_people_who_do_not_see_it(start_desk):
    desk = start_desk()
    desk.program.actions["show_preferences"].trigger()
    nameless = []
    for top in (desk.program.window, desk.program.dialog, desk.program.picker, desk.program.details):
        for button in top.findChildren(QAbstractButton):
            name = button.accessibleName() or button.text()
            if not button.objectName().startswith("qt_") and (not name or not button.toolTip()):
                nameless.append((button.objectName(), name, button.toolTip()))
    assert nameless == []


@pytest.mark.expected_log("an inner mistake")
def test_a_mistake_of_the_window_is_told_and_logged(start_desk, qtbot):
    desk = start_desk()
    try:
        raise ValueError("an inner mistake")
    except ValueError as error:
        desk.program.on_exception(type(error), error, error.__traceback__)
    assert "an inner mistake" in desk.program.notices.notices[-1].detail


def test_played_from_the_command_line(start_desk, qtbot, tmp_path):
    picture = tmp_path / "picture.png"
    desk = start_desk(texts=("One", "Two"), screenshot=picture)
    ended = []
    desk.program.unattended.ended.connect(lambda code, sentence: ended.append((code, sentence)))
    qtbot.waitUntil(lambda: ended != [], timeout=5000)
    assert ended == [(0, "")]
    assert [text for role, text in desk.say() if role == "user"] == ["One", "Two"]
    image = QImage(str(picture))
    assert image.width() >= 1000


def test_copying(start_desk, qtbot):
    desk = start_desk()
    desk.send("Hi")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    desk.program.actions["copy_last"].trigger()
    assert QGuiApplication.clipboard().text() == desk.engine.answer + " "
    desk.program.actions["copy_chat"].trigger()
    assert QGuiApplication.clipboard().text().startswith("**You**\n\nHi\n\n**Assistant**\n\nRed")


def test_a_panel_that_is_taken_out_leaves_its_place_and_goes_back(start_desk):
    desk = start_desk()
    panel, action = desk.program.panel, desk.program.actions["float_panel"]
    place, size = panel.mapToGlobal(QPoint(0, 0)), panel.size()
    action.trigger()
    assert panel.isFloating()
    assert panel.pos().x() < place.x()
    assert panel.pos().y() > place.y()
    assert panel.height() < size.height()
    action.trigger()
    assert not panel.isFloating()
    assert panel.isVisible()

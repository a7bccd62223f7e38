"""A chat in the whole window on a fake engine: what is said, stopped, edited and answered again."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit

from app.store.preferences import Preferences
from app.store.preferences_store import PreferencesStore
from app.transcript.turns import Action, ShownState, Visibility
from engine.api.errors import ErrorCode
from engine.api.messages import (
    CacheChanged,
    CountTokens,
    Failed,
    Generate,
    LoadModel,
    LoadProgress,
    LoadStage,
    Message,
    ModelLoaded,
    SpanState,
    TextKind,
    TokensCounted,
)
from engine.api.sentences import say
from engine.api.settings import SamplingSettings
from tests.app.fake_engine import model_facts, span, usage

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def settle() -> None:
    QApplication.processEvents()


def test_a_message_is_answered_and_the_next_one_carries_the_ids(start_desk, qtbot):
    desk = start_desk()
    desk.send("Name three colours.")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    assert desk.say() == [("user", "Name three colours."), ("assistant", desk.engine.answer + " ")]
    assert desk.program.composer.text() == ""
    turn = desk.program.transcript.turns[-1]
    assert turn.state is ShownState.DONE
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


def test_stopping_keeps_the_text(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Count.")
    desk.engine.stream("One, two")
    settle()
    assert desk.program.actions["stop"].isEnabled()
    desk.program.actions["stop"].trigger()
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.program.transcript.turns[-1].state is ShownState.STOPPED
    assert desk.say()[-1] == ("assistant", "One, two")


def test_an_engine_that_dies_costs_no_word(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Tell me.")
    desk.engine.stream("Once upon")
    desk.type("typed meanwhile")
    load = desk.engine.die(desk.engine.request.request_id)
    qtbot.waitUntil(lambda: desk.notices() != [])
    settle()
    assert desk.say() == [("user", "Tell me."), ("assistant", "Once upon")]
    assert desk.program.transcript.turns[-1].state is ShownState.FAILED
    assert desk.program.composer.text() == "typed meanwhile"
    bar = desk.program.notices
    assert bar.notices[0].detail == "ggml: the last line of the log"
    desk.engine.post(LoadProgress(load, LoadStage.WEIGHTS, 0.5))
    desk.engine.post(ModelLoaded(load, model_facts(desk.program.session.status.model_path)))
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    desk.program.composer.send()
    settle()
    assert desk.engine.request.messages[-1] == Message("user", "typed meanwhile")
    assert Message("assistant", "Once upon") in desk.engine.request.messages


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
    sentence = say("This is too long.")
    desk.engine.post(Failed(desk.engine.request.request_id, ErrorCode.PROMPT_TOO_LONG, sentence))
    qtbot.waitUntil(lambda: desk.notices() != [])
    settle()
    assert desk.say() == []
    assert desk.program.composer.text() == "far too many words\n\nsince then"
    assert desk.notices() == [str(sentence)]


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


def test_an_estimate_is_shown_as_one_and_keeps_only_what_is_certainly_too_long(start_desk, qtbot):
    desk = start_desk()
    desk.type("one two")
    settle()
    room = desk.program.composer.findChild(QLabel, "composerRoom")
    qtbot.waitUntil(lambda: room.text() != "")
    desk.program.composer.set_room(500_000, 4096, True)
    assert room.text().startswith("Too long by about 495,904 ")
    assert not desk.program.composer.can_send()
    assert desk.program.composer.text() == "one two"
    desk.program.composer.set_room(4200, 4096, True)
    assert room.text() == "About 4,200 / 4,096 tokens"
    assert desk.program.composer.can_send()


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


def test_copying(start_desk, qtbot):
    desk = start_desk()
    desk.send("Hi")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    desk.program.actions["copy_last"].trigger()
    assert QGuiApplication.clipboard().text() == desk.engine.answer + " "
    desk.program.actions["copy_chat"].trigger()
    assert QGuiApplication.clipboard().text().startswith("**You**\n\nHi\n\n**Assistant**\n\nRed")


@pytest.mark.expected_log("Generate could not be sent")
def test_a_message_that_can_not_be_sent_leaves_its_chat_usable(start_desk, qtbot, monkeypatch):
    desk = start_desk()
    with monkeypatch.context() as patch:
        patch.setattr(desk.engine, "send", refuse)
        desk.send("Hello")
        qtbot.waitUntil(lambda: desk.program.chat.conversation.request_id is None)
    assert desk.say() == [("user", "Hello")]
    assert desk.program.session.status.can_answer
    desk.program.chat.regenerate()
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.say() == [("user", "Hello"), ("assistant", "Red, green and **blue**. ")]


def refuse(_command):
    raise OSError("the pipe is full")

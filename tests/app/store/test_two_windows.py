"""Two windows on the same chats: nothing is lost, and each soon shows what the other wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.store.records import Changes, Chat, ChatSettings, TurnState
from app.store.store import ChatStore
from app.transcript.turns import Action, ShownState
from engine.api.messages import Message
from tests.app.chats.test_chats_controller import fill, kept, press, say, titles
from tests.app.store.chats import small, turn

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def windows(start_desk, qtbot, tmp_path):
    """Two windows with the same chat open, of which the second waits for the test's answers."""
    fill(tmp_path, small("a", "T", "one", "two"))
    both = start_desk(), start_desk(answers_by_hand=True)
    for desk in both:
        desk.program.chats.open("a")
    # Both have looked once, so that they know what is new.
    for desk in both:
        qtbot.waitUntil(lambda desk=desk: desk.program.chats.saver.is_idle)
    return both


def shows(desk, condition):
    """Whether a window shows something, having looked."""

    def look() -> bool:
        desk.program.chats.others.look()
        return condition()

    return look


def texts(desk) -> list[str]:
    return [text for _, text in desk.say()]


def test_both_write_into_one_chat(windows, qtbot, tmp_path):
    one, two = windows
    say(one, qtbot, "From one")
    answer = one.engine.answer + " "
    qtbot.waitUntil(shows(two, lambda: texts(two) == ["one", "two", "From one", answer]))
    two.send("From two")
    two.engine.stream("Second")
    two.engine.finish(text="Second")
    everything = ["one", "two", "From one", answer, "From two", "Second"]
    qtbot.waitUntil(shows(one, lambda: texts(one) == everything))
    assert [message.text for message in two.engine.request.messages] == everything[:5]
    assert [[one.message.text for one in chat.turns] for chat in kept(tmp_path)] == [everything]


def test_an_answer_that_another_window_writes_is_seen_to_grow(windows, qtbot):
    one, two = windows
    two.send("Question")
    qtbot.waitUntil(shows(one, lambda: texts(one)[-1] == "Question"))
    two.engine.stream("Some ")
    qtbot.waitUntil(shows(one, lambda: texts(one)[-1] == "Some "))
    last = one.program.transcript.turns[-1]
    assert (last.state, last.note) == (ShownState.STREAMING, "")
    assert not one.program.chat.can_continue(), "both would write into one answer"
    two.engine.stream("words")
    two.engine.finish(text="Some words")
    qtbot.waitUntil(shows(one, lambda: one.program.transcript.turns[-1].state is ShownState.DONE))
    assert texts(one)[-1] == "Some words"
    assert one.program.chat.can_continue()


def test_an_answer_of_which_nothing_comes_any_more_has_broken_off(windows, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("app.chats.other_windows.SILENT_SECONDS", 0.0)
    one, _ = windows
    store = ChatStore(tmp_path / "chats.db")
    store.save(store.load("a").chat, Changes((turn(9, "Hal", 2, "assistant", state=TurnState.STREAMING),)))
    store.close()
    qtbot.waitUntil(shows(one, lambda: texts(one)[-1] == "Hal"))
    qtbot.waitUntil(shows(one, lambda: one.program.transcript.turns[-1].state is ShownState.FAILED))


def test_what_is_said_here_is_not_disturbed(windows, qtbot, tmp_path):
    one, two = windows
    two.send("Question")
    two.engine.stream("Some ")
    say(one, qtbot, "From one")
    qtbot.waitUntil(lambda: len(kept(tmp_path)[0].turns) == 6)
    for _ in range(3):
        two.program.chats.others.look()
        qtbot.waitUntil(lambda: two.program.chats.saver.is_idle)
    two.engine.stream("words")
    two.engine.finish(text="Some words")
    conversation = two.program.chat.conversation
    qtbot.waitUntil(shows(two, lambda: len(conversation.kept_turns()) == 6))
    said = {one.message.text for one in kept(tmp_path)[0].turns}
    assert said == {"one", "two", "Question", "Some words", "From one", one.engine.answer + " "}


def test_a_version_that_is_chosen_here_keeps_the_words_of_there(windows, qtbot, tmp_path):
    one, two = windows
    press(two, -1, Action.REGENERATE)
    two.engine.stream("Other")
    qtbot.waitUntil(shows(one, lambda: texts(one) == ["one", "Other"]))
    two.engine.stream(" answer")
    two.engine.finish(text="Other answer")
    qtbot.waitUntil(lambda: kept(tmp_path)[0].turns[-1].message.text == "Other answer")
    # This window has not seen the end of it.
    press(one, -1, Action.PREVIOUS)
    qtbot.waitUntil(lambda: [one.is_chosen for one in kept(tmp_path)[0].turns] == [True, True, False])
    assert kept(tmp_path)[0].turns[-1].message.text == "Other answer"


def test_a_title_and_settings_of_another_window_are_taken_over(windows, qtbot, tmp_path):
    one, two = windows
    two.program.chats.saver.rename("a", "Better")
    two.program.chat.set_settings(replace(two.program.chat.settings, system_prompt="Be brief."))
    qtbot.waitUntil(shows(one, lambda: one.program.chat.settings.system_prompt == "Be brief."))
    assert titles(one) == ["Better"]
    say(one, qtbot, "Hello")
    assert one.engine.request.messages[0] == Message("system", "Be brief.")
    qtbot.waitUntil(lambda: len(kept(tmp_path)[0].turns) == 4)
    assert (kept(tmp_path)[0].chat.title, kept(tmp_path)[0].chat.settings.system_prompt) == ("Better", "Be brief.")


def test_drafts_stay_apart_and_the_last_one_is_kept(windows, qtbot, tmp_path):
    one, two = windows
    two.type("A thought")
    two.program.chats.saver.rename("a", "Better")
    qtbot.waitUntil(lambda: kept(tmp_path)[0].chat.draft == "A thought")
    qtbot.waitUntil(shows(one, lambda: one.program.chat.open_chat.head.title == "Better"))
    say(one, qtbot, "Hello")
    qtbot.waitUntil(lambda: len(kept(tmp_path)[0].turns) == 4)
    qtbot.waitUntil(shows(two, lambda: texts(two)[2:3] == ["Hello"]))
    assert two.program.composer.text() == "A thought"
    assert one.program.composer.text() == ""
    assert kept(tmp_path)[0].chat.draft == "A thought"


def test_a_chat_that_is_deleted_elsewhere_is_told_and_can_go_on(windows, qtbot, tmp_path):
    one, two = windows
    two.program.chats.delete("a")
    qtbot.waitUntil(shows(one, lambda: one.notices() != []))
    assert "deleted in another window" in one.notices()[0]
    assert titles(one) == []
    say(one, qtbot, "Still here")
    qtbot.waitUntil(lambda: titles(one) == ["T"])
    qtbot.waitUntil(shows(two, lambda: titles(two) == ["T"]))


def test_deleting_all_messages_here_leaves_what_was_said_there(windows, qtbot, tmp_path):
    one, two = windows
    two.send("From two")
    two.engine.stream("Some words")
    qtbot.waitUntil(lambda: len(kept(tmp_path)[0].turns) == 4)
    # This window has not seen them yet.
    press(one, 0, Action.DELETE)
    qtbot.waitUntil(lambda: [len(chat.turns) for chat in kept(tmp_path)] == [2])
    qtbot.waitUntil(shows(one, lambda: texts(one) == ["From two", "Some words"]))
    two.engine.finish(text="Some words")
    qtbot.waitUntil(lambda: kept(tmp_path)[0].turns[-1].state is TurnState.DONE)
    assert [one.message.text for one in kept(tmp_path)[0].turns] == ["From two", "Some words"]


def test_who_reads_further_up_goes_on_reading(windows, qtbot):
    one, two = windows
    for number in range(12):
        say(one, qtbot, f"Question {number}\n\n" + "word " * 60)
    bar = one.program.transcript.verticalScrollBar()
    bar.setValue(100)
    qtbot.waitUntil(shows(two, lambda: len(texts(two)) == 26))
    two.send("More")
    qtbot.waitUntil(shows(one, lambda: texts(one)[-1] == "More"))
    assert bar.value() == 100


@pytest.mark.expected_log("chats: exchanged")
def test_a_file_that_another_window_put_aside_costs_no_word(windows, qtbot, tmp_path):
    one, two = windows
    say(one, qtbot, "Before")
    for name in ("chats.db", "chats.db-wal", "chats.db-shm"):
        if (tmp_path / name).exists():
            (tmp_path / name).rename(tmp_path / f"aside-{name}")
    say(one, qtbot, "After")
    qtbot.waitUntil(lambda: [len(chat.turns) for chat in kept(tmp_path)] == [6])
    assert "put aside" in one.notices()[0]
    two.program.chats.others.look()
    qtbot.waitUntil(lambda: two.notices() != [])
    qtbot.waitUntil(lambda: [len(chat.turns) for chat in kept(tmp_path)] == [6])


@pytest.mark.expected_log("chats: exchanged")
def test_who_knows_less_of_an_answer_does_not_undo_it_in_a_new_file(windows, qtbot, tmp_path):
    one, two = windows
    two.send("Question")
    two.engine.stream("Some ")
    qtbot.waitUntil(shows(one, lambda: texts(one)[-1] == "Some "))
    two.engine.stream("words")
    two.engine.finish(text="Some words")
    qtbot.waitUntil(lambda: kept(tmp_path)[0].turns[-1].message.text == "Some words")
    for name in ("chats.db", "chats.db-wal", "chats.db-shm"):
        (tmp_path / name).rename(tmp_path / f"aside-{name}")
    for desk in (two, one):
        desk.program.chats.saver.restore("a")
        qtbot.waitUntil(lambda desk=desk: desk.notices() != [])
        qtbot.waitUntil(lambda: kept(tmp_path) != [] and len(kept(tmp_path)[0].turns) == 4)
        qtbot.waitUntil(lambda desk=desk: desk.program.chats.saver.is_idle)
    assert [one.message.text for one in kept(tmp_path)[0].turns] == ["one", "two", "Question", "Some words"]
    qtbot.waitUntil(shows(one, lambda: texts(one)[-1] == "Some words"))


def test_only_what_changed_is_written(tmp_path):
    store = ChatStore(tmp_path / "chats.db")
    first = Chat("a", "T", settings=ChatSettings("Old"), draft="old")
    store.save(first)
    store.save(replace(first, settings=ChatSettings("New"), draft="new"), before=first)
    store.save(replace(first, title="Other"), before=first)
    found = store.load("a").chat
    assert (found.title, found.settings.system_prompt, found.draft) == ("Other", "New", "new")
    store.close()

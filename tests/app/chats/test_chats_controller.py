"""The whole window with its chats: what a person does with them, and what is there after the next start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QListView

from app.store.preferences import Preferences
from app.store.records import Changes, Chat, ChatSettings, TurnState
from app.store.store import ChatStore
from app.transcript.turns import Action
from engine.api.errors import ErrorCode
from engine.api.messages import Failed, Generate
from engine.api.sentences import Sentence
from engine.api.settings import Policy, PolicySettings, SamplingSettings
from tests.app.store.chats import full, small, turn

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def titles(desk) -> list[str]:
    return [row.chat.title for row in desk.program.sidebar.model.rows if row.chat is not None]


def say(desk, qtbot, text: str) -> None:
    desk.send(text)
    qtbot.waitUntil(
        lambda: desk.program.session.status.can_answer and desk.program.chat.conversation.request_id is None
    )


def press(desk, turn_number: int, action: Action) -> None:
    transcript = desk.program.transcript
    transcript.action_requested.emit(transcript.turns[turn_number].id, action)


def kept(tmp_path):
    store = ChatStore(tmp_path / "chats.db")
    chats = [store.load(chat.id) for chat in store.chats()]
    store.close()
    return chats


def fill(tmp_path, *chats):
    store = ChatStore(tmp_path / "chats.db")
    store.add(chats)
    store.close()


def test_a_chat_is_listed_kept_and_opened_again(start_desk, qtbot, tmp_path):
    desk = start_desk()
    say(desk, qtbot, "Name three colours. Please.")
    qtbot.waitUntil(lambda: titles(desk) == ["Name three colours"])
    desk.program.actions["new_chat"].trigger()
    assert desk.say() == []
    say(desk, qtbot, "Another chat")
    qtbot.waitUntil(lambda: titles(desk) == ["Another chat", "Name three colours"])
    desk.program.actions["next_chat"].trigger()
    assert desk.say() == [("user", "Name three colours. Please."), ("assistant", desk.engine.answer + " ")]
    desk.program.window.close()
    desk.program.close()
    again = start_desk()
    assert titles(again) == ["Another chat", "Name three colours"]
    again.program.sidebar.open_requested.emit(kept(tmp_path)[1].chat.id, None)
    assert again.say()[0] == ("user", "Name three colours. Please.")
    say(again, qtbot, "And four?")
    assert again.engine.request.messages[1].token_ids == (0, 1, 2, 3), "ids of the same model are used again"


def test_words_are_on_disk_while_they_are_said(start_desk, qtbot, tmp_path):
    desk = start_desk(answers_by_hand=True)
    desk.send("Question")
    desk.engine.stream("I was ab")
    qtbot.waitUntil(lambda: bool(kept(tmp_path)) and len(kept(tmp_path)[0].turns) == 2, timeout=3000)
    qtbot.waitUntil(lambda: kept(tmp_path)[0].turns[1].message.text == "I was ab", timeout=3000)
    assert kept(tmp_path)[0].turns[1].state is TurnState.FAILED, "as it would be found after a crash"


def test_a_draft_survives(start_desk, qtbot, tmp_path):
    desk = start_desk()
    desk.type("Not sent yet")
    qtbot.waitUntil(lambda: titles(desk) == ["Not sent yet"])
    desk.program.window.close()
    desk.program.close()
    again = start_desk()
    qtbot.waitUntil(lambda: again.program.composer.text() == "Not sent yet")
    again.program.composer.clear()
    qtbot.waitUntil(lambda: titles(again) == [])
    again.type("Another draft")
    qtbot.waitUntil(lambda: titles(again) == ["Another draft"])
    again.program.window.close()
    again.program.close()
    third = start_desk()
    qtbot.waitUntil(lambda: third.program.composer.text() == "Another draft")
    say(third, qtbot, "What was sent in the end")
    qtbot.waitUntil(lambda: titles(third) == ["What was sent in the end"])


def test_an_answer_goes_on_while_another_chat_is_open(start_desk, qtbot, tmp_path):
    fill(tmp_path, small("other", "Other", "Hi", "Yes"))
    desk = start_desk(answers_by_hand=True)
    desk.send("Question")
    request = desk.engine.request
    desk.engine.stream("One ")
    desk.program.chats.open("other")
    assert [text for _, text in desk.say()] == ["Hi", "Yes"]
    desk.engine.stream("two ", request_id=request.request_id)
    desk.program.chats.open(request.chat_id)
    qtbot.waitUntil(lambda: [text for _, text in desk.say()] == ["Question", "One two "])
    assert desk.program.chat.can_stop()
    desk.program.chats.open("other")
    desk.engine.stream("three", request_id=request.request_id)
    desk.engine.finish(request, "One two three")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert [text for _, text in desk.say()] == ["Hi", "Yes"]
    qtbot.waitUntil(lambda: any(one.turns[-1].message.text == "One two three" for one in kept(tmp_path)))
    desk.program.chats.open(request.chat_id)
    assert [text for _, text in desk.say()] == ["Question", "One two three"]


def test_what_is_sent_in_another_chat_waits_for_the_answer_under_way(start_desk, qtbot, tmp_path):
    fill(tmp_path, small("other", "Other", "Hi", "Yes"))
    desk = start_desk(answers_by_hand=True)
    desk.send("Question")
    first = desk.engine.request
    desk.program.chats.open("other")
    desk.send("Next")
    assert desk.engine.request is first
    desk.engine.finish(first, "Done")
    qtbot.waitUntil(lambda: desk.engine.request is not first)
    assert (desk.engine.request.chat_id, desk.engine.request.messages[-1].text) == ("other", "Next")


def test_versions_are_kept_and_paged(start_desk, qtbot, tmp_path):
    desk = start_desk()
    say(desk, qtbot, "Question")
    desk.engine.answer = "Another."
    press(desk, 1, Action.REGENERATE)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.program.transcript.turns[1].variant == (2, 2)
    press(desk, 1, Action.PREVIOUS)
    assert desk.say()[1][1] == "Red, green and **blue**. "
    assert desk.program.transcript.turns[1].variant == (1, 2)
    press(desk, 0, Action.EDIT)
    say(desk, qtbot, "Better question")
    assert desk.program.transcript.turns[0].variant == (2, 2)
    assert desk.engine.request.messages[-1].text == "Better question"
    press(desk, 0, Action.PREVIOUS)
    assert [text for _, text in desk.say()] == ["Question", "Red, green and **blue**. "]
    chosen = [[True, True, False, False, True]]
    qtbot.waitUntil(lambda: [[one.is_chosen for one in chat.turns] for chat in kept(tmp_path)] == chosen)


def test_a_failed_version_gives_the_old_answer_back(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Question")
    desk.engine.stream("Answer")
    desk.engine.finish(text="Answer")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    press(desk, 1, Action.REGENERATE)
    desk.engine.post(Failed(desk.engine.request.request_id, ErrorCode.PROMPT_TOO_LONG, Sentence("Too long for it.")))
    qtbot.waitUntil(lambda: desk.notices() != [])
    assert [text for _, text in desk.say()] == ["Question", "Answer"]


def test_a_message_is_deleted_and_brought_back(start_desk, qtbot, tmp_path):
    fill(tmp_path, small("a", "T", "one", "two", "three", "four"))
    desk = start_desk()
    desk.program.chats.open("a")
    press(desk, 2, Action.DELETE)
    assert [text for _, text in desk.say()] == ["one", "two"]
    qtbot.waitUntil(lambda: len(kept(tmp_path)[0].turns) == 2)
    desk.program.notices.findChild(QAbstractButton, "noticeAction").click()
    assert [text for _, text in desk.say()] == ["one", "two", "three", "four"]
    qtbot.waitUntil(lambda: len(kept(tmp_path)[0].turns) == 4)


def test_messages_that_were_all_deleted_do_not_come_back_with_the_next_one(start_desk, qtbot, tmp_path):
    fill(tmp_path, small("a", "T", "one", "two"))
    desk = start_desk()
    desk.program.chats.open("a")
    press(desk, 0, Action.DELETE)
    qtbot.waitUntil(lambda: titles(desk) == [])
    say(desk, qtbot, "three")
    qtbot.waitUntil(lambda: [len(chat.turns) for chat in kept(tmp_path)] == [2])
    assert kept(tmp_path)[0].turns[0].message.text == "three"


def test_a_chat_begins_as_another_does(start_desk, qtbot, tmp_path):
    fill(tmp_path, small("a", "Title", "one", "two", "three", "four"))
    desk = start_desk()
    desk.program.chats.open("a")
    press(desk, 1, Action.BRANCH)
    qtbot.waitUntil(lambda: titles(desk) == ["Title", "Title"])
    assert [text for _, text in desk.say()] == ["one", "two"]
    assert desk.program.chat.open_chat.head.id != "a"


def test_a_chat_is_renamed_pinned_and_deleted_with_the_keyboard(start_desk, qtbot, tmp_path):
    fill(tmp_path, small("a", "First"), small("b", "Second"))
    desk = start_desk()
    sidebar = desk.program.sidebar
    view = sidebar.findChild(QListView, "chatList")
    sidebar.focus_search()
    field = sidebar.findChild(QLineEdit, "chatSearch")
    qtbot.keyClick(field, Qt.Key.Key_Down)
    view.setCurrentIndex(sidebar.model.index_of("a"))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert desk.program.chat.open_chat.head.id == "a"
    desk.program.actions["rename_chat"].trigger()
    editor = view.findChild(QLineEdit, "chatTitle")
    editor.setText("  A better   title ")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "A better title" in titles(desk))
    desk.program.actions["pin_chat"].trigger()
    qtbot.waitUntil(lambda: titles(desk)[0] == "A better title" and sidebar.model.rows[0].heading == "Pinned")
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: titles(desk) == ["Second"])
    assert desk.say() == []
    desk.program.notices.findChild(QAbstractButton, "noticeAction").click()
    qtbot.waitUntil(lambda: titles(desk) == ["A better title", "Second"])
    assert [text for _, text in desk.say()] == ["Hi", "Yes"]


def test_a_title_of_several_lines_is_shown_in_one(start_desk, tmp_path):
    fill(tmp_path, small("a", "One\r\ntwo\tthree\u2028four"), small("b", "\n"))
    desk = start_desk()
    shown = {desk.program.sidebar.model.index_of(name).data() for name in ("a", "b")}
    assert shown == {"One two three four", "New chat"}


def test_search_shows_the_hit_and_goes_there(start_desk, qtbot, tmp_path):
    fill(tmp_path, small("a", "First", "Tell me of wombats", "They dig."), full())
    desk = start_desk()
    sidebar = desk.program.sidebar
    field = sidebar.findChild(QLineEdit, "chatSearch")
    field.setText("wom")
    qtbot.waitUntil(lambda: titles(desk) == ["First"])
    assert sidebar.model.rows[0].heading == "1 chat found"
    assert sidebar.model.rows[1].hit.snippet == "Tell me of wombats"
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert desk.say()[0][1] == "Tell me of wombats"
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: len(titles(desk)) == 2)


def test_settings_belong_to_their_chat(start_desk, qtbot, tmp_path):
    settings = ChatSettings("Be a pirate.", SamplingSettings(temperature=0.1))
    store = ChatStore(tmp_path / "chats.db")
    store.save(Chat("a", "Pirate", settings=settings), Changes((turn(1, "Hi"),)))
    store.close()
    desk = start_desk(preferences=Preferences(system_prompt="Be kind."))
    desk.program.chats.open("a")
    assert desk.program.sampling_panel.system_prompt == "Be a pirate."
    say(desk, qtbot, "Ahoy")
    assert desk.engine.request.messages[0].text == "Be a pirate."
    assert desk.engine.request.sampling.temperature == 0.1
    desk.program.actions["new_chat"].trigger()
    assert desk.program.sampling_panel.system_prompt == "Be kind."


def test_a_chat_has_a_policy_of_its_own(start_desk, qtbot, tmp_path):
    desk = start_desk()
    policy = PolicySettings(policy=Policy.STOP)
    desk.program.sampling_panel.policy_edited.emit(policy)
    say(desk, qtbot, "Hi")
    assert desk.engine.request.policy == policy
    first = desk.engine.request.chat_id
    desk.program.actions["new_chat"].trigger()
    say(desk, qtbot, "Hi")
    assert desk.engine.request.policy == PolicySettings()
    desk.program.chats.open(first)
    say(desk, qtbot, "Hi again")
    assert desk.engine.request.policy == policy


def test_system_prompts_are_kept_with_names(start_desk, qtbot, tmp_path):
    desk = start_desk()
    panel = desk.program.sampling_panel
    panel.prompts.chosen.emit("Be a pirate.")
    assert panel.system_prompt == "Be a pirate."
    panel.prompts.kept.emit("Pirate")
    qtbot.waitUntil(lambda: [one.name for one in desk.program.chats.saver.presets()] == ["Pirate"])
    panel.prompts.fill()
    texts = [action.text() for action in panel.prompts.menu().actions()]
    assert "Pirate" in texts
    panel.prompts.removed.emit("Pirate")
    qtbot.waitUntil(lambda: desk.program.chats.saver.presets() == [])


def test_chats_go_out_and_come_in(start_desk, qtbot, tmp_path):
    fill(tmp_path, small("a", "First"), full())
    desk = start_desk()
    desk.program.chat_files.export(tmp_path / "all.json", None)
    qtbot.waitUntil(lambda: any("2 chats exported" in notice for notice in desk.notices()))
    assert len(json.loads((tmp_path / "all.json").read_text())["chats"]) == 2
    desk.program.chat_files.export(tmp_path / "one.md", "a")
    qtbot.waitUntil(lambda: "1 chat exported" in desk.notices()[-1])
    assert (tmp_path / "one.md").read_text().startswith("# First")
    desk.program.chat_files.export(tmp_path / "none" / "x.json", None)
    qtbot.waitUntil(lambda: "could not be written" in desk.notices()[-1])
    desk.program.chat_files.import_file(tmp_path / "all.json")
    qtbot.waitUntil(lambda: "2 chats were here already." in desk.notices()[-1])
    (tmp_path / "bad.json").write_text("{")
    desk.program.chat_files.import_file(tmp_path / "bad.json")
    qtbot.waitUntil(lambda: "bad.json" in desk.notices()[-1])


@pytest.mark.expected_log("chats: damaged")
def test_a_damaged_file_is_told_and_what_is_open_is_kept(start_desk, qtbot, tmp_path):
    fill(tmp_path, small("a", "First"), small("b", "Second"))
    with (tmp_path / "chats.db").open("r+b") as file:
        file.write(bytes(2000))
    desk = start_desk()
    qtbot.waitUntil(lambda: desk.notices() != [])
    assert "4 messages were brought over" in desk.notices()[0]
    assert "chats.db.damaged-1" in desk.notices()[0]
    qtbot.waitUntil(lambda: sorted(titles(desk)) == ["First", "Second"])


@pytest.mark.expected_log("could not be read")
def test_a_file_that_can_not_be_read_costs_none_of_the_others(start_desk, tmp_path, qtbot, monkeypatch):
    """Reading a file of anybody can fail in ways that nobody thought of."""
    (tmp_path / "last.md").write_text("The last one.")
    (tmp_path / "odd.md").write_text("odd")
    read = Path.read_bytes

    def read_bytes(path):
        if path.name == "odd.md":
            raise MemoryError
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    desk = start_desk()
    desk.program.attaching.attach([str(tmp_path / "odd.md"), "nul\0.md", str(tmp_path / "last.md")])
    composer = desk.program.composer
    qtbot.waitUntil(lambda: [one.name for one in composer.attachments] == ["last.md"])
    assert any("odd.md" in words for words in desk.notices())


def test_files_that_are_too_large_together_are_told(start_desk, tmp_path, qtbot, monkeypatch):
    monkeypatch.setattr("app.composer.composer.MAX_ATTACHED", 20_000)
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text("x y " * 2_000)
    desk = start_desk()
    desk.program.attaching.attach([str(tmp_path / name) for name in ("a.txt", "b.txt", "c.txt")])
    qtbot.waitUntil(lambda: desk.notices() != [])
    assert [one.name for one in desk.program.composer.attachments] == ["a.txt", "b.txt"]
    assert "“c.txt” is too large" in desk.notices()[0]


def test_a_file_goes_with_the_message(start_desk, qtbot, tmp_path):
    (tmp_path / "notes.md").write_text("# Some notes\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    desk = start_desk()
    composer = desk.program.composer
    desk.program.attaching.attach([str(tmp_path / "notes.md"), str(tmp_path / "picture.png")])
    qtbot.waitUntil(lambda: len(composer.attachments) == 1 and desk.notices() != [])
    assert "picture.png" in desk.notices()[0]
    say(desk, qtbot, "What is this?")
    sent = desk.engine.last(Generate).messages[-1].text
    assert sent == "notes.md:\n```\n# Some notes\n```\n\nWhat is this?"
    assert composer.attachments == ()
    assert desk.say()[0] == ("user", "📎 notes.md\n\nWhat is this?")
    press(desk, 0, Action.EDIT)
    assert (composer.text(), [one.name for one in composer.attachments]) == ("What is this?", ["notes.md"])
    desk.program.actions["stop"].trigger()
    assert composer.attachments == ()

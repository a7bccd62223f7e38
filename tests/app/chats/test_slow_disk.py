"""Chats whose words wait for a slow or full disk: everything that is done with them knows those words."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QAbstractButton

from app.store.records import Changes
from app.store.store import ChatStore
from app.transcript.turns import Action
from tests.app.chats.test_chats_controller import fill, kept, press, say, titles
from tests.app.store.chats import small, turn

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@contextlib.contextmanager
def nothing_written(tmp_path):
    """A disk that takes nothing meanwhile: somebody else keeps the file busy."""
    other = sqlite3.connect(tmp_path / "chats.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


@pytest.fixture
def desk(start_desk, qtbot, tmp_path):
    """A window on two chats, of which one is open."""
    fill(tmp_path, small("a", "First", "one", "two"), small("b", "Second"))
    desk = start_desk()
    desk.program.chats.open("a")
    wait_for_disk(desk, qtbot)
    return desk


def wait_for_disk(desk, qtbot) -> None:
    qtbot.waitUntil(lambda: desk.program.chats.saver.is_idle)


def said(desk) -> list[str]:
    return [text for _, text in desk.say()]


def written(tmp_path, chat_id: str) -> list[str]:
    return [one.message.text for chat in kept(tmp_path) if chat.chat.id == chat_id for one in chat.turns]


def test_a_chat_is_opened_with_the_words_that_are_not_written_yet(desk, qtbot, tmp_path):
    answer = desk.engine.answer + " "
    with nothing_written(tmp_path):
        say(desk, qtbot, "three")
        desk.program.chats.open("b")
        desk.program.chats.open("a")
        assert said(desk) == ["one", "two", "three", answer]
        say(desk, qtbot, "four")
        assert [one.text for one in desk.engine.request.messages][-3:] == ["three", answer, "four"]
        desk.program.chats.open("b")
        assert written(tmp_path, "a") == ["one", "two"]
    wait_for_disk(desk, qtbot)
    assert written(tmp_path, "a") == ["one", "two", "three", answer, "four", answer]
    desk.program.chats.open("a")
    assert said(desk) == ["one", "two", "three", answer, "four", answer]


def test_a_new_chat_is_in_the_list_before_it_is_written(desk, qtbot, tmp_path):
    desk.program.actions["new_chat"].trigger()
    with nothing_written(tmp_path):
        say(desk, qtbot, "A new one")
        chat_id = desk.program.chat.open_chat.head.id
        desk.program.chats.open("b")
        assert titles(desk)[0] == "A new one"
        desk.program.actions["previous_chat"].trigger()
        desk.program.chats.open(chat_id)
        assert said(desk) == ["A new one", desk.engine.answer + " "]
    wait_for_disk(desk, qtbot)
    assert sorted(titles(desk)) == ["A new one", "First", "Second"]


def test_a_chat_that_waits_is_deleted_and_brought_back(desk, qtbot, tmp_path):
    with nothing_written(tmp_path):
        say(desk, qtbot, "three")
        desk.program.chats.open("b")
        desk.program.chats.delete("a")
        assert titles(desk) == ["Second"]
        assert [hit.chat.id for hit in desk.program.chats.saver.search("one")] == []
        desk.program.notices.findChild(QAbstractButton, "noticeAction").click()
        assert sorted(titles(desk)) == ["First", "Second"]
        desk.program.chats.open("a")
        assert said(desk)[2] == "three"
    wait_for_disk(desk, qtbot)
    assert written(tmp_path, "a")[2] == "three"


def test_an_answer_that_a_deletion_ended_has_failed_when_it_is_brought_back(start_desk, qtbot, tmp_path):
    desk = start_desk(answers_by_hand=True)
    desk.send("Question")
    desk.engine.stream("I was ab")
    qtbot.waitUntil(lambda: said(desk) == ["Question", "I was ab"])
    qtbot.waitUntil(lambda: titles(desk) == ["Question"])
    with nothing_written(tmp_path):
        desk.engine.stream("out")
        qtbot.waitUntil(lambda: said(desk) == ["Question", "I was about"])
        desk.program.chats.delete(desk.program.chat.open_chat.head.id)
        desk.program.notices.findChild(QAbstractButton, "noticeAction").click()
        assert said(desk) == ["Question", "I was about"]
        assert desk.program.transcript.turns[-1].state.value == "failed"


def test_what_is_deleted_stays_deleted_once_it_is_written(desk, qtbot, tmp_path):
    with nothing_written(tmp_path):
        say(desk, qtbot, "three")
        desk.program.chats.open("b")
        desk.program.chats.delete("a")
    wait_for_disk(desk, qtbot)
    assert (titles(desk), written(tmp_path, "a")) == (["Second"], [])


def test_a_chat_that_waits_gets_another_title(desk, qtbot, tmp_path):
    with nothing_written(tmp_path):
        say(desk, qtbot, "three")
        desk.program.chats.open("b")
        desk.program.chats.saver.rename("a", "Better")
        desk.program.chats.open("a")
        assert desk.program.chat.open_chat.head.title == "Better"
        say(desk, qtbot, "four")
    wait_for_disk(desk, qtbot)
    assert {chat.chat.id: chat.chat.title for chat in kept(tmp_path)} == {"a": "Better", "b": "Second"}


def test_a_copy_is_open_before_it_is_written(desk, qtbot, tmp_path):
    with nothing_written(tmp_path):
        say(desk, qtbot, "three")
        press(desk, 2, Action.BRANCH)
        assert said(desk) == ["one", "two", "three"]
        assert titles(desk) == ["First", "First", "Second"]
        copy = desk.program.chat.open_chat.head.id
        desk.program.chats.open("b")
        desk.program.chats.open(copy)
        assert said(desk) == ["one", "two", "three"]
        say(desk, qtbot, "four")
    qtbot.waitUntil(lambda: written(tmp_path, copy)[:4] == ["one", "two", "three", "four"])
    assert written(tmp_path, "a")[:3] == ["one", "two", "three"]


def test_what_waits_is_exported(desk, qtbot, tmp_path):
    with nothing_written(tmp_path):
        say(desk, qtbot, "three")
        desk.program.chats.open("b")
        desk.program.actions["new_chat"].trigger()
        say(desk, qtbot, "A new one")
        desk.program.chat_files.export(tmp_path / "all.json", None)
        qtbot.waitUntil(lambda: any("3 chats exported" in notice for notice in desk.notices()))
        chats = {chat["id"]: chat for chat in json.loads((tmp_path / "all.json").read_text())["chats"]}
        assert [one["text"] for one in chats["a"]["turns"]][2] == "three"
        desk.program.chat_files.export(tmp_path / "one.md", "a")
        qtbot.waitUntil(lambda: "1 chat exported" in desk.notices()[-1])
        assert "three" in (tmp_path / "one.md").read_text()


def test_a_hit_in_a_chat_that_waits_is_opened_with_all_its_words(desk, qtbot, tmp_path):
    with nothing_written(tmp_path):
        say(desk, qtbot, "three")
        desk.program.chats.open("b")
        (hit,) = desk.program.chats.saver.search("two")
        desk.program.sidebar.open_requested.emit(hit.chat.id, hit.turn_id)
        assert said(desk)[:3] == ["one", "two", "three"]


@pytest.mark.expected_log("chats: exchanged")
def test_a_chat_that_waits_is_whole_in_a_new_file(desk, qtbot, tmp_path):
    with nothing_written(tmp_path):
        say(desk, qtbot, "three")
        desk.program.chats.open("b")
        for name in ("chats.db", "chats.db-wal", "chats.db-shm"):
            (tmp_path / name).rename(tmp_path / f"aside-{name}")
    qtbot.waitUntil(lambda: written(tmp_path, "a") == ["one", "two", "three", desk.engine.answer + " "])


def test_what_is_written_is_read_from_the_file_again(desk, qtbot, tmp_path):
    say(desk, qtbot, "three")
    desk.program.chats.open("b")
    wait_for_disk(desk, qtbot)
    store = ChatStore(tmp_path / "chats.db")
    whole = store.load("a")
    store.save(replace(whole.chat, title="Theirs"), Changes((turn(whole.turns[-1].id + 1, "theirs"),)))
    store.close()
    assert [one.message.text for one in desk.program.chats.saver.load("a").turns][-1] == "theirs"


@pytest.mark.expected_log("left.out")
def test_a_change_that_was_left_out_is_not_waited_for(desk, qtbot, monkeypatch):
    def fail(*_arguments):
        raise ValueError("no sense")

    monkeypatch.setattr(ChatStore, "pin", fail)
    desk.program.chats.saver.pin("b", True)
    wait_for_disk(desk, qtbot)

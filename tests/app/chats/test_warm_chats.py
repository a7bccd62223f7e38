"""The list of chats says where caches are, and the preferences settle how much of them is kept."""

from __future__ import annotations

import sqlite3

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton

from app.store.store import ChatStore
from engine.api.errors import ErrorCode
from engine.api.messages import (
    ChatTier,
    ChatTiersChanged,
    EngineLost,
    ForgetAllChats,
    ForgetChat,
    ForgetOtherChats,
    LossOutcome,
    SetTierBudgets,
    Tier,
)
from engine.api.sentences import say
from engine.api.settings import TierSettings
from tests.app.fake_engine import READY
from tests.app.store.chats import small


def test_a_chat_says_where_its_cache_is(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Hi")
    chat_id = desk.engine.request.chat_id
    model = desk.program.sidebar.model
    qtbot.waitUntil(lambda: model.index_of(chat_id).isValid())
    for tier, word, is_hollow in ((Tier.ACTIVE, "active", False), (Tier.RAM, "RAM", False), (Tier.DISK, "disk", True)):
        desk.engine.post(ChatTiersChanged((ChatTier(chat_id, tier, 3 << 20, 100, True),)))
        qtbot.waitUntil(lambda word=word: model.badge(chat_id) is not None and model.badge(chat_id).word == word)
        assert (model.badge(chat_id).size, model.badge(chat_id).is_hollow) == ("3 MiB", is_hollow)
        assert "3.0 MiB" in model.index_of(chat_id).data(Qt.ItemDataRole.AccessibleTextRole)
    desk.engine.post(EngineLost(-9, LossOutcome.RESTARTED, ErrorCode.ENGINE_CRASHED, say("It ended."), "", ()))
    qtbot.waitUntil(lambda: model.badge(chat_id) is None)


def forgotten(desk):
    return [command.chat_id for command in desk.engine.sent if isinstance(command, ForgetChat)]


def test_the_cache_of_one_chat_can_be_forgotten(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Hi")
    chat_id = desk.engine.request.chat_id
    sidebar = desk.program.sidebar
    qtbot.waitUntil(lambda: sidebar.model.index_of(chat_id).isValid())

    def entries():
        line = next(row.chat for row in sidebar.model.rows if row.chat is not None)
        return {action.text(): action for action in sidebar.chat_menu(line).actions()}

    assert "Forget its cache" not in entries(), "there is none yet"
    desk.engine.post(ChatTiersChanged((ChatTier(chat_id, Tier.DISK, 3 << 20, 100, True),)))
    qtbot.waitUntil(lambda: sidebar.model.badge(chat_id) is not None)
    entries()["Forget its cache"].trigger()
    assert forgotten(desk) == [chat_id]


def test_every_new_engine_hears_which_chats_there_are(start_desk, qtbot, tmp_path):
    store = ChatStore(tmp_path / "chats.db")
    store.add([small("a"), small("b"), small("c")])
    # Can still be undone.
    store.delete("b")
    store.close()
    desk = start_desk()
    qtbot.waitUntil(lambda: any(isinstance(command, ForgetOtherChats) for command in desk.engine.sent))
    desk.engine.sent.clear()
    desk.engine.post(READY)
    qtbot.waitUntil(lambda: any(isinstance(command, ForgetOtherChats) for command in desk.engine.sent))
    assert {"a", "b", "c"} <= set(desk.engine.last(ForgetOtherChats).chat_ids)
    assert not forgotten(desk)


def test_chats_that_can_not_be_read_are_not_taken_for_none(start_desk, qtbot, monkeypatch):
    def fail(_store):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(ChatStore, "ids", fail)
    desk = start_desk()
    desk.send("Hi")
    qtbot.waitUntil(lambda: desk.engine.request is not None)
    assert not any(isinstance(command, ForgetOtherChats) for command in desk.engine.sent)


def test_a_deleted_chat_is_forgotten_once_that_can_not_be_undone(start_desk, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("app.chats.chat_saver.UNDO_SECONDS", 0.05)
    monkeypatch.setattr("app.chats.chat_saver.PURGE_DELAY_MS", 1)
    store = ChatStore(tmp_path / "chats.db")
    store.add([small("a"), small("b"), small("c")])
    store.close()
    desk = start_desk(loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: desk.program.sidebar.model.index_of("a").isValid())
    desk.program.chats.delete("a")
    qtbot.waitUntil(lambda: forgotten(desk) == ["a"])
    desk.program.chats.delete("b")
    desk.program.chats.saver.restore("b")
    desk.program.chats.delete("c")
    qtbot.waitUntil(lambda: forgotten(desk) == ["a", "c"])


def test_budgets_and_emptying_reach_the_engine(start_desk, qtbot):
    desk = start_desk()
    desk.program.actions["show_preferences"].trigger()
    dialog = desk.program.dialog
    line = dialog.findChild(QLineEdit, "ram_mibInput")
    line.selectAll()
    qtbot.keyClicks(line, "64")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert dialog.isVisible()
    budgets = TierSettings(ram_mib=64)
    assert desk.program.store.current.tiers == budgets
    qtbot.mouseClick(dialog.findChild(QPushButton, "forgetAllChats"), Qt.MouseButton.LeftButton)
    assert desk.engine.sent[-2:] == [SetTierBudgets(budgets), ForgetAllChats()]

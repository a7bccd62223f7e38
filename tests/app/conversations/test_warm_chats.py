"""The list of chats says where caches are, and the preferences settle how much of them is kept."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton

from engine.errors import ErrorCode
from engine.messages import (
    ChatTier,
    ChatTiersChanged,
    EngineLost,
    ForgetAllChats,
    LossOutcome,
    SetTierBudgets,
    Tier,
)
from engine.settings import TierSettings


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
    desk.engine.post(EngineLost(-9, LossOutcome.RESTARTED, ErrorCode.ENGINE_CRASHED, "It ended.", "", ()))
    qtbot.waitUntil(lambda: model.badge(chat_id) is None)


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

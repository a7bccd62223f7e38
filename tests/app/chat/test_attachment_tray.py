"""The files that go with a message, over the text."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QLabel

from app.chat.attachment_tray import AttachmentTray
from app.conversations.records import Attachment
from app.theme import Theme


def test_in_a_narrow_window_the_name_is_seen_rather_than_the_share(qapp, qtbot):
    tray = AttachmentTray(Theme(qapp))
    qtbot.addWidget(tray)
    # Words of the source: no language is installed here.
    file = Attachment("minutes.md", "text")
    tray.set_attachments((file,))
    tray.set_tokens(file, 1234, 0.25)
    tray.resize(600, 40)
    tray.show()
    chip = tray.findChild(QFrame, "attachmentChip")
    name, size = chip.findChildren(QLabel)[1:3]
    assert size.text() == "1234 token(s) · 25 % of the cache"
    tray.resize(230, 40)
    qtbot.waitUntil(lambda: size.text() == "1234 token(s)")
    assert size.toolTip() == "1234 token(s) · 25 % of the cache"
    qtbot.waitUntil(lambda: name.width() >= 40)
    tray.resize(600, 40)
    qtbot.waitUntil(lambda: "25 %" in size.text())

"""The files that go with a message, over the text."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QLabel

from app.composer.attachment_tray import AttachmentTray
from app.look.theme import Theme
from app.store.records import Attachment


def test_in_a_narrow_window_the_name_is_seen_rather_than_the_share(qapp, qtbot):
    tray = AttachmentTray(Theme(qapp))
    qtbot.addWidget(tray)
    file = Attachment("minutes.md", "text")
    tray.set_attachments((file,))
    tray.set_tokens(file, 7, 0.25)
    tray.resize(600, 40)
    tray.show()
    chip = tray.findChild(QFrame, "attachmentChip")
    name, size = chip.findChildren(QLabel)[1:3]
    qtbot.waitUntil(lambda: "25" in size.text())
    whole = size.text()
    tray.resize(230, 40)
    qtbot.waitUntil(lambda: "25" not in size.text() and name.width() >= 40)
    assert size.text().startswith("7 ")
    assert size.toolTip() == whole
    tray.resize(600, 40)
    qtbot.waitUntil(lambda: size.text() == whole)


def test_an_estimate_is_shown_as_one(qapp, qtbot):
    tray = AttachmentTray(Theme(qapp))
    qtbot.addWidget(tray)
    file = Attachment("minutes.md", "text")
    tray.set_attachments((file,))
    tray.set_tokens(file, 7, None, is_estimate=True)
    size = tray.findChild(QFrame, "attachmentChip").findChildren(QLabel)[2]
    assert size.toolTip().startswith("about 7 ")

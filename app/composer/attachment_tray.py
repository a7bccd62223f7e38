"""The files that go with the next message: a chip for each, with its size in tokens, over the text."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.look import language
from app.look.plain_tip import plain_tip
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.store.records import Attachment
from app.widgets.elided_label import ElidedLabel

ROOM_FOR_NAME = 90


def _n_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


class _Chip(Retranslating, QFrame):
    """One file; ``removed`` asks to leave it out."""

    removed = Signal()

    def __init__(self, attachment: Attachment, theme: Theme) -> None:
        super().__init__()
        self.attachment = attachment
        self.setObjectName("attachmentChip")
        icon = QLabel()
        icon.setPixmap(theme.icon("attach").pixmap(16, 16))
        self._name = ElidedLabel()
        self._name.set_line(attachment.name)
        self._short = self._long = language.bytes_text(_n_bytes(attachment.text))
        self._size = QLabel(self._short)
        self._size.setProperty("level", "meta")
        self._remove = QToolButton()
        self._remove.setObjectName("removeAttachment")
        self._remove.setIcon(theme.icon("close"))
        self._remove.setIconSize(QSize(14, 14))
        self._remove.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 4, 2)
        row.setSpacing(8)
        row.addWidget(icon)
        row.addWidget(self._name, 1)
        row.addWidget(self._size)
        row.addWidget(self._remove)
        self.retranslate()

    def set_tokens(self, n_tokens: int, share: float | None, *, is_estimate: bool) -> None:
        """How many tokens it is, and what part of the cache that takes."""
        about = self.tr("about %Ln token(s)", "", n_tokens)
        self._short = self._long = about if is_estimate else self.tr("%Ln token(s)", "", n_tokens)
        if share is not None:
            self._long = self.tr("{0} · {1} of the cache").format(self._short, language.percent(share))
        self._size.setToolTip(self._long)
        self._fit()

    def _fit(self) -> None:
        """The name matters most: where there is no room for all, the share is in the tooltip alone."""
        room = self._name.width() + self._size.width() - ROOM_FOR_NAME
        fits = self._size.fontMetrics().horizontalAdvance(self._long) <= room
        self._size.setText(self._long if fits else self._short)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say as much as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def retranslate(self) -> None:
        self._remove.setAccessibleName(self.tr("Leave {0} out").format(self.attachment.name))
        self._remove.setToolTip(plain_tip(self.tr("Leave {0} out").format(self.attachment.name)))
        self.setToolTip(
            self.tr("The text of this file goes into the message. The model reads it once; it then stays in the cache.")
        )


class AttachmentTray(QWidget):
    """``changed`` when a file came or went."""

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attachmentTray")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._theme = theme
        self._chips: list[_Chip] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._column.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.hide()

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """What goes with the message, in order."""
        return tuple(chip.attachment for chip in self._chips)

    def set_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        """Others in place of those that are here."""
        if attachments == self.attachments:
            return
        for chip in tuple(self._chips):
            self._take_out(chip)
        for attachment in attachments:
            chip = _Chip(attachment, self._theme)
            chip.removed.connect(lambda chip=chip: self._remove(chip))
            self._chips.append(chip)
            self._column.addWidget(chip)
        self._tell()

    def set_tokens(
        self, attachment: Attachment, n_tokens: int, share: float | None, *, is_estimate: bool = False
    ) -> None:
        """The size of one of them."""
        for chip in self._chips:
            if chip.attachment is attachment:
                chip.set_tokens(n_tokens, share, is_estimate=is_estimate)

    def _remove(self, chip: _Chip) -> None:
        self._take_out(chip)
        self._tell()

    def _take_out(self, chip: _Chip) -> None:
        self._chips.remove(chip)
        self._column.removeWidget(chip)
        chip.hide()
        chip.deleteLater()

    def _tell(self) -> None:
        self.setVisible(bool(self._chips))
        self.changed.emit()

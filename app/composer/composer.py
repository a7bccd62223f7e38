"""Where the next message is written: it grows with the text, counts it against the room, sends and stops."""

from __future__ import annotations

import itertools

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from app.composer.attachment_tray import AttachmentTray
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.store.records import Attachment
from engine.api.valid import valid_text

MARGIN = 24
MAX_SHARE = 0.4
MIN_LINES = 1
BUTTON = 32
CERTAINLY_OVER = 1.25
"""An estimate of so many times the room is not that wrong."""
LONG_WORD = 10_000
"""Letters without a gap between them from which on Qt takes long to find where they may break: 2 s for 100,000, 8 s for
twice as many."""


MAX_ATTACHED = 24_000_000
"""Characters of all files together: what is pasted is never refused for being long, but twenty files of the largest
size would be copied to the engine at each pause in typing."""
MAX_PASTED = 50_000
"""Characters that are pasted into the text; more of them, or a very long line, would hold up the window with every
letter that is typed, and go with the message as a file."""


class _Editor(QPlainTextEdit):
    """Plain text only; Enter sends, Shift+Enter breaks the line, Esc stops, Up in an empty one edits the last turn."""

    send_pressed = Signal()
    stop_pressed = Signal()
    edit_last_pressed = Signal()
    focus_changed = Signal(bool)
    long_text_pasted = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._is_composing = False

    def replace(self, text: str) -> None:
        """Another text, with its lines broken at words, or anywhere where a word is too long for that."""
        is_long = _has_long_word(text)
        if is_long:
            self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.setPlainText(text)
        if not is_long and self.wordWrapMode() is QTextOption.WrapMode.WrapAnywhere:
            self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)

    def insertFromMimeData(self, source: QMimeData) -> None:
        text = source.text()
        if len(text) > MAX_PASTED or _has_long_word(text):
            self.long_text_pasted.emit(text)
        else:
            super().insertFromMimeData(source)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self._is_composing:
            if modifiers in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier):
                self.send_pressed.emit()
            else:
                self.insertPlainText("\n")
                self.ensureCursorVisible()
        elif key == Qt.Key.Key_Escape:
            self.stop_pressed.emit()
        elif key == Qt.Key.Key_Up and not modifiers and self.document().isEmpty() and not self._is_composing:
            self.edit_last_pressed.emit()
        else:
            super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)


class Composer(Retranslating, QWidget):
    """See the package for the interface."""

    send_requested = Signal(str)
    stop_requested = Signal()
    edit_last_requested = Signal()
    text_changed = Signal(str)
    attachments_changed = Signal()
    too_large = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_busy = False
        self._is_queued = False
        self._is_editing = False
        self._can_send = True
        self._room: tuple[int, int] | None = None
        self._is_estimate = False
        self._card = QFrame(self)
        self._card.setObjectName("composerCard")
        self._tray = AttachmentTray(theme, self._card)
        self._editor = _Editor(self._card)
        self._editor.setObjectName("composer")
        self._editor.setFrameShape(QFrame.Shape.NoFrame)
        self._editor.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._editor.setTabChangesFocus(True)
        self._editor.document().setDocumentMargin(2)
        self._room_label = QLabel(self._card)
        self._room_label.setObjectName("composerRoom")
        self._room_label.setTextFormat(Qt.TextFormat.PlainText)
        self._hint = QLabel(self)
        self._hint.setObjectName("composerHint")
        self._hint.setTextFormat(Qt.TextFormat.PlainText)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._send = self._round_button("sendButton", "send")
        self._stop = self._round_button("stopButton", "stop")
        self._arrange()
        self.setFocusProxy(self._editor)
        self._editor.textChanged.connect(self._on_text_changed)
        # A pasted or deleted line wraps only after textChanged was emitted.
        self._editor.document().documentLayout().documentSizeChanged.connect(self._fit_height)
        self._tray.changed.connect(self._on_attachments_changed)
        self._editor.send_pressed.connect(self.send)
        self._editor.stop_pressed.connect(self._on_stop)
        self._editor.edit_last_pressed.connect(self.edit_last_requested)
        self._editor.focus_changed.connect(self._on_focus_changed)
        self._editor.long_text_pasted.connect(self._on_long_text)
        self._send.clicked.connect(self.send)
        self._stop.clicked.connect(self._on_stop)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.retranslate()

    def text(self) -> str:
        """What is typed."""
        return valid_text(self._editor.toPlainText())

    def set_text(self, text: str) -> None:
        """Replace what is typed, with the cursor at the end."""
        self._editor.replace(text)
        self._editor.moveCursor(self._editor.textCursor().MoveOperation.End)

    def begin_with(self, text: str) -> None:
        """Put a text here to go on from."""
        self.set_text(text)
        self.focus()

    def clear(self) -> None:
        """Empty it."""
        self._tray.set_attachments(())
        self._editor.replace("")

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files that go with the message."""
        return self._tray.attachments

    def set_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        """Other files in place of those that are here."""
        self._tray.set_attachments(attachments)

    def attach(self, attachment: Attachment) -> None:
        """Add a file, unless all of them would be too large."""
        files = (*self.attachments, attachment)
        if sum(len(one.text) for one in files) > MAX_ATTACHED:
            self.too_large.emit(attachment.name)
        else:
            self._tray.set_attachments(files)

    def show_tokens(
        self, attachment: Attachment, n_tokens: int, share: float | None, *, is_estimate: bool = False
    ) -> None:
        """The size of one of the files, and what part of the cache it will take."""
        self._tray.set_tokens(attachment, n_tokens, share, is_estimate=is_estimate)

    def focus(self) -> None:
        """Put the keyboard here."""
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_busy(self, is_busy: bool) -> None:
        """An answer is being written: Stop takes the place of Send."""
        self._is_busy = is_busy
        self._refresh()

    def set_queued(self, is_queued: bool) -> None:
        """What was sent waits for the model; Stop takes it back."""
        self._is_queued = is_queued
        self._refresh()

    def set_editing(self, is_editing: bool) -> None:
        """An earlier message is here to be changed; Esc asks to stop that."""
        self._is_editing = is_editing
        self._refresh()

    def set_can_send(self, can_send: bool) -> None:
        """Whether there is anyone to send to; typing stays possible."""
        self._can_send = can_send
        self._refresh()

    def set_room(self, n_tokens: int | None, n_room: int | None, is_estimate: bool = False) -> None:
        """The tokens of the draft and the tokens left for it; None hides the line."""
        self._room = None if n_tokens is None or n_room is None else (n_tokens, n_room)
        self._is_estimate = is_estimate
        self._refresh()

    def add_tool(self, widget: QWidget) -> None:
        """Add a control at the left under the text."""
        self._tools.addWidget(widget)

    def can_send(self) -> bool:
        """Whether Enter would send."""
        has_text = bool(self.text().strip()) or bool(self.attachments)
        return has_text and self._can_send and not self._is_busy and not self._is_queued and self._n_over() == 0

    def send(self) -> None:
        """Ask for what is typed to be sent, if it can be; whoever sends it clears it."""
        if self.can_send():
            self.send_requested.emit(self.text())

    def retranslate(self) -> None:
        """Take all words from the language in force."""
        self._editor.setPlaceholderText(self.tr("Ask anything…"))
        self._editor.setAccessibleName(self.tr("Message"))
        self._editor.setToolTip("")
        self._send.setAccessibleName(self.tr("Send"))
        self._send.setToolTip(self.tr("Send (Enter)"))
        self._stop.setAccessibleName(self.tr("Stop"))
        self._stop.setToolTip(self.tr("Stop (Esc); what is written so far stays"))
        self._refresh()

    def _round_button(self, name: str, icon: str) -> QToolButton:
        button = QToolButton(self._card)
        button.setObjectName(name)
        button.setIcon(self._theme.icon(icon, "on_accent"))
        button.setIconSize(QSize(18, 18))
        button.setFixedSize(BUTTON, BUTTON)
        return button

    def _arrange(self) -> None:
        self._tools = QHBoxLayout()
        self._tools.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addLayout(self._tools)
        row.addStretch(1)
        row.addWidget(self._room_label)
        row.addWidget(self._send)
        row.addWidget(self._stop)
        card = QVBoxLayout(self._card)
        card.setContentsMargins(16, 12, 11, 10)
        card.setSpacing(8)
        card.addWidget(self._tray)
        card.addWidget(self._editor)
        card.addLayout(row)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(MARGIN, 0, MARGIN, 10)
        outer.setSpacing(8)
        outer.addWidget(self._card)
        outer.addWidget(self._hint)
        self._outer = outer

    def _n_over(self) -> int:
        """By how many tokens the draft is too long."""
        if self._room is None:
            return 0
        n_tokens, n_room = self._room
        # Who sends what may just fit hears from the engine whether it does.
        if self._is_estimate and n_tokens < n_room * CERTAINLY_OVER:
            return 0
        return max(0, n_tokens - n_room)

    def _refresh(self) -> None:
        is_stoppable = self._is_busy or self._is_queued
        self._stop.setVisible(is_stoppable)
        self._send.setVisible(not is_stoppable)
        self._send.setEnabled(self.can_send())
        self._room_label.setText(self.room_text())
        is_over = self._n_over() > 0
        if self._room_label.property("over") != is_over:
            self._room_label.setProperty("over", is_over)
            self._room_label.style().unpolish(self._room_label)
            self._room_label.style().polish(self._room_label)
        if self._is_queued:
            self._hint.setText(self.tr("Will be sent when the model is ready"))
        elif self._is_busy:
            self._hint.setText(self.tr("Esc to stop"))
        elif self._is_editing:
            self._hint.setText(self.tr("Editing your message  ·  Esc to leave it as it was"))
        else:
            self._hint.setText(self.tr("Enter to send  ·  Shift+Enter for a new line"))

    def room_text(self) -> str:
        """The line about the room that is left."""
        if self._room is None:
            return ""
        n_tokens, n_room = self._room
        over = self._n_over()
        if over and self._is_estimate:
            return self.tr("Too long by about %Ln token(s)", "", over)
        if over:
            return self.tr("Too long by %Ln token(s)", "", over)
        locale = self.locale()
        used, room = locale.toString(n_tokens), locale.toString(n_room)
        if self._is_estimate:
            return self.tr("About {used} / {room} tokens").format(used=used, room=room)
        return self.tr("{used} / {room} tokens").format(used=used, room=room)

    def _on_text_changed(self) -> None:
        self._fit_height()
        self._send.setEnabled(self.can_send())
        self.text_changed.emit(self.text())

    def _on_long_text(self, text: str) -> None:
        taken = {attachment.name for attachment in self.attachments}
        names = (self.tr("Pasted text {0}").format(number) for number in itertools.count(1))
        name = next(name for name in names if name not in taken)
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        self.attach(Attachment(name, text))

    def _on_attachments_changed(self) -> None:
        self._send.setEnabled(self.can_send())
        self.attachments_changed.emit()
        self.text_changed.emit(self.text())

    def _on_stop(self) -> None:
        if self._is_busy or self._is_queued or self._is_editing:
            self.stop_requested.emit()

    def _on_focus_changed(self, has_focus: bool) -> None:
        self._card.setProperty("focused", has_focus)
        self._card.style().unpolish(self._card)
        self._card.style().polish(self._card)

    def _on_theme_changed(self) -> None:
        self._editor.setFont(self._theme.font(self._theme.sizes.body))
        self._room_label.setFont(self._theme.font(self._theme.sizes.meta, tabular=True))
        self._fit_height()

    def _fit_height(self) -> None:
        """As high as the text, from one line up to two fifths of the window."""
        line = self._editor.fontMetrics().lineSpacing()
        margins = 2 * self._editor.document().documentMargin() + 4
        n_lines = self._editor.document().size().height()
        most = max(3 * line, self.window().height() * MAX_SHARE)
        self._editor.setFixedHeight(round(min(most, max(MIN_LINES, n_lines) * line + margins)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        column = self._theme.sizes.column
        margin = max(MARGIN, (self.width() - column) // 2)
        self._outer.setContentsMargins(margin, 0, margin, 10)
        self._fit_height()


def _has_long_word(text: str) -> bool:
    return len(text) > LONG_WORD and any(len(word) > LONG_WORD for word in text.split())

"""Notices: bars above the composer that do not block the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.look.foreign_text import elided, visible
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from engine.api.valid import valid_text

MAX_NOTICES = 4
MAX_TEXT = 1_000
MAX_DETAIL = 50_000
LINES_SHOWN = 8
INFO_MS = 12_000
"""How long a piece of information stays; warnings and errors stay until they are closed."""


class Level(StrEnum):
    """How serious it is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class NoticeText:
    """``text`` is one or two sentences for the person; ``detail``, a log tail as a rule, unfolds."""

    level: Level
    text: str
    detail: str = ""


def _shown(notice: NoticeText) -> str:
    return elided(visible(notice.text), MAX_TEXT)


class NoticeBar(Retranslating, QFrame):
    """One notice."""

    closed = Signal()

    def __init__(self, notice: NoticeText, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.notice = notice
        self._theme = theme
        self.setObjectName("notice")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._icon = QLabel()
        self._text = QLabel(_shown(notice))
        self._text.setObjectName("noticeText")
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._details = QPushButton()
        self._details.setObjectName("noticeDetails")
        self._details.setCheckable(True)
        self._details.setProperty("kind", "quiet")
        self._details.setVisible(bool(notice.detail))
        self._details.toggled.connect(self._on_details_toggled)
        self._copy = QToolButton()
        self._copy.setObjectName("noticeCopy")
        self._copy.clicked.connect(self._on_copy)
        self._close = QToolButton()
        self._close.setObjectName("noticeClose")
        self._close.clicked.connect(self.closed)
        self._log = QPlainTextEdit(visible(notice.detail[-MAX_DETAIL:]))
        self._log.setObjectName("noticeLog")
        self._log.setReadOnly(True)
        self._log.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._log.hide()
        self._lay_out()
        self.restyle()
        self.retranslate()

    def _lay_out(self) -> None:
        row = self._row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1, Qt.AlignmentFlag.AlignVCenter)
        for button in (self._details, self._copy, self._close):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 6, 6)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self._log)

    def add_action(self, label: str, do: Callable[[], object]) -> None:
        """Offer something to do about it; the notice closes when it is done."""
        button = QPushButton(label)
        button.setObjectName("noticeAction")
        button.setToolTip(label)
        button.clicked.connect(do)
        button.clicked.connect(self.closed)
        self._row.insertWidget(2, button, 0, Qt.AlignmentFlag.AlignTop)

    def restyle(self) -> None:
        """Take the colours of the theme in force."""
        tokens = self._theme.tokens
        colour, ground = {
            Level.INFO: (tokens.accent, tokens.accent_soft),
            Level.WARNING: (tokens.warning, tokens.warning_soft),
            Level.ERROR: (tokens.danger, tokens.danger_soft),
        }[self.notice.level]
        radius = self._theme.sizes.radius_card
        token = {Level.INFO: "accent", Level.WARNING: "warning", Level.ERROR: "danger"}[self.notice.level]
        self.setStyleSheet(
            f"#notice {{ background: {ground}; border: 1px solid {colour}; border-radius: {radius}px; }}"
        )
        self._icon.setPixmap(self._theme.icon(str(self.notice.level), token).pixmap(18, 18))
        self._icon.setContentsMargins(0, 6, 0, 0)
        self._copy.setIcon(self._theme.icon("copy"))
        self._close.setIcon(self._theme.icon("close"))
        self._log.setFont(self._theme.code_font())
        lines = min(LINES_SHOWN, self._log.blockCount())
        self._log.setFixedHeight(lines * self._log.fontMetrics().lineSpacing() + 28)

    def retranslate(self) -> None:
        """Take the words of the language in force; the sentence stays as it was said."""
        levels = {
            Level.INFO: self.tr("Information"),
            Level.WARNING: self.tr("Warning"),
            Level.ERROR: self.tr("Error"),
        }
        self.setAccessibleName(f"{levels[self.notice.level]}: {_shown(self.notice)}")
        self._details.setText(self.tr("Hide details") if self._details.isChecked() else self.tr("Details"))
        self._details.setToolTip(self.tr("What the engine wrote to its log"))
        self._copy.setToolTip(self.tr("Copy this notice with its details"))
        self._copy.setAccessibleName(self.tr("Copy"))
        self._close.setToolTip(self.tr("Close this notice"))
        self._close.setAccessibleName(self.tr("Close"))
        self._log.setAccessibleName(self.tr("Details"))

    def _on_details_toggled(self, is_open: bool) -> None:
        self._log.setVisible(is_open)
        if is_open:
            bar = self._log.verticalScrollBar()
            bar.setValue(bar.maximum())
        self.retranslate()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText("\n\n".join(filter(None, (self.notice.text, self.notice.detail))))


class Notices(QWidget):
    """The stack of notices, newest at the bottom, next to the composer."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notices")
        self._theme = theme
        self._bars: list[NoticeBar] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 12)
        self._column.setSpacing(8)
        self.hide()
        theme.changed.connect(self._on_theme_changed)

    @property
    def notices(self) -> tuple[NoticeText, ...]:
        """What is shown, oldest first."""
        return tuple(bar.notice for bar in self._bars)

    def tell(
        self, level: Level, text: str, detail: str = "", *, action: tuple[str, Callable[[], object]] | None = None
    ) -> None:
        """Show a notice; one that is there already with the same sentence is replaced, not repeated. Names of files in
        it may be no text."""
        text, detail = valid_text(text), valid_text(detail)
        for bar in self._bars:
            if bar.notice.text == text and bar.notice.level == level:
                self._remove(bar)
                break
        bar = NoticeBar(NoticeText(level, text, detail), self._theme, self)
        if action is not None:
            bar.add_action(*action)
        bar.closed.connect(lambda: self._remove(bar))
        self._bars.append(bar)
        self._column.addWidget(bar)
        self._drop_the_least()
        self.show()
        if level is Level.INFO:
            timer = QTimer(bar)
            timer.setSingleShot(True)
            timer.timeout.connect(lambda: self._remove(bar))
            timer.start(INFO_MS)

    def take_back(self, text: str) -> None:
        """Close the notice with this sentence: it is no longer true."""
        for bar in tuple(self._bars):
            if bar.notice.text == text:
                self._remove(bar)

    def clear(self) -> None:
        """Close all."""
        for bar in tuple(self._bars):
            self._remove(bar)

    def _drop_the_least(self) -> None:
        while len(self._bars) > MAX_NOTICES:
            order = [Level.INFO, Level.WARNING, Level.ERROR]
            self._remove(min(self._bars[:-1], key=lambda bar: order.index(bar.notice.level)))

    def _remove(self, bar: NoticeBar) -> None:
        if bar in self._bars:
            self._bars.remove(bar)
            self._column.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
            self.setVisible(bool(self._bars))

    def _on_theme_changed(self) -> None:
        for bar in self._bars:
            bar.restyle()

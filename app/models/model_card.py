"""A model in a list: its name, what is known of it, whether it fits, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.look import language
from app.look.plain_tip import plain_tip
from app.look.theme import Theme
from app.models.fit_text import FitText
from app.widgets.elided_label import ElidedLabel

BAR_STEPS = 1000
CARDS_AT_ONCE = 50
"""A card takes milliseconds to make, and a hub may list thousands."""


class ModelCard(QFrame):
    """Lines of text on the left, buttons on the right; a bar below them while something goes on."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelCard")
        self.setProperty("surface", "card")
        # The keyboard comes to it when a button goes from under it, see `offer`.
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._theme = theme
        self._fit: FitText | None = None
        self.title = ElidedLabel()
        self.title.setProperty("level", "heading")
        self.title.set_line(name)
        self._facts: list[ElidedLabel] = []
        self.fit = QLabel()
        self.fit.setObjectName("fitLine")
        self.fit.setTextFormat(Qt.TextFormat.PlainText)
        self.fit.setWordWrap(True)
        self.fit.hide()
        self.bar = QProgressBar()
        self.bar.setRange(0, BAR_STEPS)
        self.bar.setTextVisible(False)
        self.bar.hide()
        self._lines = QVBoxLayout()
        self._lines.setSpacing(2)
        for widget in (self.title, self.fit, self.bar):
            self._lines.addWidget(widget)
        self.buttons: list[QPushButton] = []
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(6)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 11, 12, 11)
        row.setSpacing(14)
        row.addLayout(self._lines, 1)
        row.addLayout(self._buttons)
        self.setAccessibleName(name)

    def set_facts(self, *lines: str) -> None:
        """Quieter lines below the name."""
        while len(self._facts) < len(lines):
            label = ElidedLabel()
            label.setProperty("level", "meta")
            # Chinese signs are higher than the font that the line is measured with.
            label.setMinimumHeight(round(1.6 * self._theme.sizes.meta))
            self._facts.append(label)
            self._lines.insertWidget(len(self._facts), label)
        for index, label in enumerate(self._facts):
            label.setVisible(index < len(lines))
            label.set_line(lines[index] if index < len(lines) else "")

    def set_fit(self, fit: FitText) -> None:
        """Whether it fits, or what is wrong with it."""
        if fit == self._fit:
            return
        self._fit = fit
        self.fit.setText(fit.line)
        self.fit.setToolTip(plain_tip(fit.tip))
        self.fit.setVisible(bool(fit.line))
        self.setAccessibleDescription(fit.line)
        self.restyle()

    def set_progress(self, fraction: float | None) -> None:
        """How far something is, from 0 to 1; None: nothing goes on."""
        self.bar.setVisible(fraction is not None)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.bar.setValue(round(BAR_STEPS * min(1.0, max(0.0, fraction or 0.0))))

    def add_button(self, name: str, do: Callable[[], object], kind: str = "") -> QPushButton:
        """A button on the right; its words are set by whoever asked for it."""
        button = QPushButton()
        button.setObjectName(name)
        if kind:
            button.setProperty("kind", kind)
        button.clicked.connect(lambda _checked: do())
        self.buttons.append(button)
        self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return button

    def offer(self, usable: Sequence[QPushButton], grey: Sequence[QPushButton] = ()) -> None:
        """Show these buttons and no others, and tell a screen reader whose they are.

        One that goes, or can't be pressed any more, leaves the keyboard on the card: to press twice must not do what
        the next button does.
        """
        if any(one.hasFocus() and one not in usable for one in self.buttons):
            self.setFocus()
        for one in self.buttons:
            one.setVisible(one in usable or one in grey)
            one.setEnabled(one in usable)
            one.setAccessibleName(f"{one.text() or one.toolTip()}, {self.title.line}")

    def follow(self, before: QWidget) -> QWidget:
        """Let the keyboard come to the buttons after a widget; the last of them."""
        for one in (self, *self.buttons):
            QWidget.setTabOrder(before, one)
            before = one
        return before

    def restyle(self) -> None:
        """Take the colours of the theme in force."""
        if self._fit is not None:
            color = getattr(self._theme.tokens, self._fit.color)
            self.fit.setStyleSheet(f"color: {color}; font-size: {self._theme.sizes.meta}px;")


class CardList(QScrollArea):
    """Cards one below the other; what is not there says so in their place. ``more_wanted`` is emitted when those that
    are left out are to be shown."""

    more_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.cards: list[ModelCard] = []
        self._empty = QLabel()
        self._empty.setWordWrap(True)
        self._empty.setProperty("level", "meta")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setContentsMargins(24, 32, 24, 32)
        self._more = QPushButton()
        self._more.setObjectName("moreCards")
        self._more.clicked.connect(self.more_wanted)
        self._more.hide()
        content = QWidget()
        content.setProperty("surface", "ground")
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, 8, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self._empty)
        self._column.addWidget(self._more, 0, Qt.AlignmentFlag.AlignHCenter)
        self._column.addStretch()
        self.setWidget(content)

    def set_cards(self, cards: Sequence[ModelCard], n_left_out: int = 0) -> None:
        """Show these cards in place of the ones before, which are deleted unless they are among them: the keyboard and
        the place in the list stay where they are."""
        if cards != self.cards:
            kept = set(cards)
            for old in self.cards:
                self._column.removeWidget(old)
                if old not in kept:
                    old.hide()
                    old.deleteLater()
            self.cards = list(cards)
            before: QWidget = self
            for index, card in enumerate(cards):
                self._column.insertWidget(index, card)
                card.show()
                before = card.follow(before)
            QWidget.setTabOrder(before, self._more)
        self._more.setText(self.tr("Show {0} more").format(language.number(min(n_left_out, CARDS_AT_ONCE))))
        self._more.setToolTip(self.tr("{0} are not shown yet").format(language.number(n_left_out)))
        self._more.setVisible(n_left_out > 0)
        self._empty.setVisible(not cards)

    def set_empty_words(self, words: str) -> None:
        """What to say where there are no cards."""
        self._empty.setText(words)

    def restyle(self) -> None:
        """Take the colours of the theme in force."""
        for card in self.cards:
            card.restyle()

"""What an empty chat shows: what this is, whether it is ready, and something to begin with."""

from __future__ import annotations

import os
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.commands.actions import Actions
from app.link.status import EngineState, EngineStatus
from app.look.icons import application_icon
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.models.first_models import FirstModels, Offer
from engine.models.hub import reach
from engine.models.starter import is_starter

COLUMN = 600


class Suggestion(QPushButton):
    """A text to begin with, on as many lines as it needs."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "suggestion")
        self._label = QLabel()
        self._label.setWordWrap(True)
        self._label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.addWidget(self._label)

    @property
    def words(self) -> str:
        """What it suggests."""
        return self._label.text()

    def set_words(self, words: str) -> None:
        """Suggest something else."""
        self._label.setText(words)
        self.setAccessibleName(words)

    def hasHeightForWidth(self) -> bool:
        """Narrow ones are higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """What the wrapped words need."""
        return self._column.heightForWidth(width)

    def sizeHint(self) -> QSize:
        """A button by itself would count only its own text, of which it has none."""
        return self._column.sizeHint()


class Welcome(Retranslating, QWidget):
    """``suggested`` carries a text for the composer; nothing is sent by itself. ``add_folder_wanted`` carries nothing.

    ``first_models`` are shown while there is no model.
    """

    suggested = Signal(str)
    add_folder_wanted = Signal()

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self._theme = theme
        self._status = EngineStatus()
        self._is_starter = False
        self._icon = QLabel()
        self._icon.setPixmap(application_icon().pixmap(56, 56))
        self._icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._title = QLabel()
        self._title.setProperty("level", "hero")
        self._title.setWordWrap(True)
        self._title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._words = QLabel()
        self._words.setWordWrap(True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._words.setProperty("level", "row")
        self._suggestions = [Suggestion() for _ in range(4)]
        self.first_models = FirstModels(theme)
        self.first_models.offer_changed.connect(self._render)
        self._choose = self._button("welcomeChoose", actions["choose_model"].trigger)
        self._open = self._button("welcomeOpen", actions["open_model"].trigger)
        self._add = self._button("welcomeAddFolder", self.add_folder_wanted.emit)
        self._find = self._button("welcomeFind", actions["find_models"].trigger)
        self._choose.setProperty("kind", "primary")
        self._open.setProperty("kind", "primary")
        self._lay_out()
        self.retranslate()

    def _button(self, name: str, do: Callable[[], object]) -> QPushButton:
        button = QPushButton()
        button.setObjectName(name)
        button.clicked.connect(lambda _checked: do())
        return button

    def _lay_out(self) -> None:
        self._grid = QWidget()
        grid = QGridLayout(self._grid)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(10)
        for index, suggestion in enumerate(self._suggestions):
            suggestion.setObjectName(f"suggestion{index}")
            suggestion.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            suggestion.clicked.connect(lambda _checked, one=suggestion: self.suggested.emit(one.words))
            grid.addWidget(suggestion, index // 2, index % 2)
        middle = self._middle = QWidget()
        middle.setMaximumWidth(COLUMN)
        column = QVBoxLayout(middle)
        column.setContentsMargins(24, 0, 24, 0)
        column.setSpacing(10)
        column.addWidget(self._icon)
        column.addWidget(self._title)
        column.addWidget(self._words)
        column.addSpacing(10)
        column.addWidget(self._grid)
        column.addWidget(self.first_models)
        buttons = QHBoxLayout()
        buttons.addStretch()
        for button in (self._choose, self._open, self._add, self._find):
            buttons.addWidget(button)
        buttons.addStretch()
        column.addLayout(buttons)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(middle, 100)
        row.addStretch(1)
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        outer.addLayout(row)
        outer.addStretch(3)

    def set_status(self, status: EngineStatus) -> None:
        """Say whether there is a model to talk to."""
        before, self._status = self._status, status
        if status.state is not before.state or status.facts is not before.facts:
            self._is_starter = status.facts is not None and is_starter(status.facts.path)
            self._render()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setAccessibleName(self.tr("Welcome"))
        texts = (
            self.tr("Explain in three sentences what a KV cache is."),
            self.tr("Write a limerick about a forgetful robot."),
            self.tr("Show a Python function that reverses a list, with a test."),
            self.tr("Plan a rainy Sunday, hour by hour."),
        )
        for suggestion, text in zip(self._suggestions, texts, strict=True):
            suggestion.set_words(text)
            suggestion.setToolTip(self.tr("Put this into the composer"))
        self._choose.setText(self.tr("Choose a model…"))
        self._choose.setToolTip(self.tr("The starter, a recent one, or a GGUF file of yours"))
        self._open.setText(self.tr("Open a file…"))
        self._open.setToolTip(self.tr("A GGUF file of yours"))
        self._add.setText(self.tr("Add a folder…"))
        self._add.setToolTip(self.tr("List the models of another folder too; nothing in it is changed"))
        self._find.setText(self.tr("Find a model…"))
        self._find.setToolTip(self.tr("Search the model hub; what fits is known before anything is downloaded"))
        self._render()

    def _render(self) -> None:
        offer = self.first_models.offer
        has_none = self._has_none()
        self._title.setText(self._title_words())
        self._words.setText(self._explanation())
        is_offline = has_none and offer is Offer.NO_CONNECTION
        side = Qt.AlignmentFlag.AlignLeft if is_offline else Qt.AlignmentFlag.AlignHCenter
        self._words.setAlignment(side)
        self._choose.setVisible(has_none and offer in (Offer.NOTHING, Offer.FOUND))
        self._open.setVisible(has_none and offer in (Offer.SUGGESTED, Offer.NO_CONNECTION))
        self._add.setVisible(has_none and is_offline)
        self._find.setVisible((has_none and not is_offline) or self._is_starter)
        for button, is_first in ((self._choose, offer is Offer.NOTHING), (self._open, is_offline)):
            _set_primary(button, is_primary=is_first)
        self._fit()

    def _has_none(self) -> bool:
        return self._status.state in (EngineState.NO_MODEL, EngineState.STOPPED)

    def _title_words(self) -> str:
        if self._status.state is EngineState.NO_MODEL:
            return self.tr("First, a model")
        return self.tr("What shall we talk about?")

    def _explanation(self) -> str:
        state = self._status.state
        if state is EngineState.NO_MODEL:
            return self._explain_offer()
        if state is EngineState.STOPPED:
            return self.tr("The engine has stopped. Choose a model to start it again.")
        if state in (EngineState.STARTING, EngineState.LOADING):
            return self.tr("The model is on its way. Just begin to type: it is sent as soon as it can be.")
        if self._is_starter:
            return self.tr("The starter is tiny: good for a first look, often wrong. Better models can be downloaded.")
        return self.tr("Everything stays on this computer. The panel shows what the model keeps in mind.")

    def _explain_offer(self) -> str:
        match self.first_models.offer:
            case Offer.FOUND:
                return self.tr("These are on this computer already.")
            case Offer.SUGGESTED:
                host = reach.host_of(reach.endpoint_of(os.environ))
                return self.tr(
                    "These suit this computer. Nothing is asked of the network before you press “Download”: the file "
                    "then comes from {0}. A .gguf file that you have can be dropped on this window."
                ).format(host)
            case Offer.NO_CONNECTION if reach.is_turned_off(os.environ):
                return (
                    self.tr("Downloads are turned off by HF_HUB_OFFLINE. Unset it and start Kvasir again, or:")
                    + self._ways_without_hub()
                )
            case Offer.NO_CONNECTION:
                reason = self.tr("This computer has no connection, so there is nothing to download from now.")
                return reason + self._ways_without_hub()
            case _:
                return self.tr(
                    "There is no model yet. Choose the starter or a GGUF file of yours, or find one to download."
                )

    def _ways_without_hub(self) -> str:
        ways = [
            self.tr("• Drop a .gguf file from a stick or another computer on this window, or open it."),
            self.tr("• Add a folder that has models. LM Studio's and Ollama's are found by themselves."),
            self.tr("• Run `make run` once with a connection: it installs the starter, a small model."),
        ]
        return "\n\n" + "\n".join(ways)

    def _fit(self) -> None:
        """In a low window what is least needed gives way first."""
        cards = self.first_models.cards
        self._icon.setVisible(True)
        self._words.setVisible(True)
        self._grid.setVisible(not self._has_none())
        self.first_models.setVisible(bool(cards))
        for card in cards:
            card.setVisible(True)
        givers: list[QWidget] = [self._grid, self._icon]
        if cards:
            givers += [self._words, *reversed(cards[1:])]
        for widget in givers:
            if self._middle.heightForWidth(min(self.width(), COLUMN)) > self.height():
                widget.setVisible(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much as there is room for."""
        super().resizeEvent(event)
        self._fit()


def _set_primary(button: QPushButton, *, is_primary: bool) -> None:
    kind = "primary" if is_primary else ""
    if button.property("kind") != kind:
        button.setProperty("kind", kind)
        button.style().unpolish(button)
        button.style().polish(button)

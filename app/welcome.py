"""What an empty chat shows: what this is, whether it is ready, and something to begin with."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.commands.actions import Actions
from app.engine_status import EngineState, EngineStatus
from app.icons import application_icon
from app.theme import Theme

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


class Welcome(QWidget):
    """``suggested`` carries a text for the composer; nothing is sent by itself."""

    suggested = Signal(str)

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self._theme = theme
        self._status = EngineStatus()
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
        self._choose = QPushButton()
        self._choose.setObjectName("welcomeChoose")
        self._choose.setProperty("kind", "primary")
        self._choose.clicked.connect(actions["choose_model"].trigger)
        self._find = QPushButton()
        self._find.setObjectName("welcomeFind")
        self._find.clicked.connect(actions["find_models"].trigger)
        self._lay_out()
        self.retranslate()

    def _lay_out(self) -> None:
        self._grid = QWidget()
        grid = QGridLayout(self._grid)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(10)
        for index, button in enumerate(self._suggestions):
            button.setObjectName(f"suggestion{index}")
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            button.clicked.connect(lambda _checked, button=button: self.suggested.emit(button.words))
            grid.addWidget(button, index // 2, index % 2)
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
        buttons = QHBoxLayout()
        buttons.addStretch()
        buttons.addWidget(self._choose)
        buttons.addWidget(self._find)
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
        if status.state is not self._status.state:
            self._status = status
            self._render()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setAccessibleName(self.tr("Welcome"))
        self._title.setText(self.tr("What shall we talk about?"))
        texts = (
            self.tr("Explain in three sentences what a KV cache is."),
            self.tr("Write a limerick about a forgetful robot."),
            self.tr("Show a Python function that reverses a list, with a test."),
            self.tr("Plan a rainy Sunday, hour by hour."),
        )
        for button, text in zip(self._suggestions, texts, strict=True):
            button.set_words(text)
            button.setToolTip(self.tr("Put this into the composer"))
        self._choose.setText(self.tr("Choose a model…"))
        self._choose.setToolTip(self.tr("The starter, a recent one, or a GGUF file of yours"))
        self._find.setText(self.tr("Find a model…"))
        self._find.setToolTip(
            self.tr("Three that fit this computer are suggested; only the download needs a connection")
        )
        self._render()

    def _render(self) -> None:
        state = self._status.state
        has_none = state in (EngineState.NO_MODEL, EngineState.STOPPED)
        self._words.setText(
            {
                EngineState.NO_MODEL: self.tr(
                    "There is no model yet. Choose a GGUF file of yours, or find one to download: what fits this "
                    "computer is suggested. Without a connection, drop a .gguf file from elsewhere on this window."
                ),
                EngineState.STOPPED: self.tr("The engine has stopped. Choose a model to start it again."),
                EngineState.STARTING: self.tr(
                    "The model is on its way. Just begin to type: it is sent as soon as it can be."
                ),
                EngineState.LOADING: self.tr(
                    "The model is on its way. Just begin to type: it is sent as soon as it can be."
                ),
            }.get(state, self.tr("Everything stays on this computer. The panel shows what the model keeps in mind."))
        )
        self._choose.setVisible(has_none)
        self._find.setVisible(has_none)
        self._fit()

    def _fit(self) -> None:
        """In a low window the suggestions give way first, then the icon."""
        has_none = self._status.state in (EngineState.NO_MODEL, EngineState.STOPPED)
        for widget in (self._icon, self._grid):
            widget.setVisible(True)
        self._grid.setVisible(not has_none)
        for widget in (self._grid, self._icon):
            if self._middle.heightForWidth(min(self.width(), COLUMN)) > self.height():
                widget.setVisible(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the language."""
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)

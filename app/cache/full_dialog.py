"""Asks how to go on when the cache is full: each option with its price, and with the reason where it is closed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from engine.plan.full_cache import FullCacheOption, Obstacle, PricedOption

WIDTH = 520


class OptionButton(QPushButton):
    """An option: what it does, what it costs, why it is closed."""

    def __init__(self, option: FullCacheOption, theme: Theme) -> None:
        super().__init__()
        self.setObjectName(f"way_{option}")
        self.setProperty("kind", "suggestion")
        self._title = QLabel()
        self._title.setProperty("level", "heading")
        self._price = QLabel()
        self._price.setObjectName("wayPrice")
        self._price.setFont(theme.font(theme.sizes.meta, 500, tabular=True))
        self._words = QLabel()
        self._words.setObjectName("wayWords")
        self._words.setProperty("level", "meta")
        self._words.setWordWrap(True)
        for label in (self._title, self._price, self._words):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            label.setTextFormat(Qt.TextFormat.PlainText)
        top = QHBoxLayout()
        top.addWidget(self._title, 1)
        top.addWidget(self._price)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(14, 10, 14, 10)
        self._column.setSpacing(4)
        self._column.addLayout(top)
        self._column.addWidget(self._words)
        # As high as its words: a button by itself would not become lower than its size hint.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def show_option(self, title: str, price: str, words: str, *, is_open: bool) -> None:
        """Say all of it."""
        self._title.setText(title)
        self._price.setText(price)
        self._words.setText(words)
        self.setEnabled(is_open)
        self.setAccessibleName(f"{title}, {price}" if price else title)
        self.setAccessibleDescription(words)
        self.setToolTip(words)

    def hasHeightForWidth(self) -> bool:
        """Narrow ones are higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """What the wrapped words need."""
        return self._column.heightForWidth(width)

    def sizeHint(self) -> QSize:
        """A button by itself would count only its own text, of which it has none."""
        return self._column.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Its height follows from its width."""
        return QSize(self._column.minimumSize().width(), 0)


class FullDialog(Retranslating, QDialog):
    """``option_chosen`` carries a PricedOption. Esc leaves everything as it is. ``is_too_long``: not the cache is full,
    but what was to be sent has no room in it."""

    option_chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, is_too_long: bool = False) -> None:
        super().__init__(parent)
        self.setObjectName("cacheFullDialog")
        self._is_too_long = is_too_long
        self._options: tuple[PricedOption, ...] = ()
        self._n_cells = 0
        self._title = QLabel()
        self._title.setProperty("level", "title")
        self._words = QLabel()
        self._words.setObjectName("fullWords")
        self._words.setWordWrap(True)
        self._words.setProperty("level", "row")
        self._buttons = {option: OptionButton(option, theme) for option in FullCacheOption}
        self._leave = QPushButton()
        self._leave.setObjectName("leaveFull")
        self._leave.clicked.connect(self.reject)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(10)
        for label in (self._title, self._words):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
            column.addWidget(label)
        for option, button in self._buttons.items():
            button.clicked.connect(lambda _checked=False, option=option: self._choose(option))
            column.addWidget(button)
        column.addSpacing(4)
        # Room that is left goes here and not into the cards.
        column.addStretch(1)
        column.addWidget(self._leave, 0, Qt.AlignmentFlag.AlignRight)
        self.setMinimumWidth(WIDTH)
        self.retranslate()

    def show_options(self, options: Sequence[PricedOption], n_cells: int) -> None:
        """The options with what is known of their prices."""
        self._options, self._n_cells = tuple(options), n_cells
        self._render()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        title = self.tr("Too long for the cache") if self._is_too_long else self.tr("The cache is full")
        self.setWindowTitle(title)
        self._title.setText(title)
        self._leave.setText(self.tr("Leave it as it is"))
        self._leave.setToolTip(self.tr("The chat stays; a new chat starts with an empty cache"))
        self._render()

    def _render(self) -> None:
        n_cells = language.number(self._n_cells)
        if self._is_too_long:
            words = self.tr(
                "The chat with this message takes more than {0} cells, and the policy says to stop. How shall it go on?"
            )
        else:
            words = self.tr("All {0} cells are in use, and the policy says to stop. How shall it go on?")
        self._words.setText(words.format(n_cells))
        for option in self._options:
            title, words = self._option_words(option)
            if option.obstacle is not None:
                words = self._reason(option)
            self._buttons[option.option].show_option(title, self._price(option), words, is_open=option.obstacle is None)

    def _option_words(self, option: PricedOption) -> tuple[str, str]:
        kind = option.load.type_k if option.load is not None else ""
        n_ctx = language.number(option.n_ctx) if option.n_ctx is not None else "–"
        return {
            FullCacheOption.SLIDE: (
                self.tr("Slide, and keep the first tokens"),
                self.tr(
                    "The oldest tokens leave, the first ones stay and hold the quality. The chat may go on for ever."
                ),
            ),
            FullCacheOption.RECOMPUTE: (
                self.tr("Drop the oldest turns, read the rest again"),
                self.tr("Exact about what is kept; each time the cache is full it costs this again."),
            ),
            FullCacheOption.LARGER: (
                self.tr("A larger context window: {0} cells").format(n_ctx),
                self.tr("The model is loaded again and the chat read again; nothing is forgotten."),
            ),
            FullCacheOption.SMALLER_TYPE: (
                self.tr("{0} cells with K and V in {1}").format(n_ctx, kind),
                self.tr("Half the memory for each cell, a little less exact. The chat is read again."),
            ),
        }[option.option]

    def _reason(self, option: PricedOption) -> str:
        return {
            Obstacle.MEMORY_KIND: self.tr("This model's memory can't give single tokens up."),
            Obstacle.TRAINED_LENGTH: self.tr(
                "The window is as long as the texts the model was trained on. RoPE scaling can stretch it."
            ),
            Obstacle.NO_KV: self.tr("This model keeps a state instead of K and V."),
            Obstacle.NO_SMALLER_TYPE: self.tr("K and V are in the smallest type that is worth using already."),
            Obstacle.DOES_NOT_FIT: self.tr("There is too little free memory for it."),
            Obstacle.REFUSED: language.in_words(option.refusal) if option.refusal is not None else "",
        }[option.obstacle or Obstacle.REFUSED]

    def _price(self, option: PricedOption) -> str:
        if option.obstacle not in (None, Obstacle.DOES_NOT_FIT):
            return ""
        if option.extra_bytes is None:
            size = self.tr("… MiB")
        elif option.extra_bytes == 0:
            size = self.tr("no memory")
        else:
            size = ("+" if option.extra_bytes > 0 else "−") + language.bytes_text(abs(option.extra_bytes))
        if option.seconds is None:
            time = self.tr("time unknown")
        elif option.seconds == 0:
            time = self.tr("at once")
        else:
            time = self.tr("{0} s").format(language.number(option.seconds, 1))
        return f"{size} · {time}"

    def _choose(self, option: FullCacheOption) -> None:
        chosen = next(one for one in self._options if one.option is option)
        self.accept()
        self.option_chosen.emit(chosen)

    def showEvent(self, event: QShowEvent) -> None:
        """As high as the words need."""
        super().showEvent(event)
        width = max(WIDTH, self.width())
        self.resize(width, self._column.totalHeightForWidth(width))

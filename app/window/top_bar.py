"""The bar on top: which model, how the engine is doing, and the way to everything else."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QToolButton, QWidget

from app.commands.actions import Actions
from app.link.status import EngineState, EngineStatus
from app.look import language
from app.look.plain_tip import plain_tip
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.models.file_names import model_name, name_of_file
from engine.api.messages import ModelFacts


class ModelButton(QPushButton):
    """The name of the model and, as far as there is room, what it is; a click opens the picker."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelPicker")
        self.setProperty("kind", "quiet")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._theme = theme
        theme.changed.connect(self.updateGeometry)
        self._name = ""
        self._facts = ""

    def set_model(self, name: str, facts: str) -> None:
        """Show a name, and facts beside it."""
        self._name, self._facts = name, facts
        self.setAccessibleDescription(f"{name} {facts}".strip())
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Room for everything."""
        name_width, facts_width = self._widths()
        gap = 10 if self._facts else 0
        return QSize(12 + name_width + gap + facts_width + 30, self._theme.sizes.ui + 23)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters of the name."""
        return QSize(110, self._theme.sizes.ui + 23)

    def _widths(self) -> tuple[int, int]:
        sizes = self._theme.sizes
        name = QFontMetrics(self._theme.font(sizes.title, 600)).horizontalAdvance(self._name)
        facts = QFontMetrics(self._theme.font(sizes.meta, tabular=True)).horizontalAdvance(self._facts)
        return name + 2, facts + 2

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the button's ground, then the two texts, each in its own font."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        painter = QPainter(self)
        self.style().drawControl(QStyle.ControlElement.CE_PushButton, option, painter, self)
        tokens, sizes = self._theme.tokens, self._theme.sizes
        room = self.rect().adjusted(12, 0, -30, 0)
        name_width, _ = self._widths()
        elide, flags = Qt.TextElideMode.ElideMiddle, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.setFont(self._theme.font(sizes.title, 600))
        painter.setPen(QColor(tokens.text))
        painter.drawText(room, flags, painter.fontMetrics().elidedText(self._name, elide, room.width()))
        left = room.left() + name_width + 10
        rest = QRect(left, room.top(), room.right() - left + 1, room.height())
        if self._facts and rest.width() > 60:
            painter.setFont(self._theme.font(sizes.meta, tabular=True))
            painter.setPen(QColor(tokens.text_2))
            text = painter.fontMetrics().elidedText(self._facts, Qt.TextElideMode.ElideRight, rest.width())
            painter.drawText(rest, flags, text)
        side = 16
        place = QRect(self.width() - 24, (self.height() - side) // 2, side, side)
        self._theme.icon("chevron-down").paint(painter, place)
        painter.end()


class EnginePill(QPushButton):
    """The state of the engine in a word and a colour; a click tells more."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("engineState")
        self.setProperty("kind", "pill")
        self._theme = theme
        self._color = "text_3"

    def set_state(self, word: str, color: str) -> None:
        """Show a word, and a dot in the token ``color``."""
        self._color = color
        self.setText(word)
        self.updateGeometry()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The dot is drawn beside what the style sheet draws."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(self._theme.tokens, self._color)))
        painter.drawEllipse(QRect(11, self.height() // 2 - 4, 8, 8))
        painter.end()


class TopBar(Retranslating, QWidget):
    """Shows an EngineStatus; what a click on its buttons does is wired by the window."""

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("topBar")
        self.setFixedHeight(theme.sizes.top_bar)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._status = EngineStatus()
        self.model = ModelButton(theme)
        self.state = EnginePill(theme)
        self.more = QToolButton()
        self.more.setObjectName("moreButton")
        self.more.setIcon(theme.icon("more"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.sidebar = QToolButton()
        self.sidebar.setObjectName("sidebarButton")
        self.sidebar.setDefaultAction(actions["toggle_sidebar"])
        self.sidebar.setIconSize(QSize(18, 18))
        self.new_chat = QToolButton()
        self.new_chat.setObjectName("newChatButton")
        self.new_chat.setDefaultAction(actions["new_chat"])
        self.panel = QToolButton()
        self.panel.setObjectName("panelButton")
        self.panel.setDefaultAction(actions["toggle_panel"])
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 12, 0)
        row.setSpacing(4)
        row.addWidget(self.sidebar)
        row.addWidget(self.model, 1)
        row.addStretch(0)
        row.addWidget(self.state)
        row.addSpacing(6)
        for button in (self.new_chat, self.more, self.panel):
            button.setIconSize(QSize(18, 18))
            row.addWidget(button)
        self.retranslate()

    def set_status(self, status: EngineStatus) -> None:
        """Show what the engine is doing."""
        self._status = status
        self._render()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.model.setAccessibleName(self.tr("Model"))
        self.more.setToolTip(self.tr("More commands"))
        self.more.setAccessibleName(self.tr("More commands"))
        for button, name in (
            (self.sidebar, self.tr("Show or hide the chats")),
            (self.new_chat, self.tr("New chat")),
            (self.panel, self.tr("Show or hide the panel")),
        ):
            button.setAccessibleName(name)
        self._render()

    def state_word(self) -> tuple[str, str]:
        """The state in a word, and its colour as the name of a token."""
        status = self._status
        share = language.percent(status.fraction)
        return {
            EngineState.STARTING: (self.tr("starting"), "text_3"),
            EngineState.NO_MODEL: (self.tr("no model"), "text_3"),
            EngineState.LOADING: (self.tr("loading {0}").format(share), "warning"),
            EngineState.READY: (self.tr("ready"), "success"),
            EngineState.READING: (self.tr("reading {0}").format(share), "cell_user"),
            EngineState.ANSWERING: (self.tr("answering"), "accent"),
            EngineState.STOPPED: (self.tr("stopped"), "danger"),
        }[status.state]

    def _render(self) -> None:
        status = self._status
        word, color = self.state_word()
        self.state.set_state(word, color)
        self.state.setAccessibleName(self.tr("Engine: {0}").format(word))
        self.state.setToolTip(self.tr("What the engine is doing; click for versions, devices and its log"))
        if status.facts is not None:
            self.model.set_model(model_name(status.facts), self._facts_text(status.facts))
        elif status.model_path is not None:
            self.model.set_model(name_of_file(status.model_path), "")
        else:
            self.model.set_model(self.tr("Choose a model"), "")
        tip = self.tr("Choose another model; loading it takes seconds, and the chat is read again")
        self.model.setToolTip(plain_tip(f"{status.model_path}\n{tip}") if status.model_path else tip)

    def _facts_text(self, facts: ModelFacts) -> str:
        if facts.n_layer_gpu > 0:
            place = self.tr("GPU {0}/{1}").format(facts.n_layer_gpu, facts.n_layer)
        else:
            place = self.tr("CPU")
        parts = (facts.quantization, language.bytes_text(facts.size_bytes), place)
        return " · ".join(part for part in parts if part)

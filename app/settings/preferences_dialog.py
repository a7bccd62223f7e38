"""The preferences: how the window looks, and what may be kept of chats; each in force at once."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from app.look import language
from app.look.colours import ACCENTS
from app.look.retranslating import Retranslating
from app.look.theme import MAX_TEXT_SCALE, MIN_TEXT_SCALE, Theme
from app.settings.form import SettingsForm
from app.store.preferences import Preferences

STEP = 5
"""Per cent between two text sizes."""


class PreferencesDialog(Retranslating, QDialog):
    """Does not stop the window; ``changed`` carries the name of a field of Preferences and its new value.

    ``budgets`` are those of the caches that are kept, which ``forget_all_requested`` asks to delete.
    """

    changed = Signal(str, object)
    forget_all_requested = Signal()

    def __init__(self, theme: Theme, preferences: Preferences, folder: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("preferencesDialog")
        self.setModal(False)
        self.setMinimumWidth(440)
        self._theme = theme
        self._folder = folder
        self._themes = QButtonGroup(self)
        self._accents = QButtonGroup(self)
        self._size = QSlider(Qt.Orientation.Horizontal)
        self._size.setObjectName("textSize")
        self._size.setRange(round(MIN_TEXT_SCALE * 100 / STEP), round(MAX_TEXT_SCALE * 100 / STEP))
        self._size.setPageStep(2)
        self._size_text = QLabel()
        self._size_text.setMinimumWidth(52)
        self._size_text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._language = QComboBox()
        self._language.setObjectName("language")
        self.budgets = SettingsForm(preferences.tiers)
        self.budgets.setObjectName("tierBudgets")
        self._forget = QPushButton()
        self._forget.setObjectName("forgetAllChats")
        self._forget.clicked.connect(self.forget_all_requested)
        self._labels = {name: QLabel() for name in ("theme", "accent", "size", "language")}
        self._file = QLabel()
        self._file.setProperty("level", "micro")
        self._file.setWordWrap(True)
        self._file.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close = QPushButton()
        self._close.setObjectName("closePreferences")
        self._close.clicked.connect(self.close)
        self._lay_out()
        for button in self.findChildren(QPushButton):
            # Or Return in the field of a budget would press one of them.
            button.setAutoDefault(False)
        self._size.valueChanged.connect(lambda steps: self.changed.emit("text_scale", steps * STEP / 100))
        self._language.activated.connect(lambda index: self.changed.emit("language", self._language.itemData(index)))
        theme.changed.connect(self._on_theme_changed)
        self.retranslate()
        self.show_preferences(preferences)

    def _lay_out(self) -> None:
        themes = QHBoxLayout()
        themes.setSpacing(4)
        for name in ("system", "light", "dark"):
            button = self._choice(name, "tab")
            self._themes.addButton(button)
            themes.addWidget(button)
            button.clicked.connect(lambda _checked, name=name: self.changed.emit("theme", name))
        themes.addStretch()
        accents = QHBoxLayout()
        accents.setSpacing(4)
        for name in ACCENTS:
            button = self._choice(name, "swatch")
            button.setIconSize(QSize(20, 20))
            button.setFixedSize(34, 34)
            self._accents.addButton(button)
            accents.addWidget(button)
            button.clicked.connect(lambda _checked, name=name: self.changed.emit("accent", name))
        accents.addStretch()
        size = QHBoxLayout()
        size.setSpacing(12)
        size.addWidget(self._size, 1)
        size.addWidget(self._size_text)
        form = QFormLayout()
        form.setHorizontalSpacing(24)
        form.setVerticalSpacing(16)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        form.addRow(self._labels["theme"], themes)
        form.addRow(self._labels["accent"], accents)
        form.addRow(self._labels["size"], size)
        form.addRow(self._labels["language"], self._language)
        self._labels["size"].setBuddy(self._size)
        self._labels["language"].setBuddy(self._language)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(20)
        column.addLayout(form)
        column.addWidget(self.budgets)
        column.addWidget(self._forget, 0, Qt.AlignmentFlag.AlignRight)
        column.addWidget(self._file)
        column.addWidget(self._close, 0, Qt.AlignmentFlag.AlignRight)

    def _choice(self, name: str, kind: str) -> QPushButton:
        button = QPushButton()
        button.setObjectName(f"{kind}_{name}")
        button.setProperty("kind", kind)
        button.setProperty("choice", name)
        button.setCheckable(True)
        return button

    def show_preferences(self, preferences: Preferences) -> None:
        """Show what is in force."""
        for group, chosen in ((self._themes, preferences.theme), (self._accents, preferences.accent)):
            for button in group.buttons():
                button.setChecked(button.property("choice") == chosen)
        self._size.blockSignals(True)
        self._size.setValue(round(preferences.text_scale * 100 / STEP))
        self._size.blockSignals(False)
        self._size_text.setText(language.percent(preferences.text_scale))
        self._language.setCurrentIndex(max(0, self._language.findData(preferences.language)))

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Preferences"))
        words = {
            "theme": self.tr("Theme"),
            "accent": self.tr("Accent colour"),
            "size": self.tr("Text size"),
            "language": self.tr("Language"),
        }
        for name, text in words.items():
            self._labels[name].setText(text)
        themes = {"system": self.tr("System"), "light": self.tr("Light"), "dark": self.tr("Dark")}
        for button in self._themes.buttons():
            button.setText(themes[button.property("choice")])
            button.setToolTip(self.tr("Takes effect at once"))
        accents = {
            "blue": self.tr("Blue"),
            "violet": self.tr("Violet"),
            "teal": self.tr("Teal"),
            "rose": self.tr("Rose"),
            "graphite": self.tr("Graphite"),
        }
        for button in self._accents.buttons():
            name = accents.get(button.property("choice"), button.property("choice"))
            button.setToolTip(name)
            button.setAccessibleName(name)
        self._size.setAccessibleName(words["size"])
        self._size.setToolTip(self.tr("The size of all text; Ctrl+= and Ctrl+- change it too"))
        self._language.setAccessibleName(words["language"])
        self._language.setToolTip(self.tr("Takes effect at once, without a restart"))
        chosen = self._language.currentData()
        self._language.clear()
        self._language.addItem(self.tr("As the system"), language.SYSTEM)
        for code, name in language.LANGUAGES.items():
            self._language.addItem(name, code)
        self._language.setCurrentIndex(max(0, self._language.findData(chosen)))
        self._forget.setText(self.tr("Empty all kept caches"))
        self._forget.setToolTip(self.tr("Chats and their texts stay; each is read again by the model when it goes on"))
        self._file.setText(self.tr("Kept in {0}").format(self._folder))
        self._close.setText(self.tr("Close"))
        self._close.setToolTip(self.tr("Everything is kept already"))
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        for button in self._accents.buttons():
            accent = ACCENTS[button.property("choice")]
            button.setIcon(_dot((accent.dark if self._theme.tokens.dark else accent.light)[0]))


def _dot(color: str) -> QIcon:
    pixmap = QPixmap(40, 40)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawEllipse(QRectF(2, 2, 16, 16))
    painter.end()
    return QIcon(pixmap)

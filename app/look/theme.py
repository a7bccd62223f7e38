"""The theme in force: it follows the system or the user's choice and tells everyone when it changes."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPalette
from PySide6.QtWidgets import QApplication

from app.look.colours import Sizes, Tokens, sizes_for, tokens_for
from app.look.icons import line_icon
from app.look.resources import load_fonts
from app.look.stylesheet import stylesheet

MIN_TEXT_SCALE = 0.8
MAX_TEXT_SCALE = 2.0

UI_FAMILIES = ["Inter", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei UI", "Noto Color Emoji"]
CODE_FAMILIES = ["JetBrains Mono", "Noto Sans Mono CJK SC", "PingFang SC", "Microsoft YaHei UI"]


class Mode(Enum):
    """Which scheme to show."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Theme(QObject):
    """Tokens, sizes, fonts and icons in force; `changed` is emitted after the application has been restyled."""

    changed = Signal()

    def __init__(self, app: QApplication, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self._mode = Mode.SYSTEM
        self._accent = "blue"
        self._text_scale = 1.0
        load_fonts()
        app.setStyle("Fusion")
        self._tokens = tokens_for(self._is_dark(), self._accent)
        self._sizes = sizes_for(self._text_scale)
        self._apply()
        app.styleHints().colorSchemeChanged.connect(self._on_color_scheme_changed)

    @property
    def tokens(self) -> Tokens:
        """The colours in force."""
        return self._tokens

    @property
    def sizes(self) -> Sizes:
        """The text sizes and layout measures in force."""
        return self._sizes

    @property
    def mode(self) -> Mode:
        """The user's choice, which may be to follow the system."""
        return self._mode

    @property
    def accent(self) -> str:
        """The name of the accent, a key of `tokens.ACCENTS`."""
        return self._accent

    @property
    def text_scale(self) -> float:
        """The factor on all text sizes, 1.0 by default."""
        return self._text_scale

    def set_mode(self, mode: Mode) -> None:
        """Follow the system, or stay light or dark."""
        self._mode = mode
        self._refresh()

    def set_accent(self, accent: str) -> None:
        """Choose one of `tokens.ACCENTS` by name."""
        self._accent = accent
        self._refresh()

    def set_text_scale(self, scale: float) -> None:
        """Scale all text; the factor is kept between 0.8 and 2.0."""
        self._text_scale = min(MAX_TEXT_SCALE, max(MIN_TEXT_SCALE, scale))
        self._refresh()

    def font(self, pixel_size: int, weight: int = 400, *, tabular: bool = False) -> QFont:
        """The text font at a size in logical pixels; weights 400, 500 and 600 are bundled; `tabular` aligns digits."""
        font = QFont()
        font.setFamilies(UI_FAMILIES)
        font.setPixelSize(pixel_size)
        font.setWeight(QFont.Weight(weight))
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if tabular:
            font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def code_font(self, pixel_size: int | None = None) -> QFont:
        """The font for code. Ligatures are off: `->` and `!=` are shown as they are written."""
        font = QFont()
        font.setFamilies(CODE_FAMILIES)
        font.setPixelSize(pixel_size or self._sizes.code)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setFeature(QFont.Tag("calt"), 0)
        return font

    def icon(self, name: str, color: str = "text_2") -> QIcon:
        """The icon `name` in the token `color`; it follows later changes of the theme by itself."""

        def color_of(mode: QIcon.Mode) -> str:
            token = "line_strong" if mode == QIcon.Mode.Disabled else color
            return str(getattr(self._tokens, token))

        return line_icon(name, color_of)

    def _is_dark(self) -> bool:
        if self._mode is Mode.SYSTEM:
            return self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return self._mode is Mode.DARK

    def _on_color_scheme_changed(self) -> None:
        if self._mode is Mode.SYSTEM:
            self._refresh()

    def _refresh(self) -> None:
        tokens = tokens_for(self._is_dark(), self._accent)
        sizes = sizes_for(self._text_scale)
        if (tokens, sizes) == (self._tokens, self._sizes):
            return
        self._tokens, self._sizes = tokens, sizes
        self._apply()
        self.changed.emit()

    def _apply(self) -> None:
        self._app.setFont(self.font(self._sizes.ui))
        self._app.setPalette(palette(self._tokens))
        self._app.setStyleSheet(stylesheet(self._tokens, self._sizes))


def palette(tokens: Tokens) -> QPalette:
    """The palette of a scheme, so that what the style sheet does not reach has its colours too."""
    role = QPalette.ColorRole
    result = QPalette()
    for target, color in (
        (role.Window, tokens.ground), (role.Base, tokens.field), (role.AlternateBase, tokens.side),
        (role.Button, tokens.field), (role.ToolTipBase, tokens.text), (role.ToolTipText, tokens.ground),
        (role.WindowText, tokens.text), (role.Text, tokens.text), (role.ButtonText, tokens.text),
        (role.BrightText, tokens.danger), (role.PlaceholderText, tokens.text_3), (role.Highlight, tokens.selection),
        (role.HighlightedText, tokens.text), (role.Link, tokens.accent), (role.LinkVisited, tokens.accent),
        (role.Light, tokens.ground), (role.Midlight, tokens.line), (role.Mid, tokens.line_strong),
        (role.Dark, tokens.line_strong), (role.Shadow, tokens.line_strong), (role.Accent, tokens.accent),
    ):  # fmt: skip
        result.setColor(target, QColor(color))
    for target in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, target, QColor(tokens.text_3))
    return result

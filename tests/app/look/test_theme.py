"""The theme: readable colours, a live switch, fonts that are there."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFontInfo, QPalette

from app.look.colours import ACCENTS, Tokens, tokens_for
from app.look.resources import resource_dir
from app.look.theme import Mode, Theme

SCHEMES = [tokens_for(dark, accent) for dark in (False, True) for accent in ACCENTS]


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("tokens", SCHEMES)
def test_small_text_is_readable_on_every_ground(tokens: Tokens):
    for text in ("text", "text_2", "text_3", "accent", "danger", "warning", "success"):
        for ground in ("ground", "side", "field", "card"):
            assert contrast(getattr(tokens, text), getattr(tokens, ground)) >= 4.5, (text, ground)
    for text in ("keyword", "name", "type", "string", "number", "comment"):
        assert contrast(getattr(tokens, f"syntax_{text}"), tokens.card) >= 4.5, text
    assert contrast(tokens.on_accent, tokens.accent) >= 4.5
    assert contrast(tokens.text, tokens.bubble) >= 7
    assert contrast(tokens.text, tokens.selection) >= 4.5
    assert contrast(tokens.danger, tokens.danger_soft) >= 4.5
    assert contrast(tokens.warning, tokens.warning_soft) >= 4.5


def test_a_switch_restyles_the_application_and_tells(qtbot, qapp):
    theme = Theme(qapp)
    theme.set_mode(Mode.LIGHT)
    with qtbot.waitSignal(theme.changed):
        theme.set_mode(Mode.DARK)
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(theme.tokens.ground)
    assert theme.tokens.dark
    with qtbot.assertNotEmitted(theme.changed):
        theme.set_mode(Mode.DARK)


def test_the_system_is_followed_only_without_a_choice(qtbot, qapp):
    theme = Theme(qapp)
    theme.set_mode(Mode.DARK)
    with qtbot.assertNotEmitted(theme.changed):
        qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)


def test_text_scale_is_bounded_and_scales_text(qapp):
    theme = Theme(qapp)
    theme.set_text_scale(1.5)
    assert theme.sizes.body == 22
    theme.set_text_scale(100)
    assert theme.text_scale == 2.0


@pytest.mark.parametrize("weight", [400, 500, 600])
def test_the_bundled_fonts_are_used(qapp, weight: int):
    theme = Theme(qapp)
    info = QFontInfo(theme.font(15, weight))
    assert (info.family(), info.weight()) == ("Inter", weight)
    assert QFontInfo(theme.code_font()).family() == "JetBrains Mono"


def test_every_icon_draws_and_follows_the_theme(qapp):
    theme = Theme(qapp)
    for path in (resource_dir() / "icons").glob("*.svg"):
        theme.set_mode(Mode.LIGHT)
        icon = theme.icon(path.stem, "text")
        light = icon.pixmap(20, 20).toImage()
        theme.set_mode(Mode.DARK)
        dark = icon.pixmap(20, 20).toImage()
        assert any(light.pixelColor(x, y).alpha() for x in range(20) for y in range(20)), path.stem
        if "currentColor" in path.read_text(encoding="utf-8"):
            assert light != dark, path.stem


def test_an_icon_is_crisp_on_a_dense_screen(qapp):
    pixmap = Theme(qapp).icon("search").pixmap(QSize(20, 20), 2.0)
    assert pixmap.width() == 40

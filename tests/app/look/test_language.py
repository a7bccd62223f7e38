"""Languages: complete, switched live, also for what the engine says."""

from __future__ import annotations

from datetime import datetime

import pytest
from PySide6.QtCore import QCoreApplication, QLocale

from app.look import language
from app.look.language import system_language
from engine.api.errors import ErrorCode
from engine.api.messages import Failed
from engine.api.sentences import say
from tools import translations


def test_no_text_lacks_its_translation():
    assert translations.what_is_missing() == []


def test_both_languages_and_the_systems(languages):
    languages.choose("zh_CN")
    assert QCoreApplication.translate("TopBar", "ready") == "就绪"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") != "Cancel", "Qt's own texts too"
    languages.choose("en")
    assert QCoreApplication.translate("TopBar", "ready") == "ready"
    languages.choose("klingon")
    assert languages.choice == language.SYSTEM
    assert system_language(QLocale("zh_TW")) == "zh_CN"
    assert system_language(QLocale("fr_FR")) == "en"


@pytest.mark.parametrize(("language", "n", "text"), [("en", 1, "1 token"), ("en", 12_345, "12,345 tokens")])
def test_plurals(languages, language, n, text):
    languages.choose(language)
    assert QCoreApplication.translate("TurnDisplay", "%Ln token(s)", "", n) == text


def test_numbers_sizes_and_times(languages):
    languages.choose("en")
    assert language.number(131_072) == "131,072"
    assert language.number(36.44, 1) == "36.4"
    assert language.bytes_text(45 * 2**20) == "45.0 MiB"
    assert language.percent(0.524) == "52 %"
    assert language.time_text(datetime(2026, 1, 2, 14, 32)).startswith("2:32")  # noqa: DTZ001
    languages.choose("zh_CN")
    assert language.percent(0.524) == "52%"
    assert language.time_text(datetime(2026, 1, 2, 14, 32)) == "14:32"  # noqa: DTZ001


def test_a_window_changes_its_language_while_it_is_open(start_desk, qtbot, compiled):
    desk = start_desk()
    program = desk.program
    program.languages.folder = compiled
    desk.send("Hi")
    qtbot.waitUntil(lambda: program.session.status.can_answer)
    program.actions["show_preferences"].trigger()
    program.actions["next_language"].trigger()
    qtbot.waitUntil(lambda: program.top_bar.state.text() == "就绪")
    assert program.actions["quit"].text() == "退出"
    assert any("词元" in fact for fact in program.transcript.turns[-1].facts)
    assert program.dialog.windowTitle() == "首选项"
    assert program.cache_panel.accessibleName() == "缓存"
    assert program.panel.findChild(object, "cacheTab").text() == "缓存"
    assert program.sampling_panel.findChild(object, "temperatureInput").accessibleName() == "温度"
    desk.engine.post(Failed(None, ErrorCode.NO_MODEL, say("No model is loaded: choose one first.")))
    qtbot.waitUntil(lambda: desk.notices() == ["尚未加载模型：请先选择一个。"])
    program.actions["next_language"].trigger()
    qtbot.waitUntil(lambda: program.top_bar.state.text() == "ready")
    assert program.actions["quit"].text() == "Quit"

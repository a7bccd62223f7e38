"""Languages: complete, switched live, also for what the engine says."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QApplication

from app.look import i18n
from app.look.i18n import EngineWords, Languages, fill, system_language
from app.look.source_texts import ENGINE_SENTENCES
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import Failed
from engine.models.file_formats import refuse_other_formats
from tools import translations


@pytest.fixture(scope="session")
def compiled(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("translations")
    translations.build(folder)
    return folder


@pytest.fixture
def languages(qapp: QApplication, compiled: Path):
    languages = Languages(compiled)
    yield languages
    languages.choose("en")
    QLocale.setDefault(QLocale.c())


def test_no_text_lacks_its_translation():
    assert translations.what_is_missing() == []


def test_both_languages_and_the_systems(languages):
    languages.choose("zh_CN")
    assert QCoreApplication.translate("TopBar", "ready") == "就绪"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") != "Cancel", "Qt's own texts too"
    languages.choose("en")
    assert QCoreApplication.translate("TopBar", "ready") == "ready"
    languages.choose("klingon")
    assert languages.choice == i18n.SYSTEM
    assert system_language(QLocale("zh_TW")) == "zh_CN"
    assert system_language(QLocale("fr_FR")) == "en"


@pytest.mark.parametrize(("language", "n", "text"), [("en", 1, "1 token"), ("en", 12_345, "12,345 tokens")])
def test_plurals(languages, language, n, text):
    languages.choose(language)
    assert QCoreApplication.translate("TurnDisplay", "%Ln token(s)", "", n) == text


def test_numbers_sizes_and_times(languages):
    languages.choose("en")
    assert i18n.number(131_072) == "131,072"
    assert i18n.number(36.44, 1) == "36.4"
    assert i18n.bytes_text(45 * 2**20) == "45.0 MiB"
    assert i18n.percent(0.524) == "52 %"
    assert i18n.time_text(datetime(2026, 1, 2, 14, 32)).startswith("2:32")  # noqa: DTZ001
    languages.choose("zh_CN")
    assert i18n.percent(0.524) == "52%"
    assert i18n.time_text(datetime(2026, 1, 2, 14, 32)) == "14:32"  # noqa: DTZ001


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
    desk.engine.post(Failed(None, ErrorCode.NO_MODEL, "No model is loaded: choose one first."))
    qtbot.waitUntil(lambda: desk.notices() == ["尚未加载模型：请先选择一个。"])
    program.actions["next_language"].trigger()
    qtbot.waitUntil(lambda: program.top_bar.state.text() == "ready")
    assert program.actions["quit"].text() == "Quit"


def test_what_the_engine_says_is_translated_with_its_names_and_numbers(languages):
    languages.choose("zh_CN")
    words = EngineWords(map(str, ENGINE_SENTENCES))
    assert words.translate("“{0}.gguf” is empty: its download never began. Download it again.") == (
        "“{0}.gguf”是空的：下载从未开始。请重新下载。"
    )
    too_long = (
        "This is too long by 12 tokens: it has 40 and there is room for 28. "
        "Shorten it, or load the model with a larger context window."
    )
    assert words.translate(too_long).startswith("超出 12 个词元：它有 40 个，而空间为 28 个。")
    assert words.translate("There is no file “a.gguf” in “/b”. It may have been moved: choose it again.") == (
        "“/b”中没有文件“a.gguf”。它可能被移动了：请重新选择。"
    )
    grows = "the compute buffers grow with the context window: they take 1.0 GiB."
    for why in ("Without flash attention", "Flash attention isn't possible here; without it"):
        assert "Without" not in words.translate(f"{why} {grows}")
        assert words.translate(f"{why} {grows}").endswith("计算缓冲区随上下文窗口增长：占用 1.0 GiB。")
    assert words.translate("Never heard of this.") == "Never heard of this."


@pytest.mark.parametrize(
    "start",
    [
        b"<html>",
        b"version https://git-lfs",
        b"{}",
        b"\x08" + bytes(7) + b"{",
        b"PK",
        b"\x80\x02",
        b"BZh",
        bytes(9),
        b"any",
    ],
)
def test_what_a_wrong_file_is_is_said_in_the_language_in_force(languages, start):
    languages.choose("zh_CN")
    with pytest.raises(EngineError) as raised:
        refuse_other_formats("m.gguf", start)
    said = EngineWords(map(str, ENGINE_SENTENCES)).translate(raised.value.message)
    assert said.startswith("“m.gguf”不是 GGUF 模型：")


@given(st.text(max_size=200))
def test_any_sentence_may_come(text):
    words = EngineWords(["“{}” is empty: its download never began.", "A whole sentence as it stands."])
    assert isinstance(words.translate(text), str)
    assert (
        words.translate(f"“{text}” is empty: its download never began.")
        == f"“{text}” is empty: its download never began."
    )


@given(st.lists(st.text(max_size=5), max_size=4))
def test_values_are_put_in_as_they_are(values):
    assert fill("{}" * len(values), values) == "".join(values)
    if len(values) >= 2:
        assert fill("{1}{0}", values) == values[1] + values[0]

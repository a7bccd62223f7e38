"""The whole window on a fake engine: what a person does, and what it then shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QProgressBar, QScrollArea, QWidget

from app.store.preferences import Preferences
from app.store.preferences_store import PreferencesStore
from engine.api.messages import CacheChanged, LoadModel, Notice, NoticeCode, PrefillProgress
from engine.api.sentences import say
from tests.app.fake_engine import usage

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def settle() -> None:
    QApplication.processEvents()


class ShownWindows(QObject):
    """Notes every window that appears, also for a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.names.append(watched.objectName() or type(watched).__name__)
        return False


def test_one_window_opens_and_takes_the_keyboard(start_desk, qapp, qtbot):
    shown = ShownWindows()
    qapp.installEventFilter(shown)
    desk = start_desk()
    desk.send("Hi")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    settle()
    qapp.removeEventFilter(shown)
    assert shown.names == ["mainWindow"]
    assert qapp.focusWidget().objectName() == "composer"


def test_the_cache_panel_follows(start_desk, qtbot):
    desk = start_desk(answers_by_hand=True)
    panel = desk.program.cache_panel
    assert panel.findChild(QLabel, "cache_kv_allocated").text() == "128.0 MiB"
    desk.send("Hi")
    desk.engine.post(PrefillProgress(desk.engine.request.request_id, 16, 32, 8))
    bar = panel.findChild(QProgressBar, "prefillBar")
    qtbot.waitUntil(lambda: not bar.isHidden())
    assert bar.value() == 500
    desk.engine.post(CacheChanged(usage(desk.engine.request.chat_id, n_used=1024)))
    desk.engine.finish(text="Hello")
    qtbot.waitUntil(bar.isHidden)
    assert panel.findChild(QLabel, "cellsUsed").text() == "1,024"
    assert panel.findChild(QLabel, "cache_reused").text() == "20 of 32"
    assert "36.4" in panel.findChild(QLabel, "cache_decode").text()


def test_a_suggestion_only_fills_the_composer(start_desk):
    desk = start_desk()
    suggestion = desk.program.welcome.findChild(QAbstractButton, "suggestion0")
    suggestion.click()
    assert desk.program.composer.text() == suggestion.accessibleName() != ""
    assert desk.say() == []


@pytest.mark.parametrize(("height", "is_shown"), [(820, True), (480, False)])
def test_in_a_low_window_suggestions_give_way(start_desk, height, is_shown):
    desk = start_desk()
    desk.program.window.resize(660, height)
    settle()
    assert desk.program.welcome.findChild(QAbstractButton, "suggestion0").isVisible() == is_shown
    assert desk.program.window.height() == height


def test_a_notice_of_the_engine_is_shown(start_desk, qtbot):
    desk = start_desk()
    desk.engine.post(Notice(NoticeCode.CPU_FALLBACK, say("Kvasir now uses other code."), "detail"))
    desk.engine.post(Notice(NoticeCode.CPU_ONLY, say("No news at each start.")))
    qtbot.waitUntil(lambda: desk.notices() != [])
    settle()
    assert desk.notices() == ["Kvasir now uses other code."]


def test_theme_text_size_and_language_change_at_once_and_are_kept(start_desk, qtbot):
    desk = start_desk()
    program = desk.program
    program.actions["next_theme"].trigger()
    program.actions["next_theme"].trigger()
    assert program.theme.tokens.dark
    program.actions["larger_text"].trigger()
    assert program.theme.sizes.body > 15
    kept = PreferencesStore(desk.preferences_path, lambda _problem: None).load()
    assert (kept.theme, kept.text_scale) == ("dark", 1.1)
    program.actions["normal_text"].trigger()
    assert program.theme.sizes.body == 15


@pytest.mark.parametrize("page", ["show_cache", "show_sampling"])
def test_large_text_is_not_cut_off_in_the_panel(start_desk, qtbot, page):
    desk = start_desk(preferences=Preferences(text_scale=1.0))
    desk.program.actions[page].trigger()
    for _ in range(6):
        desk.program.actions["larger_text"].trigger()
    area = next(area for area in desk.program.panel.findChildren(QScrollArea) if area.isVisible())
    qtbot.waitUntil(lambda: area.widget().width() <= area.viewport().width())


def test_a_link_is_shown_before_it_opens(start_desk, qtbot, monkeypatch):
    opened = []
    monkeypatch.setattr("app.window.engine_notices.QDesktopServices.openUrl", opened.append)
    desk = start_desk()
    desk.program.transcript.link_activated.emit("https://example.org/a?b=c")
    assert "https://example.org/a?b=c" in desk.notices()[0]
    assert opened == []
    desk.program.notices.findChild(QAbstractButton, "noticeAction").click()
    assert [url.toString() for url in opened] == ["https://example.org/a?b=c"]
    desk.program.transcript.link_activated.emit("file:///etc/passwd")
    assert "file:///etc/passwd" in desk.notices()[-1]
    assert [
        button for button in desk.program.notices.findChildren(QAbstractButton, "noticeAction") if button.isVisible()
    ] == []


def test_panels_hide_move_and_come_back_with_the_next_start(start_desk, qtbot):
    desk = start_desk()
    program = desk.program
    program.actions["move_panel"].trigger()
    assert program.window.dockWidgetArea(program.panel) == Qt.DockWidgetArea.LeftDockWidgetArea
    program.actions["toggle_panel"].trigger()
    assert program.panel.isHidden()
    program.window.resize(700, 600)
    program.window.close()
    kept = PreferencesStore(desk.preferences_path, lambda _problem: None).load()
    again = start_desk(preferences=replace(kept, theme="light")).program
    assert again.panel.isHidden()
    assert again.window.dockWidgetArea(again.panel) == Qt.DockWidgetArea.LeftDockWidgetArea
    assert again.window.size().width() == 700


@pytest.mark.expected_log("preferences: damaged")
def test_damaged_preferences_are_told(start_desk, tmp_path):
    (tmp_path / "preferences.json").write_text("{")
    desk = start_desk()
    assert "preferences.json.damaged-1" in desk.notices()[0]


def test_every_control_is_named_for_people_who_do_not_see_it(start_desk):
    desk = start_desk()
    desk.program.actions["show_preferences"].trigger()
    nameless = []
    for top in (desk.program.window, desk.program.dialog, desk.program.picker, desk.program.details):
        for button in top.findChildren(QAbstractButton):
            name = button.accessibleName() or button.text()
            if not button.objectName().startswith("qt_") and (not name or not button.toolTip()):
                nameless.append((button.objectName(), name, button.toolTip()))
    assert nameless == []


@pytest.mark.expected_log("an inner mistake")
def test_a_mistake_of_the_window_is_told_and_logged(start_desk, qtbot):
    desk = start_desk()
    try:
        raise ValueError("an inner mistake")
    except ValueError as error:
        desk.program.on_exception(type(error), error, error.__traceback__)
    assert "an inner mistake" in desk.program.notices.notices[-1].detail


def test_played_from_the_command_line(start_desk, qtbot, tmp_path):
    picture = tmp_path / "picture.png"
    desk = start_desk(texts=("One", "Two"), screenshot=picture)
    qtbot.waitUntil(lambda: not desk.program.window.isVisible(), timeout=5000)
    assert desk.program.exit_code == 0
    assert [text for role, text in desk.say() if role == "user"] == ["One", "Two"]
    image = QImage(str(picture))
    assert image.width() >= 1000


def test_a_picture_is_not_waited_for_where_the_load_ends_the_engine(start_desk, qtbot, tmp_path, capsys):
    desk = start_desk(screenshot=tmp_path / "picture.png", loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: any(isinstance(one, LoadModel) for one in desk.engine.sent))
    desk.engine.die(desk.engine.last(LoadModel).request_id)
    qtbot.waitUntil(lambda: not desk.program.window.isVisible())
    assert desk.program.exit_code == 1
    assert "crashed" in capsys.readouterr().err


def test_a_panel_that_is_taken_out_leaves_its_place_and_goes_back(start_desk):
    desk = start_desk()
    panel, action = desk.program.panel, desk.program.actions["float_panel"]
    place, size = panel.mapToGlobal(QPoint(0, 0)), panel.size()
    action.trigger()
    assert panel.isFloating()
    assert panel.pos().x() < place.x()
    assert panel.pos().y() > place.y()
    assert panel.height() < size.height()
    action.trigger()
    assert not panel.isFloating()
    assert panel.isVisible()

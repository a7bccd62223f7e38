"""A whole window on a fake engine."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.look.language import Languages
from app.process.logs import close_logs
from app.process.options import Options
from app.program import Program
from app.store.preferences import Preferences
from app.store.preferences_store import PreferencesStore
from tests.app.fake_engine import FakeEngine
from tests.app.fake_planner import FakePlanner
from tools import translations


@dataclass
class Desk:
    """A window that is shown, its engine, and the file of its preferences."""

    program: Program
    engine: FakeEngine
    preferences_path: Path

    def type(self, text: str) -> None:
        self.program.composer.set_text(text)

    def send(self, text: str) -> None:
        self.type(text)
        self.program.composer.send()

    def say(self) -> list[tuple[str, str]]:
        """What the transcript shows."""
        return [(turn.role, turn.text) for turn in self.program.transcript.turns]

    def notices(self) -> list[str]:
        return [notice.text for notice in self.program.notices.notices]


StartDesk = Callable[..., Desk]


@pytest.fixture
def start_desk(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[StartDesk]:
    """Opens a window; keywords go to FakeEngine, or say what the preferences and the command line are."""
    programs: list[Program] = []

    def start(
        *,
        preferences: Preferences | None = None,
        model: Path | None = None,
        texts: tuple[str, ...] = (),
        screenshot: Path | None = None,
        is_loaded: bool = True,
        **engine_options: bool,
    ) -> Desk:
        path = tmp_path / "preferences.json"
        if preferences is not None:
            PreferencesStore(path, lambda problem: pytest.fail(str(problem))).set(preferences)
        model = model or tmp_path / "Tiny-1B-Q4_K_M.gguf"
        engines: list[FakeEngine] = []

        def make(post):
            engines.append(FakeEngine(post, **engine_options))
            return engines[0]

        program = Program(qapp, Options(model, tmp_path, screenshot, texts), make, check_model=lambda _path: None)
        programs.append(program)
        program.show()
        qtbot.waitUntil(lambda: engines[0].is_running)
        if is_loaded:
            qtbot.waitUntil(lambda: program.session.status.facts is not None)
        return Desk(program, engines[0], path)

    yield start
    for program in programs:
        program.window.close()
        program.close()
        program.window.deleteLater()
        program.languages.choose("en")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    programs.clear()
    # The objects of a window hold each other; left to chance, they would all follow the next test's theme.
    gc.collect()
    QLocale.setDefault(QLocale.c())
    qapp.setStyleSheet("")
    close_logs()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the compiled translations."""
    folder = tmp_path_factory.mktemp("translations")
    translations.build(folder)
    return folder


@pytest.fixture
def languages(qapp: QApplication, compiled: Path) -> Iterator[Languages]:
    languages = Languages(compiled)
    yield languages
    languages.choose("en")
    QLocale.setDefault(QLocale.c())


@pytest.fixture
def planners(monkeypatch):
    """Every planner that a window made."""
    made: list[FakePlanner] = []

    def make(options, machine):
        made.append(FakePlanner())
        return made[-1]

    monkeypatch.setattr("app.program.Planner", make)
    return made

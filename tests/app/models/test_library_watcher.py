"""Which models are listed, and what that costs before anybody looks at the list."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.models import library_watcher
from app.models.library_watcher import stores_of_this_machine
from app.widgets.elided_label import ElidedLabel
from engine.models.starter import starter_path
from engine.models.stores import Source, Store
from tests.app.models.conftest import ModelRoom


def test_the_starter_is_one_of_the_models_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = stores_of_this_machine(tmp_path, [])
    assert stores[-1] == Store(Source.STARTER, starter_path().parent)
    monkeypatch.setattr(library_watcher, "installed_starter", lambda: None)
    assert stores_of_this_machine(tmp_path, []) == stores[:-1]


def test_the_list_says_that_the_starter_comes_with_kvasir(room: ModelRoom, qtbot: QtBot) -> None:
    room.stores.append(Store(Source.STARTER, starter_path().parent))
    room.desk.show_library()
    qtbot.waitUntil(lambda: bool(room.window.library.cards))
    (card,) = room.window.library.cards
    assert "comes with Kvasir" in " · ".join(label.line for label in card.findChildren(ElidedLabel))


def test_whether_models_fit_is_found_out_once_somebody_looks(room: ModelRoom, qtbot: QtBot) -> None:
    room.write("small.gguf", title="Small")
    with qtbot.waitSignal(room.library.listed):
        room.desk.look()
    assert room.planner.asked == []
    room.desk.show_library()
    qtbot.waitUntil(lambda: [question.path for question in room.planner.asked] == [str(room.folder / "small.gguf")])

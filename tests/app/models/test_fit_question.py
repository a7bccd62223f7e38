"""A load that would not fit asks first, and one that does never waits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.link.file_check import surely_fits
from app.models.first_run import free_memory
from app.models.fit_question import FitQuestion
from app.store.setup import Setup
from engine.api.facts import Device
from engine.api.messages import LoadModel
from engine.api.settings import GpuLayers, LoadSettings
from tests.app.fake_engine import READY
from tests.app.models.conftest import MakeRoom, ModelRoom
from tests.app.models.fake_planner import choice_of

ASKED = LoadSettings(n_ctx=8000)


@pytest.fixture
def guarded(make_room: MakeRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> ModelRoom:
    """A room whose loader asks, on a machine without free memory."""
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    room = make_room(ask=FitQuestion(parent).ask)
    set_free(monkeypatch, 0)
    room.session.start()
    return room


def write(room: ModelRoom, name: str) -> str:
    """A model that its person has set."""
    path = str(room.write(name))
    room.setups.keep(path, Setup(ASKED))
    return path


def set_free(monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=n_bytes))


def box() -> QMessageBox | None:
    shown = (one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox) and one.isVisible())
    return next(shown, None)


def choose(text: str) -> None:
    shown = box()
    assert shown is not None
    next(button for button in shown.buttons() if button.text().replace("&", "") == text).click()


def loads(room: ModelRoom) -> list[tuple[str, LoadSettings]]:
    return [(one.path, one.settings) for one in room.engine.sent if isinstance(one, LoadModel)]


def test_what_clearly_fits_is_loaded_without_a_question(
    guarded: ModelRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_free(monkeypatch, 1 << 40)
    path = write(guarded, "large.gguf")
    guarded.loader.open(path)
    qtbot.waitUntil(lambda: [one for one, _ in loads(guarded)] == [path])
    assert guarded.planner.asked == []


def test_what_fits_by_an_exact_plan_is_loaded(guarded: ModelRoom, qtbot: QtBot) -> None:
    path = write(guarded, "small.gguf")
    guarded.loader.open(path)
    qtbot.waitUntil(lambda: [one for one, _ in loads(guarded)] == [path])
    assert len(guarded.planner.asked) == 1
    assert box() is None


def test_what_fits_with_a_change_is_offered_so(guarded: ModelRoom, qtbot: QtBot) -> None:
    path = write(guarded, "large.gguf")
    guarded.loader.open(path)
    qtbot.waitUntil(lambda: box() is not None)
    shown = box()
    assert shown is not None
    assert "32768 tokens" in shown.informativeText()
    assert "K q8_0, V q8_0" in shown.informativeText()
    assert loads(guarded) == []
    assert shown.defaultButton().text().replace("&", "") == "Load so that it fits"
    choose("Load so that it fits")
    settings = choice_of(path).settings
    assert loads(guarded) == [(path, settings)]
    qtbot.waitUntil(lambda: guarded.store.current.setup(path).load == settings)


@pytest.mark.parametrize(("answer", "n_loads"), [("Cancel", 0), ("Load all the same", 1)])
def test_what_never_fits(guarded: ModelRoom, qtbot: QtBot, answer: str, n_loads: int) -> None:
    path = write(guarded, "huge.gguf")
    guarded.loader.open(path)
    qtbot.waitUntil(lambda: box() is not None)
    choose(answer)
    assert loads(guarded) == [(path, ASKED)] * n_loads


def test_what_the_planner_refuses_is_loaded_to_hear_why(guarded: ModelRoom, qtbot: QtBot) -> None:
    path = write(guarded, "refused.gguf")
    guarded.loader.open(path)
    qtbot.waitUntil(lambda: [one for one, _ in loads(guarded)] == [path])


def test_only_the_newest_wish_counts(guarded: ModelRoom, qtbot: QtBot) -> None:
    large, small = write(guarded, "large.gguf"), write(guarded, "small.gguf")
    guarded.loader.open(large)
    qtbot.waitUntil(lambda: box() is not None)
    guarded.loader.open(small)
    qtbot.waitUntil(lambda: [one for one, _ in loads(guarded)] == [small])
    choose("Load all the same")
    assert [one for one, _ in loads(guarded)] == [small]


def test_a_guess_is_only_taken_where_it_is_safe(guarded: ModelRoom, monkeypatch, tmp_path: Path) -> None:
    path = guarded.write("small.gguf")

    def is_sure(path: Path, settings: LoadSettings) -> bool:
        return surely_fits(path, settings, guarded.session.status)

    assert not is_sure(path, ASKED)
    assert is_sure(tmp_path / "missing.gguf", ASKED), "the load says what is wrong"
    set_free(monkeypatch, 1 << 36)
    assert is_sure(path, ASKED)
    assert not is_sure(path, LoadSettings(n_ctx=2**31 - 1)), "a context beyond all memory"
    assert is_sure(path, LoadSettings(n_gpu_layers=GpuLayers.ALL)), "there is no GPU to overfill"


@pytest.mark.parametrize(("kind", "is_sure"), [("gpu", True), ("igpu", False), ("accel", False)])
def test_memory_counts_once_where_a_gpu_shares_the_processors(
    guarded: ModelRoom, monkeypatch, kind: str, is_sure: bool
) -> None:
    path = guarded.write("small.gguf")
    set_free(monkeypatch, 0)
    device = Device("GPU0", "A device", kind, "Vulkan", 1 << 36, 1 << 36)
    status = SimpleNamespace(engine=replace(READY, devices=(device,)), facts=None, replaced=None)
    assert surely_fits(path, LoadSettings(n_gpu_layers=GpuLayers.AUTO), status) is is_sure
    set_free(monkeypatch, 1 << 36)
    asked = LoadSettings(n_gpu_layers=GpuLayers.ALL)
    assert surely_fits(path, asked, status) is (kind == "accel"), "whether all layers fit it takes a plan to know"


def test_a_first_model_is_suggested_for_an_integrated_gpu_too() -> None:
    devices = (Device("CPU", "", "cpu", "CPU", 1, 1), Device("GPU0", "", "igpu", "Vulkan", 1 << 30, 1 << 31))
    assert free_memory(replace(READY, devices=devices))[0] == 1 << 30

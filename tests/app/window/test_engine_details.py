"""What the engine says about itself, and what there is to do for a graphics card."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.link.status import EngineState, EngineStatus
from app.look.theme import Theme
from app.widgets.popup import rounded_mask
from app.window.engine_details import EngineDetails
from engine.api.installation import Installation
from engine.api.messages import Device
from tests.app.fake_engine import READY


@pytest.fixture
def details(qtbot, qapp: QApplication) -> EngineDetails:
    parent = QWidget()
    qtbot.addWidget(parent)
    return EngineDetails(Theme(qapp), lambda: "", parent)


@pytest.mark.parametrize(
    ("backends", "says"),
    [(("CPU", "RPC"), "GPU=vulkan"), (("RPC", "Vulkan", "CPU"), "Vulkan is built in, but it found no graphics card")],
)
def test_a_build_for_cards_that_found_none_is_not_called_one_for_the_cpu(details, backends, says):
    details.set_status(EngineStatus(EngineState.READY, engine=replace(READY, backends=backends)), "ready")
    advice = details.findChild(QLabel, "engineAdvice")
    assert says in advice.text()
    assert not advice.isHidden()


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Installation.CHECKOUT, "make run GPU=vulkan"),
        (Installation.PROGRAM, "made for your graphics card"),
        (Installation.PIP, "CMAKE_ARGS=-DGGML_VULKAN=ON"),
    ],
)
def test_the_advice_is_for_what_is_installed(details, monkeypatch, kind, says):
    monkeypatch.setattr("app.window.engine_details.installation", lambda: kind)
    details.set_status(EngineStatus(EngineState.READY, engine=READY), "ready")
    assert says in details.findChild(QLabel, "engineAdvice").text()


def test_cards_that_are_left_alone_are_not_called_missing(details):
    details.set_status(EngineStatus(EngineState.READY, engine=replace(READY, without_gpu=True)), "ready")
    advice = details.findChild(QLabel, "engineAdvice")
    assert "a driver does not answer" in advice.text()
    assert not advice.isHidden()


def test_with_a_card_there_is_nothing_to_advise(details):
    card = Device("Vulkan0", "A card", "gpu", "Vulkan", 2**30, 2**31)
    engine = replace(READY, backends=("Vulkan", "CPU"), devices=(*READY.devices, card))
    details.set_status(EngineStatus(EngineState.READY, engine=engine), "ready")
    assert details.findChild(QLabel, "engineAdvice").isHidden()


def test_a_popup_has_no_corners_where_nothing_shines_through(qapp):
    image = rounded_mask(QRect(0, 0, 60, 40)).toImage()
    corners = [image.pixelColor(x, y) for x, y in ((0, 0), (59, 0), (0, 39), (59, 39))]
    middle = [image.pixelColor(x, y) for x, y in ((30, 0), (30, 39), (0, 20), (59, 20))]
    assert {colour.name() for colour in corners}.isdisjoint(colour.name() for colour in middle)

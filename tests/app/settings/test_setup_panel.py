"""The settings panel: every declaration has its field, what is shown is the planner's, and Apply says what it costs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton

from app.link.plan_service import PlanService
from app.link.what_if import WhatIf
from app.look.theme import Theme
from app.settings.setup_panel import SetupPanel
from app.store.setup import Setup, SetupPreset, preset_setup
from app.widgets.elided_label import ElidedLabel
from engine.api.declarations import declarations
from engine.api.messages import DeviceMemory, FindFit, PlanMemory
from engine.api.plan import Defaults, Fit
from engine.api.sentences import say
from engine.api.settings import CacheType, FlashAttention, LoadSettings, PolicySettings
from tests.app.cache.usages import usage
from tests.app.fake_engine import model_facts
from tests.app.fake_planner import COMPUTE, LARGEST_F16, MIB, NEEDS_FLASH, WARNING, WEIGHTS, FakePlanner, plan

PATH = "/models/tiny.gguf"
FACTS = replace(model_facts(PATH), devices=(DeviceMemory("CPU", WEIGHTS, 128 * MIB, 0, COMPUTE, 0),), load_ms=1500.0)


@pytest.fixture
def made(qtbot, qapp):
    QLocale.setDefault(QLocale("en_US"))
    planner = FakePlanner()
    panel = SetupPanel(Theme(qapp), WhatIf(PlanService(planner), pause_ms=0, slow_ms=0))
    qtbot.addWidget(panel)
    panel.resize(320, 900)
    panel.show_model(PATH, Setup())
    panel.show_facts(FACTS)
    with qtbot.waitExposed(panel):
        panel.show()
    qtbot.waitUntil(lambda: "It fits." in label(panel, "previewVerdict"))
    yield panel, planner
    qapp.setStyleSheet("")
    QLocale.setDefault(QLocale.c())


def label(panel: SetupPanel, name: str) -> str:
    found = panel.findChild(QLabel, name)
    return found.line if isinstance(found, ElidedLabel) else found.text()


def button(panel: SetupPanel, name: str) -> QPushButton:
    return panel.findChild(QPushButton, name)


def change(panel: SetupPanel, **values: object) -> None:
    for name, value in values.items():
        panel.form.field(name).take(value)


def test_every_declared_setting_has_a_field(made):
    panel, _ = made
    for settings in (LoadSettings, PolicySettings):
        for declaration in declarations(settings):
            control = panel.form.field(declaration.name).findChild(object, f"{declaration.name}Input")
            assert isinstance(control, QLineEdit | QComboBox | QCheckBox)
            assert declaration.help in control.toolTip()


def test_what_would_be_stands_beside_what_is(made, qtbot):
    panel, _ = made
    change(panel, n_ctx=2048)
    qtbot.waitUntil(lambda: label(panel, "previewKv") == "KV 128.0 MiB → 64.0 MiB · 2,048 cells")
    assert label(panel, "previewAmount") == "278.0 MiB → 214.0 MiB"
    assert label(panel, "previewVerdict") == "It fits."


def test_numbers_of_other_settings_do_not_stay_while_an_answer_takes_its_time(made, qtbot):
    panel, planner = made
    planner.answers_by_hand = True
    change(panel, n_ctx=2048)
    qtbot.waitUntil(lambda: label(panel, "previewKv") == "KV 128.0 MiB → …")
    assert not panel.findChild(QLabel, "previewVerdict").isVisible()
    planner.answer_all()
    qtbot.waitUntil(lambda: label(panel, "previewKv") == "KV 128.0 MiB → 64.0 MiB · 2,048 cells")


def test_the_memory_of_the_loaded_model_counts_as_given_back(made):
    _, planner = made
    assert planner.asked[-1].given_back == FACTS.devices
    assert planner.asked[-1].path == PATH


def test_a_policy_is_asked_about_too_since_it_may_not_fit_the_cells(made):
    panel, planner = made
    change(panel, n_window=3000)
    assert next(question for question in reversed(planner.asked) if type(question) is PlanMemory).policy == (
        PolicySettings(n_window=3000)
    )


def test_the_slider_asks_while_it_moves_and_shows_real_contexts(made, qtbot):
    panel, planner = made
    slider = panel.form.slider
    for _ in range(5):
        qtbot.keyClick(slider, Qt.Key.Key_PageDown)
    asked = [question.settings.n_ctx for question in planner.asked]
    n_ctx = panel.setup.load.n_ctx
    assert asked[-1] == n_ctx
    assert n_ctx % 256 == 0
    assert n_ctx < 4096
    assert panel.findChild(QLineEdit, "n_ctxInput").text() == str(n_ctx)
    qtbot.keyClick(slider, Qt.Key.Key_End)
    assert panel.setup.load.n_ctx == FACTS.n_ctx_train


def test_what_does_not_fit_is_said_and_mended(made, qtbot):
    panel, _ = made
    change(panel, n_ctx=16_384)
    qtbot.waitUntil(lambda: button(panel, "makeItFit").isVisible())
    assert label(panel, "previewVerdict") == "It does not fit: there is too little room on RAM."
    (action,) = button(panel, "makeItFit").menu().actions()
    assert action.text() == "K and V in q8_0  (422.0 MiB)"
    action.trigger()
    assert panel.setup.load == LoadSettings(n_ctx=16_384, type_k=CacheType.Q8_0, type_v=CacheType.Q8_0)


def test_the_largest_context_that_fits_is_one_click_away(made, qtbot):
    panel, _ = made
    largest = button(panel, "largestContext")
    qtbot.waitUntil(largest.isVisible)
    assert largest.text() == "Largest that fits: 8,000 tokens"
    largest.click()
    assert panel.setup.load.n_ctx == LARGEST_F16
    qtbot.waitUntil(lambda: not largest.isEnabled())


def test_what_is_longer_than_the_model_was_trained_for_and_fits_is_not_said_to_be_too_large(made):
    panel, _ = made
    panel.preview.show_plan(plan(LoadSettings(n_ctx=16_384), 2**40))
    panel.preview.show_fit(Fit(8192, ()))
    assert label(panel, "previewVerdict") == "It fits."
    assert button(panel, "largestContext").text() == "Trained length: 8,192 tokens"


def test_impossible_choices_are_grey_with_the_reason_and_warnings_are_shown(made, qtbot):
    panel, _ = made
    change(panel, flash_attn=FlashAttention.OFF)
    qtbot.waitUntil(lambda: label(panel, "previewWarnings") == str(WARNING))
    combo = panel.findChild(QComboBox, "type_vInput")
    item = combo.model().item(combo.findData("q8_0"))
    assert not item.isEnabled()
    assert item.toolTip() == str(NEEDS_FLASH)
    assert combo.model().item(combo.findData("f16")).isEnabled()
    change(panel, flash_attn=FlashAttention.AUTO)
    qtbot.waitUntil(item.isEnabled)


def test_settings_that_cannot_be_loaded_cannot_be_applied(made, qtbot):
    panel, _ = made
    change(panel, flash_attn=FlashAttention.OFF, type_v=CacheType.Q8_0)
    qtbot.waitUntil(lambda: label(panel, "previewVerdict") == str(NEEDS_FLASH))
    assert not button(panel, "applyButton").isEnabled()
    qtbot.waitUntil(button(panel, "makeItFit").isVisible)
    button(panel, "makeItFit").menu().actions()[0].trigger()
    qtbot.waitUntil(lambda: label(panel, "previewVerdict") == "It fits.")
    assert button(panel, "applyButton").isEnabled()


def test_types_that_must_match_change_together(made, qtbot):
    panel, planner = made
    planner.types_match = True
    change(panel, n_ctx=1024)
    qtbot.waitUntil(lambda: "1,024 cells" in label(panel, "previewKv"))
    assert "types change together" in label(panel, "previewWarnings")
    change(panel, type_k=CacheType.Q8_0)
    assert panel.setup.load.type_v is CacheType.Q8_0
    change(panel, type_v=CacheType.F16)
    assert panel.setup.load.type_k is CacheType.F16


# Applying


def test_nothing_changed_is_nothing_to_apply(made):
    panel, _ = made
    assert not button(panel, "applyButton").isEnabled()
    assert not button(panel, "resetSetup").isEnabled()


def test_a_live_setting_says_that_nothing_is_loaded(made):
    panel, _ = made
    applied = []
    panel.apply_requested.connect(applied.append)
    change(panel, n_sink=8)
    assert button(panel, "applyButton").text() == "Apply"
    assert label(panel, "applyNote") == "Takes effect with the next message; nothing is loaded again."
    button(panel, "applyButton").click()
    assert applied == [Setup(policy=PolicySettings(n_sink=8))]


def test_a_reload_says_how_long_it_takes(made):
    panel, _ = made
    panel.show_costs(usage(4096, (100, 900)), 250.0)
    change(panel, n_ctx=2048)
    assert button(panel, "applyButton").text() == "Apply and reload"
    assert label(panel, "applyNote") == (
        "The model is loaded again and the chat of 1,000 tokens read again: about 5.5 s."
    )
    panel.show_costs(usage(4096, (100, 900)), None)
    assert "about" not in label(panel, "applyNote")


def test_what_is_changed_while_the_model_is_loaded_again_stays_changed(made):
    panel, _ = made
    change(panel, n_ctx=2048)
    button(panel, "applyButton").click()
    change(panel, n_sink=9)
    applied = Setup(LoadSettings(n_ctx=2048))
    panel.show_model(PATH, applied)
    assert panel.applied == applied
    assert panel.setup == applied.changed("n_sink", 9)
    assert button(panel, "applyButton").isEnabled()


def test_a_reload_that_failed_takes_back_what_was_asked_and_no_more(made):
    panel, _ = made
    change(panel, n_ctx=2048)
    button(panel, "applyButton").click()
    change(panel, n_sink=9)
    panel.show_model(PATH, Setup())
    assert panel.setup == Setup().changed("n_sink", 9)


def test_another_model_has_fields_and_a_preset_of_its_own(made):
    panel, _ = made
    button(panel, "presetButton").menu().actions()[0].trigger()
    panel.show_model("/models/other.gguf", Setup())
    assert panel.setup == Setup()
    assert button(panel, "presetButton").text() == "Presets"


def test_reset_goes_back_to_what_is_in_force(made):
    panel, _ = made
    change(panel, n_ctx=2048, n_sink=9)
    button(panel, "resetSetup").click()
    assert panel.setup == Setup()
    assert not button(panel, "applyButton").isEnabled()


def test_without_a_model_nothing_is_asked_or_applied(made):
    panel, planner = made
    panel.show_model(None, Setup())
    n_asked = len(planner.asked)
    change(panel, n_ctx=2048)
    assert len(planner.asked) == n_asked
    assert not button(panel, "applyButton").isEnabled()


def test_nothing_is_asked_while_nobody_looks(made, qtbot):
    panel, planner = made
    panel.hide()
    n_asked = len(planner.asked)
    panel.show_model(PATH, Setup(LoadSettings(n_ctx=1024)))
    assert len(planner.asked) == n_asked
    panel.show()
    qtbot.waitUntil(lambda: "1,024 cells" in label(panel, "previewKv"))


def test_settings_of_gpus_are_locked_where_there_is_none(made):
    panel, _ = made
    panel.form.set_gpus(0)
    assert not panel.findChild(QCheckBox, "offload_kqvInput").isEnabled()
    assert "no GPU" in panel.findChild(QCheckBox, "offload_kqvInput").toolTip()
    panel.form.set_gpus(1)
    assert panel.findChild(QCheckBox, "offload_kqvInput").isEnabled()
    assert not panel.findChild(QLineEdit, "tensor_splitInput").isEnabled()
    panel.form.set_gpus(2)
    assert panel.findChild(QLineEdit, "tensor_splitInput").isEnabled()


# Presets


def test_a_preset_fills_the_fields_and_applies_nothing(made):
    panel, _ = made
    applied = []
    panel.apply_requested.connect(applied.append)
    menu = button(panel, "presetButton").menu()
    next(action for action in menu.actions() if action.text() == "Lowest memory").trigger()
    assert panel.setup == preset_setup(SetupPreset.SMALL, Setup(), FACTS.n_ctx_train)
    assert button(panel, "presetButton").text() == "Preset: Lowest memory"
    assert applied == []
    change(panel, n_sink=5)
    assert button(panel, "presetButton").text() == "Presets"


def test_presets_of_ones_own_are_in_the_menu_and_can_go(made):
    panel, _ = made
    own = Setup(LoadSettings(n_ctx=512))
    panel.presets_from({"Mine": own})
    next(action for action in button(panel, "presetButton").menu().actions() if action.text() == "Mine").trigger()
    assert panel.setup == own
    removed = []
    panel.presets.removed.connect(removed.append)
    more = panel.findChild(object, "presetMore").menu()
    remove = next(action.menu() for action in more.actions() if action.menu() is not None)
    remove.actions()[0].trigger()
    assert removed == ["Mine"]


def test_the_name_of_a_preset_is_shown_as_it_was_typed(made):
    panel, _ = made
    panel.presets_from({"R&D": Setup(LoadSettings(n_ctx=512))})
    preset = next(action for action in button(panel, "presetButton").menu().actions() if "R" in action.text())
    preset.trigger()
    remove = next(one.menu() for one in panel.findChild(object, "presetMore").menu().actions() if one.menu())
    # Qt shows "&&" as "&".
    shown = {
        preset.text(),
        remove.actions()[0].text(),
        button(panel, "presetButton").text().removeprefix("Preset: "),
    }
    assert shown == {"R&&D"}


def test_the_keyboard_stays_in_the_panel_when_its_buttons_go_grey(made, qtbot):
    panel, _ = made
    change(panel, n_ctx=1024)
    reset = button(panel, "resetSetup")
    reset.setFocus()
    qtbot.keyClick(reset, Qt.Key.Key_Space)
    assert not reset.isEnabled()
    assert panel.focusWidget() is panel


# What it is by itself


FITS = Defaults(
    LoadSettings(n_ctx=6144, type_k=CacheType.Q8_0), (say("All 33 layers fit on the GPU."), say("There is room."))
)


def test_what_fits_is_said_with_its_reasons_and_in_the_tooltips(made):
    panel, _ = made
    panel.show_model(PATH, Setup(FITS.settings), FITS)
    assert label(panel, "setupWhy") == "Chosen for this machine: All 33 layers fit on the GPU. There is room."
    assert "Default: 6144" in panel.findChild(QLineEdit, "n_ctxInput").toolTip()
    assert not button(panel, "resetSetup").isEnabled()
    panel.show_model("/models/other.gguf", Setup())
    assert label(panel, "setupWhy") == ""
    assert "Default: 4096" in panel.findChild(QLineEdit, "n_ctxInput").toolTip()


def test_reset_undoes_changes_and_then_leads_to_the_defaults(made):
    panel, _ = made
    own = Setup(LoadSettings(n_ctx=1024))
    panel.show_model(PATH, own, FITS)
    assert "settings of your own" in label(panel, "setupWhy")
    change(panel, n_ctx=2048)
    reset = button(panel, "resetSetup")
    assert reset.text() == "Undo"
    reset.click()
    assert (panel.setup, reset.text()) == (own, "Defaults")
    reset.click()
    assert panel.setup == Setup(FITS.settings)
    assert button(panel, "applyButton").isEnabled()


def test_what_fits_is_asked_for_once_somebody_looks(made, qtbot):
    panel, _ = made
    wanted = []
    panel.defaults_wanted.connect(wanted.append)
    panel.hide()
    panel.show_model(PATH, Setup(LoadSettings(n_ctx=1024)))
    assert wanted == []
    panel.show()
    qtbot.waitUntil(lambda: PATH in wanted)
    panel.show_defaults(FITS)
    assert button(panel, "resetSetup").isEnabled()


def test_the_pointer_over_the_panel_readies_the_planner_and_changes_nothing(made, qtbot):
    panel, planner = made
    qtbot.waitUntil(lambda: isinstance(planner.asked[-1], FindFit))
    verdict, n_asked = label(panel, "previewVerdict"), len(planner.asked)
    QApplication.sendEvent(panel, QEnterEvent(QPointF(), QPointF(), QPointF()))
    qtbot.waitUntil(lambda: [type(question) for question in planner.asked[n_asked:]] == [PlanMemory, FindFit])
    assert label(panel, "previewVerdict") == verdict

"""A form made from declarations: every setting, its words and its bounds."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QLocale, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLabel, QLineEdit, QWidget

from app.look.theme import Theme
from app.look.window_style import window_stylesheet
from app.settings.context_slider import ContextSlider
from app.settings.form import SettingsForm
from engine.api.declarations import declarations
from engine.api.settings import (
    CacheType,
    GpuLayers,
    LoadSettings,
    PolicySettings,
    SamplingSettings,
    TierSettings,
)


@pytest.fixture
def make_form(qtbot):
    def make(settings) -> SettingsForm:
        form = SettingsForm(settings)
        qtbot.addWidget(form)
        return form

    return make


@pytest.mark.parametrize("settings", [SamplingSettings(), LoadSettings(), PolicySettings(), TierSettings()])
def test_every_declared_setting_has_a_named_field_with_help(make_form, settings):
    form = make_form(settings)
    assert form.settings == settings
    for declaration in declarations(type(settings)):
        control = form.field(declaration.name).findChild(object, f"{declaration.name}Input")
        assert control.accessibleName() == declaration.label
        assert declaration.help in control.toolTip()


def type_into(qtbot, form: SettingsForm, name: str, text: str) -> QLineEdit:
    line = form.findChild(QLineEdit, f"{name}Input")
    line.selectAll()
    qtbot.keyClicks(line, text)
    if not text:
        qtbot.keyClick(line, Qt.Key.Key_Delete)
    qtbot.keyClick(line, Qt.Key.Key_Return)
    return line


def test_a_typed_value_is_told_in_its_type(make_form, qtbot):
    form = make_form(SamplingSettings())
    told = []
    form.edited.connect(told.append)
    type_into(qtbot, form, "temperature", "1.5")
    type_into(qtbot, form, "seed", "42")
    type_into(qtbot, form, "seed", "")
    assert told == [
        SamplingSettings(temperature=1.5),
        SamplingSettings(temperature=1.5, seed=42),
        SamplingSettings(temperature=1.5),
    ]


@pytest.mark.parametrize(
    ("text", "n_ctx"), [("8,192", 8192), ("1,048,576", 1_048_576), ("8,19", None), ("81920,192", None)]
)
def test_a_whole_number_is_typed_as_it_is_shown_elsewhere(make_form, qtbot, text, n_ctx):
    QLocale.setDefault(QLocale("en_US"))
    try:
        form = make_form(LoadSettings(n_ctx=512))
        type_into(qtbot, form, "n_ctx", text)
    finally:
        QLocale.setDefault(QLocale.c())
    assert form.settings.n_ctx == (n_ctx or 512)


@pytest.mark.parametrize("text", ["hot", "-1", "5.01", "nan", "1e999"])
def test_what_is_out_of_bounds_stays_typed_and_changes_nothing(make_form, qtbot, text):
    form = make_form(SamplingSettings())
    told = []
    form.edited.connect(told.append)
    line = type_into(qtbot, form, "temperature", text)
    error = form.field("temperature").findChild(QLabel, "settingError")
    assert not error.isHidden()
    assert "from 0 to 5" in error.text()
    assert (line.text(), told, form.settings) == (text, [], SamplingSettings())
    type_into(qtbot, form, "temperature", "2")
    assert error.isHidden()


def test_a_choice_and_a_switch(make_form, qtbot):
    form = make_form(LoadSettings())
    told = []
    form.edited.connect(told.append)
    combo = form.findChild(QComboBox, "type_kInput")
    combo.setCurrentIndex(combo.findData("q8_0"))
    combo.activated.emit(combo.currentIndex())
    form.findChild(QCheckBox, "swa_fullInput").click()
    assert told[-1] == LoadSettings(type_k=CacheType.Q8_0, swa_full=True)


def turn_wheel_over(widget: QWidget) -> None:
    at = QPointF(widget.rect().center())
    no_button, no_key = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    phase = Qt.ScrollPhase.NoScrollPhase
    wheel = QWheelEvent(at, at, QPoint(), QPoint(0, -120), no_button, no_key, phase, False)
    QApplication.sendEvent(widget, wheel)


def test_a_wheel_that_scrolls_the_panel_changes_no_setting(make_form, qtbot):
    form = make_form(LoadSettings())
    slider = ContextSlider()
    qtbot.addWidget(slider)
    slider.setValue(100)
    for combo in form.findChildren(QComboBox):
        combo.setFocus()
        turn_wheel_over(combo)
    turn_wheel_over(slider)
    assert form.settings == LoadSettings()
    assert slider.value() == 100


def test_a_box_that_is_ticked_by_key_shows_that_it_has_the_keyboard(make_form, qapp, qtbot):
    form = make_form(LoadSettings())
    theme = Theme(qapp)
    form.setStyleSheet(window_stylesheet(theme.tokens, theme.sizes))
    with qtbot.waitActive(form):
        form.show()
        form.activateWindow()
    box = form.findChild(QCheckBox, "swa_fullInput")
    form.findChild(QLineEdit, "n_ctxInput").setFocus()
    before = box.grab().toImage()
    box.setFocus(Qt.FocusReason.TabFocusReason)
    assert box.grab().toImage() != before
    qapp.setStyleSheet("")


def test_values_are_words_of_the_language_in_force_and_are_typed_in_them(make_form, qtbot, languages):
    languages.choose("zh_CN")
    form = make_form(LoadSettings())
    combo = form.findChild(QComboBox, "flash_attnInput")
    assert [combo.itemText(index) for index in range(combo.count())] == ["自动", "开", "关"]
    assert form.findChild(QComboBox, "type_kInput").currentText() == "f16", "the same in every language"
    assert form.findChild(QLineEdit, "n_gpu_layersInput").text() == "自动"
    form.findChild(QLineEdit, "n_gpu_layersInput").setText("全部")
    qtbot.keyClick(form.findChild(QLineEdit, "n_gpu_layersInput"), Qt.Key.Key_Return)
    assert form.settings.n_gpu_layers is GpuLayers.ALL

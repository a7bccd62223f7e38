"""The live panel says what the engine says: every number on it is compared with the event it came in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QLocale, QObject, QPoint, Qt
from PySide6.QtGui import QFocusEvent, QRegion
from PySide6.QtWidgets import QApplication, QLabel, QProgressBar, QWidget

from app.cache.cell_strip import CellStrip
from app.cache.cells_section import EXCERPT, excerpt
from app.cache.panel import CachePanel
from app.cache.timeline import Timeline
from app.look.language import Languages
from app.look.resources import resource_dir
from app.look.theme import Theme
from app.widgets.elided_label import ElidedLabel
from engine.api.messages import (
    CacheChanged,
    DeviceMemory,
    EngineLost,
    Finished,
    FinishReason,
    KvFormula,
    KvTerm,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelLoaded,
    PrefillProgress,
    SpanState,
)
from engine.api.sentences import say
from engine.devices import DeviceSample, SampleProblem
from tests.app.cache.usages import usage
from tests.app.fake_engine import model_facts, stats

GIB = 2**30
FORMULA = KvFormula("gqa", (KvTerm(30, 3, 64, 64, 4096),), 1.0625, 1.0625, 12_240, 23_040, 36_720, 69_120)
FACTS = replace(
    model_facts(),
    kv_formula=FORMULA,
    type_k="q8_0",
    type_v="q8_0",
    kv_k_bytes=GIB // 2,
    kv_v_bytes=GIB // 2,
    devices=(
        DeviceMemory("CUDA0", 3 * GIB, GIB, 0, GIB // 2, 0),
        DeviceMemory("CPU", GIB // 4, 0, 0, GIB // 4, 0),
    ),
)
SAMPLES = (
    DeviceSample("CPU", "", 16 * GIB, 7 * GIB, GIB),
    DeviceSample("CUDA0", "A large card", 24 * GIB, 9 * GIB, 5 * GIB),
    DeviceSample("GPU 1", "Another card", 24 * GIB, GIB, None),
)


@pytest.fixture
def panel(qtbot, qapp):
    languages = Languages(resource_dir() / "translations")
    languages.choose("en")
    QLocale.setDefault(QLocale("en_US"))
    panel = CachePanel(Theme(qapp))
    qtbot.addWidget(panel)
    panel.resize(320, 1300)
    with qtbot.waitExposed(panel):
        panel.show()
    yield panel
    qapp.setStyleSheet("")
    QLocale.setDefault(QLocale.c())


def text(panel: CachePanel, name: str) -> str:
    label = panel.findChild(QLabel, name)
    return label.line if isinstance(label, ElidedLabel) else label.text()


def test_nothing_is_known_at_first(panel):
    for name in ("cellsUsed", "cache_kv_allocated", "cache_decode", "cache_per_token"):
        assert text(panel, name) == "–"


def test_cells_in_the_legend_are_those_of_the_spans(panel):
    shown = usage(4096, (60, 200, 300, 150), n_sink=60, n_evicted=100, n_reused=560)
    panel.take(ModelLoaded(1, FACTS))
    panel.take(CacheChanged(shown))
    assert text(panel, "cellsUsed") == "610"
    names = ("system", "user", "assistant", "free", "sinks", "reused", "evicted")
    assert [text(panel, f"cells_{name}") for name in names] == ["60", "250", "300", "3,486", "60", "460", "100"]
    assert 60 + 250 + 300 + 3486 == 4096, "what is among them, or has no cell, stands apart"
    apart = panel.findChild(QLabel, "cells_sinks").parent().parent()
    assert apart is not panel.findChild(QLabel, "cells_system").parent().parent()


def test_kv_shows_planned_beside_allocated_and_the_formula_with_its_numbers(panel):
    panel.take(ModelLoaded(1, FACTS))
    assert text(panel, "cache_kv_planned") == "1.0 GiB"
    assert text(panel, "cache_kv_allocated") == "1.0 GiB"
    assert text(panel, "kvFormula") == "GQA: 2 × 30 layers × 3 KV heads × 64 × 1.0625 bytes = 12.0 KiB a token"
    assert [text(panel, f"cache_{name}") for name in ("as_f16", "as_mha", "as_mha_f16")] == [
        "22.5 KiB", "35.9 KiB", "67.5 KiB",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (replace(FORMULA, attention="none", terms=()), "This model keeps a state instead of K and V"),
        (
            replace(FORMULA, attention="mla", terms=(KvTerm(4, 1, 576, 0, 4096),)),
            "MLA: 4 layers × 1 KV head ×",
        ),
        (replace(FORMULA, element_bytes_k=2), "3 KV heads × (64 × 2 + 64 × 1.0625) bytes"),
        (replace(FORMULA, terms=(KvTerm(5, 1, 64, 64, 4096), KvTerm(25, 1, 64, 64, 1024))), "bytes +\n2 × 25 layers"),
    ],
)
def test_the_formula_suits_the_kind_of_attention(panel, formula, words):
    panel.take(ModelLoaded(1, replace(FACTS, kv_formula=formula)))
    assert words in text(panel, "kvFormula")


def test_the_last_request_says_what_reuse_saved(panel):
    cost = replace(stats(), n_prompt=1072, n_reused=1040, n_fed=32, read_tps=260.0, reuse_saved_ms=4000.0)
    panel.take(Finished(1, FinishReason.END_OF_TURN, cost, "", "", ()))
    assert text(panel, "cache_saved").startswith("4.0 <")
    assert text(panel, "cache_reused") == "1,040 of 1,072"
    assert text(panel, "cache_read") == "32 of 1,072"
    assert text(panel, "cache_first").startswith("180 <")
    panel.take(Finished(2, FinishReason.END_OF_TURN, stats(), "", "", ()))
    assert text(panel, "cache_saved") == "–"


def test_a_stop_before_the_first_token_has_no_time_of_it(panel):
    panel.take(Finished(1, FinishReason.CANCELLED, replace(stats(n_generated=0), ttft_ms=None), "", "", ()))
    assert text(panel, "cache_first") == "–"


def test_a_load_and_a_prompt_show_how_far_they_are_and_what_is_left(panel):
    bar = panel.findChild(QProgressBar, "prefillBar")
    assert bar.isHidden()
    panel.take(LoadProgress(1, LoadStage.WEIGHTS, 0.4))
    assert (bar.value(), text(panel, "prefillText")) == (400, "Loading: weights 40 %")
    panel.take(ModelLoaded(1, FACTS))
    assert bar.isHidden()
    panel.take(PrefillProgress(2, 900, 3000, 300))
    assert (bar.value(), text(panel, "prefillText")) == (300, "Reading: 900 of 3,000 tokens")
    assert text(panel, "prefillLeft") == "2,100 left"
    panel.take(PrefillProgress(2, 3000, 3000, 300))
    assert bar.isHidden()


def test_the_timeline_follows_what_the_engine_says(panel):
    panel.take(ModelLoaded(1, FACTS))
    for n_evicted in (0, 100):
        panel.take(CacheChanged(usage(4096, (60, 200, 300), n_evicted=n_evicted)))
    history = panel.findChild(Timeline).history
    assert history.moments
    assert len(history.marks) == 1


def test_an_engine_that_died_leaves_no_numbers_of_its_memory(panel):
    panel.take(ModelLoaded(1, FACTS))
    panel.take(CacheChanged(usage(4096, (60,))))
    panel.take(EngineLost(-11, LossOutcome.RESTARTED, "engine_crashed", say("It died."), "", ()))
    assert text(panel, "cellsUsed") == "–"
    assert text(panel, "cache_kv_allocated") == "–"


def test_a_hidden_panel_takes_note_and_shows_it_when_it_is_shown(panel):
    panel.hide()
    panel.take(ModelLoaded(1, FACTS))
    panel.take(CacheChanged(usage(4096, (60,))))
    assert text(panel, "cellsUsed") == "–"
    panel.show()
    assert text(panel, "cellsUsed") == "60"


# Memory


def amounts(panel: CachePanel, device: str) -> dict[str, str]:
    bar = panel.findChild(object, f"memoryBar_{device}")
    names = ("weights", "kv", "compute", "rest", "others", "free")
    labels = {name: bar.findChild(QLabel, f"memory_{name}") for name in names}
    return {name: label.text() for name, label in labels.items() if label.isVisibleTo(bar)}


def test_each_device_shows_who_holds_its_memory(panel):
    panel.take(ModelLoaded(1, FACTS))
    panel.show_samples(SAMPLES)
    assert amounts(panel, "CUDA0") == {
        "weights": "3.0 GiB",
        "kv": "1.0 GiB",
        "compute": "512 MiB",
        "rest": "512 MiB",
        "others": "4.0 GiB",
        "free": "15.0 GiB",
    }
    assert amounts(panel, "GPU 1") == {"others": "1.0 GiB", "free": "23.0 GiB"}
    amount = panel.findChild(object, "memoryBar_CUDA0").findChild(QLabel, "memoryAmount")
    assert amount.text() == "9.0 GiB of 24.0 GiB"


@pytest.mark.parametrize("problem", [problem for problem in SampleProblem if problem is not SampleProblem.NOT_LIVE])
def test_a_device_that_fails_says_so_and_the_others_go_on(panel, problem):
    panel.show_samples((SAMPLES[0], DeviceSample("CUDA0", "A large card", problem=problem)))
    bar = panel.findChild(object, "memoryBar_CUDA0")
    assert bar.findChild(QLabel, "memoryProblem").text().endswith(".")
    assert amounts(panel, "CUDA0") == {}
    assert amounts(panel, "CPU")["free"] == "9.0 GiB"


def test_a_device_that_has_gone_leaves_the_panel(panel):
    panel.show_samples(SAMPLES)
    panel.show_samples(SAMPLES[:1])
    assert panel.findChild(object, "memoryBar").layout().count() == 1


def test_the_panel_tells_whether_anybody_looks(panel, qtbot):
    told = []
    panel.looked_at.connect(told.append)
    panel.hide()
    panel.show()
    assert told == [False, True]


# The strip


@pytest.fixture
def strip(panel) -> CellStrip:
    panel.take(ModelLoaded(1, FACTS))
    panel.take(CacheChanged(usage(4096, (60, 200, 300, 150), n_sink=60, n_evicted=100, n_reused=562)))
    panel.set_text_of(lambda span, index: f"words at {index}")
    return panel.findChild(CellStrip, "cellStrip")


def point_of(strip: CellStrip, cell: int) -> QPoint:
    return strip.square_center(cell // strip.raster.grid.n_per_square).toPoint()


def test_pointing_at_a_cell_tells_its_position_turn_and_words(panel, strip, qtbot):
    qtbot.mouseMove(strip, point_of(strip, 70))
    assert text(panel, "cellWhere") == "Cells 70–76 · position 170 · reused"
    assert text(panel, "cellWords") == "You, message 2: “words at 170”"
    qtbot.mouseMove(strip, point_of(strip, 462))
    assert text(panel, "cellWhere") == "Cells 462–468 · position 562", "the first that is not reused"
    qtbot.mouseMove(strip, point_of(strip, 0))
    assert text(panel, "cellWhere") == "Cells 0–6 · position 0 · sink · reused"
    qtbot.mouseMove(strip, point_of(strip, 4000))
    assert text(panel, "cellWhere").endswith("free")


def test_a_press_asks_for_the_message(panel, strip, qtbot):
    pressed = []
    panel.span_pressed.connect(pressed.append)
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=point_of(strip, 300))
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=point_of(strip, 4000))
    assert [span.message_index for span in pressed] == [2]


def test_the_strip_goes_by_keyboard(panel, strip, qtbot):
    pressed = []
    panel.span_pressed.connect(pressed.append)
    QApplication.sendEvent(strip, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    assert text(panel, "cellWhere").startswith("Cells 0–6")
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Return):
        qtbot.keyClick(strip, key)
    first = (strip.raster.grid.n_columns + 1) * 7
    assert text(panel, "cellWhere").startswith(f"Cells {first}–")
    assert pressed[0].message_index == 2
    qtbot.keyClick(strip, Qt.Key.Key_End)
    assert text(panel, "cellWhere") == "Cell 4,095 · free"


def test_cells_of_a_chat_that_is_not_open_are_said_to_be_another_ones(panel, strip):
    panel.show_chat("chat")
    assert "another" not in text(panel, "cellWhere")
    panel.show_chat("new")
    assert text(panel, "cellWhere") == "These cells hold another chat"


def test_evicted_history_is_a_stub_that_makes_room_for_itself(panel, strip):
    assert strip.n_gone == 100
    with_stub = strip.raster.grid.n_columns
    panel.take(CacheChanged(usage(4096, (60, 200))))
    assert strip.n_gone == 0
    assert strip.raster.grid.n_columns > with_stub


class Painted(QObject):
    """Notes what is painted of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.regions: list[QRegion] = []
        widget.installEventFilter(self)

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self.regions.append(QRegion(event.region()))
        return False

    def has(self, point: QPoint) -> bool:
        return any(region.contains(point) for region in self.regions)


def test_during_an_answer_only_what_changed_is_painted_again(panel, strip, qtbot):
    assert panel.isVisible()
    QApplication.processEvents()
    painted = Painted(strip)
    grown = usage(4096, (60, 200, 300, 250), n_sink=60, n_evicted=100, n_reused=562)
    panel.take(CacheChanged(grown))
    qtbot.waitUntil(lambda: painted.has(point_of(strip, 650)))
    assert not painted.has(point_of(strip, 0))
    assert not painted.has(point_of(strip, 4000))
    panel.take(CacheChanged(replace(grown, n_evicted=200)))
    painted.regions.clear()
    qtbot.waitUntil(lambda: painted.has(QPoint(4, 4)))


def test_the_stub_tells_what_it_stands_for_and_leads_to_it(panel, strip, qtbot):
    pressed = []
    panel.span_pressed.connect(pressed.append)
    stub = QPoint(4, strip.height() // 2)
    qtbot.mouseMove(strip, stub)
    assert strip.toolTip().startswith("100 ")
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=stub)
    assert [(span.state, span.message_index) for span in pressed] == [(SpanState.EVICTED, 1)]
    qtbot.mouseMove(strip, point_of(strip, 70))
    assert strip.toolTip() == ""


def test_an_excerpt_is_short_and_lies_where_the_token_does():
    words = " ".join(f"word{n}" for n in range(200))
    for share in (0.0, 0.5, 1.0):
        assert len(excerpt(words, share)) <= EXCERPT + 2
    assert excerpt(words, 0.0).startswith("word0")
    assert excerpt(words, 1.0).endswith("word199")
    assert excerpt("short", 0.5) == "short"

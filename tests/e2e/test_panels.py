"""Both panels on the real engine and the real planner: what they say is what llama.cpp did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QLabel, QPushButton

from app.look import language
from app.process.logs import close_logs
from app.process.options import Options
from app.program import Program
from app.store.preferences import Preferences
from app.store.preferences_store import PreferencesStore
from app.store.setup import Setup
from app.widgets.elided_label import ElidedLabel
from engine.api.messages import ChatRestored, Finished, ModelLoaded
from engine.api.settings import CacheType, LoadSettings, Policy, PolicySettings, SamplingSettings

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.qt_log_ignore("This plugin does not support", extend=True),
]

PATIENCE_MS = 60_000
N_ANSWERED = 400


@pytest.fixture
def open_program(
    qapp, tmp_path: Path, tiny_model: Callable[..., Path]
) -> Iterator[Callable[[PolicySettings], Program]]:
    programs: list[Program] = []

    def open_one(policy: PolicySettings) -> Program:
        model = tiny_model(head_size=64)
        setup = Setup(LoadSettings(n_ctx=256, n_threads=1), policy)
        sampling = SamplingSettings(seed=1, max_tokens=N_ANSWERED, ignore_eos=True)
        chosen = Preferences(sampling=sampling, setups={str(model): setup})
        PreferencesStore(tmp_path / "preferences.json", lambda problem: pytest.fail(str(problem))).set(chosen)
        programs.append(Program(qapp, Options(model, tmp_path, None, ())))
        programs[0].show()
        return programs[0]

    yield open_one
    for program in programs:
        program.window.close()
        program.close()
        program.window.deleteLater()
        program.languages.choose("en")
    QLocale.setDefault(QLocale.c())
    close_logs()


def wait_until_ready(qtbot, program: Program) -> None:
    qtbot.waitUntil(lambda: program.session.status.can_answer, timeout=PATIENCE_MS)


def text(program: Program, name: str) -> str:
    label = program.window.findChild(QLabel, name)
    return label.line if isinstance(label, ElidedLabel) else label.text()


def held_bytes(program: Program) -> int:
    return sum(device.held_bytes for device in program.session.status.facts.devices)


def test_the_cells_on_screen_are_those_of_the_engine_also_after_evictions(open_program, qtbot):
    program = open_program(PolicySettings(policy=Policy.SINKS))
    wait_until_ready(qtbot, program)
    program.chat.send("Go on for ever.")
    qtbot.waitUntil(lambda: program.session.status.is_busy)
    wait_until_ready(qtbot, program)
    usage = program.cache_panel.facts.usage
    assert usage.n_evicted > 0
    shown = {name: text(program, f"cells_{name}") for name in ("free", "sinks", "evicted")}
    assert shown == {"free": str(256 - usage.n_used), "sinks": str(usage.n_sink), "evicted": str(usage.n_evicted)}
    roles = [int(text(program, f"cells_{name}") or 0) for name in ("system", "user", "assistant", "other")]
    assert sum(roles) == usage.n_used == int(text(program, "cellsUsed"))
    assert text(program, "cache_kv_planned") == text(program, "cache_kv_allocated")


def test_what_the_preview_says_is_what_a_reload_takes_and_the_chat_goes_on(open_program, qtbot):
    program = open_program(PolicySettings(policy=Policy.STOP))
    wait_until_ready(qtbot, program)
    panel = program.settings_panel
    program.panel.show_page("settings")
    panel.form.field("n_ctx").take(512)
    panel.form.field("type_k").take(CacheType.Q8_0)
    qtbot.waitUntil(lambda: "512 cells" in text(program, "previewKv"), timeout=PATIENCE_MS)
    planned = text(program, "previewKv").split(" → ")[1].split(" · ")[0]
    before = program.session.status.facts
    program.window.findChild(QPushButton, "applyButton").click()
    qtbot.waitUntil(lambda: program.session.status.facts is not before, timeout=PATIENCE_MS)
    wait_until_ready(qtbot, program)
    facts = program.session.status.facts
    assert (facts.n_ctx, facts.type_k, facts.type_v) == (512, "q8_0", "f16")
    assert language.bytes_text(sum(device.kv_bytes for device in facts.devices)) == planned
    program.chat.send("Hello")
    qtbot.waitUntil(lambda: program.session.status.is_busy)
    wait_until_ready(qtbot, program)
    assert program.cache_panel.facts.stats.n_generated == N_ANSWERED


def test_a_reload_puts_the_chat_back_and_the_next_message_costs_only_itself(open_program, qtbot):
    program = open_program(PolicySettings(policy=Policy.STOP))
    wait_until_ready(qtbot, program)
    chat = program.chat
    chat.set_settings(replace(chat.settings, sampling=replace(chat.settings.sampling, max_tokens=20)))
    chat.send("Hello")
    qtbot.waitUntil(lambda: program.session.status.is_busy)
    wait_until_ready(qtbot, program)
    n_before = program.cache_panel.facts.usage.n_used
    program.settings_panel.form.field("type_k").take(CacheType.Q8_0)
    heard: list[type] = []
    program.session.event_received.connect(lambda event: heard.append(type(event)))
    program.window.findChild(QPushButton, "applyButton").click()
    # It may be read before anybody looks whether it is being read.
    qtbot.waitUntil(
        lambda: [kind for kind in heard if kind in (ModelLoaded, ChatRestored)] == [ModelLoaded, ChatRestored],
        timeout=PATIENCE_MS,
    )
    wait_until_ready(qtbot, program)
    assert Finished not in heard, "nothing is answered"
    assert program.cache_panel.facts.model.type_k is CacheType.Q8_0
    n_read = program.cache_panel.facts.usage.n_used
    # The last token that was sampled has a cell once something follows it.
    assert n_before <= n_read <= n_before + 1
    chat.send("And now?")
    qtbot.waitUntil(lambda: program.session.status.is_busy)
    wait_until_ready(qtbot, program)
    stats = program.cache_panel.facts.stats
    assert (stats.n_reused, stats.n_fed) == (n_read, stats.n_prompt - n_read)
    assert stats.n_recomputed == 0


def test_a_full_cache_that_stops_goes_on_with_more_room(open_program, qtbot):
    program = open_program(PolicySettings(policy=Policy.STOP))
    wait_until_ready(qtbot, program)
    program.chat.send("Go on for ever.")
    window = program.window
    qtbot.waitUntil(lambda: window.findChild(object, "cacheFullDialog") is not None, timeout=PATIENCE_MS)
    larger = window.findChild(QPushButton, "way_larger")
    qtbot.waitUntil(lambda: larger.isEnabled() and "iB · " in larger.accessibleName(), timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: "…" not in larger.accessibleName(), timeout=PATIENCE_MS)
    price = larger.accessibleName().split(", +")[1].split(" · ")[0]
    before = held_bytes(program)
    larger.click()
    qtbot.waitUntil(lambda: program.session.status.is_busy, timeout=PATIENCE_MS)
    wait_until_ready(qtbot, program)
    assert price == language.bytes_text(held_bytes(program) - before)
    usage = program.cache_panel.facts.usage
    assert usage.n_cells == 512
    assert 256 < usage.n_used <= 512
    assert usage.n_evicted == 0

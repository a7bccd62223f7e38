"""Settings put in force through the whole window, on a fake engine and a fake planner: nothing of the chat is lost."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton

from app.store.preferences import Preferences
from app.store.setup import Setup
from app.transcript.turns import Visibility
from engine.api.errors import ErrorCode
from engine.api.messages import (
    CacheChanged,
    Cancel,
    Failed,
    FinishReason,
    Generate,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    ModelLoaded,
    Span,
    SpanState,
)
from engine.api.sentences import say
from engine.api.settings import CacheType, LoadSettings, Policy, PolicySettings
from engine.plan.full_cache import Way
from tests.app.fake_engine import model_facts, usage
from tests.app.window.steering_hand import apply, apply_load, change, dialog, loads


@pytest.fixture
def desk(start_desk, planners):
    return start_desk()


def talk(desk, qtbot) -> None:
    desk.send("Hello")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)


def test_a_live_setting_reaches_the_next_request_without_a_load(desk, qtbot):
    change(desk, n_sink=9, policy=Policy.WINDOW)
    apply(desk)
    assert len(loads(desk)) == 1
    talk(desk, qtbot)
    assert desk.engine.request.policy == PolicySettings(n_sink=9, policy=Policy.WINDOW)


def test_a_reload_keeps_the_chat_and_its_tokens(desk, qtbot):
    talk(desk, qtbot)
    said = desk.say()
    change(desk, n_ctx=2048, type_k=CacheType.Q8_0)
    apply_load(desk, qtbot)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert loads(desk)[-1] == LoadSettings(n_ctx=2048, type_k=CacheType.Q8_0)
    assert desk.say() == said
    desk.send("And now?")
    messages = desk.engine.request.messages
    assert [message.role for message in messages] == ["user", "assistant", "user"]
    assert messages[1].token_ids is not None


def test_each_model_remembers_its_setup(desk, qtbot):
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    first = desk.program.session.status.model_path
    desk.program.opener.open("/models/other.gguf")
    qtbot.waitUntil(lambda: desk.program.session.status.model_path == "/models/other.gguf")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert loads(desk)[-1] == LoadSettings()
    desk.program.opener.open(first)
    qtbot.waitUntil(lambda: desk.program.session.status.model_path == first)
    assert loads(desk)[-1] == LoadSettings(n_ctx=2048)
    kept = json.loads(desk.preferences_path.read_text("utf-8"))["setups"]
    assert [(one["path"], one["load"]["n_ctx"]) for one in kept] == [(first, 2048)]


def test_the_same_model_loaded_with_other_settings_elsewhere_is_shown_as_it_is(desk, qtbot):
    path = desk.program.session.status.model_path
    setup = Setup(LoadSettings(n_ctx=1024))
    desk.program.store.set(desk.program.store.current.with_setup(path, setup))
    desk.program.opener.open(path)
    qtbot.waitUntil(lambda: loads(desk)[-1] == setup.load)
    qtbot.waitUntil(lambda: desk.program.steering.settings_panel.setup == setup)


def test_a_kept_setup_is_loaded_at_the_start(start_desk, planners, tmp_path):
    path = tmp_path / "Tiny-1B-Q4_K_M.gguf"
    setup = Setup(LoadSettings(n_ctx=1024), PolicySettings(policy=Policy.STOP))
    desk = start_desk(preferences=Preferences(setups={str(path): setup}))
    assert loads(desk) == [setup.load]
    assert desk.program.steering.settings_panel.setup == setup


@pytest.fixture
def slow_desk(start_desk, planners, qtbot):
    desk = start_desk(loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: len(loads(desk)) == 1)
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    return desk


def finish_load(desk) -> None:
    command = desk.engine.last(LoadModel)
    desk.engine.post(ModelLoaded(command.request_id, model_facts(command.path)))


def fail_load(desk, sentence: str, *, began: bool = True) -> None:
    """The load under way fails, after or before the old model was unloaded for it."""
    request_id = desk.engine.last(LoadModel).request_id
    if began:
        desk.engine.post(LoadProgress(request_id, LoadStage.READING, 0.0))
    desk.engine.post(Failed(request_id, ErrorCode.OUT_OF_MEMORY, say(sentence)))


def test_a_reload_that_fails_brings_back_what_was_in_force(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    fail_load(desk, "That is too much.")
    qtbot.waitUntil(lambda: len(loads(desk)) == 3)
    assert loads(desk)[-1] == LoadSettings()
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert "That is too much." in desk.notices()
    assert desk.program.steering.settings_panel.setup == Setup()
    assert desk.program.store.current.setups == {}


def test_a_reload_that_is_refused_at_once_leaves_the_model_loaded(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    fail_load(desk, "That can't be.", began=False)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert len(loads(desk)) == 2
    assert desk.program.steering.settings_panel.setup == Setup()


def test_a_reload_can_be_cancelled(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    request_id = desk.engine.last(LoadModel).request_id
    desk.program.actions["cancel_load"].trigger()
    assert desk.engine.last(Cancel) == Cancel(request_id)
    desk.engine.post(LoadCancelled(request_id))
    qtbot.waitUntil(lambda: loads(desk)[-1] == LoadSettings())
    assert len(loads(desk)) == 3


def test_a_second_apply_is_not_undone_by_the_end_of_the_first(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    first = desk.engine.last(LoadModel).request_id
    change(desk, n_ctx=1024)
    apply_load(desk, qtbot)
    desk.engine.post(LoadCancelled(first))
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert [one.n_ctx for one in loads(desk)] == [4096, 2048, 1024]
    assert desk.program.steering.settings_panel.setup.load.n_ctx == 1024


def test_another_model_chosen_during_a_reload_stays_chosen(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    first = desk.engine.last(LoadModel).request_id
    desk.program.opener.open("/models/other.gguf")
    qtbot.waitUntil(lambda: desk.engine.last(LoadModel).path == "/models/other.gguf")
    desk.engine.post(LoadCancelled(first))
    finish_load(desk)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.engine.last(LoadModel).path == "/models/other.gguf"


def test_a_load_that_brings_back_what_was_and_fails_too_ends_there(slow_desk, qtbot):
    desk = slow_desk
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    for n_loads in (2, 3):
        qtbot.waitUntil(lambda n_loads=n_loads: len(loads(desk)) == n_loads)
        fail_load(desk, f"No {n_loads}.")
    qtbot.waitUntil(lambda: "No 3." in desk.notices())
    assert len(loads(desk)) == 3


class AskingGuard:
    """Is never sure, and waits for an answer."""

    def __init__(self):
        self.asked = []

    def is_sure(self, path, settings):
        return False

    def admit(self, path, settings, load):
        self.asked.append((settings, load))


def test_apply_asks_first_where_it_would_not_fit_and_keeps_what_was_agreed_on(desk, qtbot):
    guard = AskingGuard()
    desk.program.opener.set_guard(guard)
    change(desk, n_ctx=8192)
    apply(desk)
    qtbot.waitUntil(lambda: len(guard.asked) == 1)
    assert len(loads(desk)) == 1, "nothing is loaded before the answer"
    settings, load = guard.asked[0]
    assert settings == LoadSettings(n_ctx=8192)
    load(LoadSettings(n_ctx=512))
    qtbot.waitUntil(lambda: desk.program.steering.settings_panel.applied == Setup(LoadSettings(n_ctx=512)))
    assert loads(desk)[-1] == LoadSettings(n_ctx=512)
    path = desk.program.session.status.model_path
    assert desk.program.store.current.setups == {path: Setup(LoadSettings(n_ctx=512))}


def test_a_preset_of_ones_own_is_kept(desk):
    panel = desk.program.steering.settings_panel
    change(desk, n_ctx=512)
    panel.presets.saved.emit("Mine")
    assert desk.program.store.current.presets == {"Mine": Setup(LoadSettings(n_ctx=512))}
    panel.presets.removed.emit("Mine")
    assert desk.program.store.current.presets == {}


def test_the_settings_are_copied_as_a_command(desk):
    change(desk, n_ctx=512)
    desk.program.steering.settings_panel.command_wanted.emit()
    words = shlex.split(QGuiApplication.clipboard().text())
    assert words[:3] == ["llama-server", "--model", desk.program.session.status.model_path]
    assert words[words.index("--ctx-size") + 1] == "512"
    assert "The llama-server command is in the clipboard." in desk.notices()


def test_everything_that_works_in_the_background_ends_with_the_window(desk, planners):
    desk.program.window.close()
    desk.program.close()
    assert planners[0].is_closed


# A full cache


@pytest.fixture
def full_desk(start_desk, planners, qtbot, tmp_path):
    """The policy is stop, and an answer just filled the cache."""
    path = tmp_path / "Tiny-1B-Q4_K_M.gguf"
    preferences = Preferences(setups={str(path): Setup(policy=PolicySettings(policy=Policy.STOP))})
    desk = start_desk(preferences=preferences, answers_by_hand=True)
    desk.send("Hello")
    qtbot.waitUntil(lambda: desk.engine.request is not None)
    desk.engine.post(CacheChanged(usage(desk.engine.request.chat_id, n_used=4096)))
    desk.engine.finish(text="I was cut", reason=FinishReason.CACHE_FULL)
    qtbot.waitUntil(lambda: dialog(desk) is not None)
    return desk


def way(desk, which: Way) -> QPushButton:
    return dialog(desk).findChild(QPushButton, f"way_{which}")


def words(button: QPushButton, name: str) -> str:
    return button.findChild(QLabel, name).text()


def test_a_full_cache_offers_ways_with_prices(full_desk, qtbot):
    desk = full_desk
    assert words(way(desk, Way.SLIDE), "wayPrice") == "no memory · at once"
    # 8,192 cells in f16 are what the model was trained on, and do fit the planner's machine.
    # The fake planner counts less weights than the fake engine.
    qtbot.waitUntil(lambda: words(way(desk, Way.LARGER), "wayPrice").startswith("−475.4 MiB"))
    assert way(desk, Way.LARGER).isEnabled()
    assert not way(desk, Way.RECOMPUTE).isEnabled()
    assert words(way(desk, Way.RECOMPUTE), "wayWords") == "This model's memory can't give single tokens up."


def test_every_card_is_as_high_as_its_words(full_desk, qtbot):
    qtbot.waitUntil(lambda: "MiB" in words(way(full_desk, Way.LARGER), "wayPrice"))
    assert way(full_desk, Way.SLIDE).height() > way(full_desk, Way.LARGER).height(), "two lines, and one"
    assert dialog(full_desk).height() == dialog(full_desk).layout().totalHeightForWidth(dialog(full_desk).width())
    height = way(full_desk, Way.LARGER).height()
    dialog(full_desk).resize(dialog(full_desk).width(), 900)
    dialog(full_desk).layout().activate()
    assert way(full_desk, Way.LARGER).height() == height


def test_sliding_goes_on_at_once(full_desk, qtbot):
    desk = full_desk
    way(desk, Way.SLIDE).click()
    qtbot.waitUntil(lambda: desk.engine.request.continue_last)
    assert desk.engine.request.policy.policy is Policy.SINKS
    assert len(loads(desk)) == 1
    qtbot.waitUntil(lambda: dialog(desk) is None)


def test_a_larger_context_is_loaded_and_the_answer_goes_on(full_desk, qtbot):
    desk = full_desk
    qtbot.waitUntil(lambda: "MiB" in words(way(desk, Way.LARGER), "wayPrice"))
    way(desk, Way.LARGER).click()
    qtbot.waitUntil(lambda: desk.engine.request.continue_last)
    assert loads(desk)[-1].n_ctx == 8192
    assert desk.engine.request.policy.policy is Policy.STOP


def test_esc_leaves_everything_as_it_is(full_desk, qtbot):
    desk = full_desk
    dialog(desk).reject()
    qtbot.waitUntil(lambda: dialog(desk) is None)
    assert len([command for command in desk.engine.sent if isinstance(command, Generate)]) == 1


def test_a_message_that_is_too_long_for_a_cache_that_stops_asks_too(start_desk, planners, qtbot, tmp_path):
    path = tmp_path / "Tiny-1B-Q4_K_M.gguf"
    preferences = Preferences(setups={str(path): Setup(policy=PolicySettings(policy=Policy.STOP))})
    desk = start_desk(preferences=preferences, answers_by_hand=True)
    desk.send("A long message")
    desk.engine.post(Failed(desk.engine.request.request_id, ErrorCode.PROMPT_TOO_LONG, say("Too long by 7 tokens.")))
    qtbot.waitUntil(lambda: dialog(desk) is not None)
    assert desk.program.composer.text() == "A long message"
    way(desk, Way.SLIDE).click()
    qtbot.waitUntil(lambda: desk.engine.request.policy.policy is Policy.SINKS)
    assert desk.engine.request.messages[-1].text == "A long message"


# Cells and messages


def test_a_cell_leads_to_its_message(desk, qtbot):
    talk(desk, qtbot)
    panel = desk.program.cache_panel
    spans = (
        Span(0, 20, SpanState.CACHED, "user", 0, False, 0),
        Span(20, 40, SpanState.CACHED, "assistant", None, False, 20),
    )
    desk.engine.post(CacheChanged(replace(usage(desk.engine.request.chat_id), spans=spans)))
    qtbot.waitUntil(lambda: panel.facts.usage.spans == spans)
    scrolled = []
    desk.program.transcript.scroll_to_turn = scrolled.append
    for span in spans:
        panel.span_pressed.emit(span)
    assert scrolled == [turn.id for turn in desk.program.transcript.turns]


def test_a_turn_that_was_evicted_is_no_longer_dimmed_once_the_cells_are_gone(desk, qtbot):
    talk(desk, qtbot)
    desk.send("And now?")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    spans = (
        Span(0, 20, SpanState.EVICTED, "user", 0, False, None),
        Span(20, 40, SpanState.CACHED, "assistant", 1, False, 20),
    )
    desk.engine.post(CacheChanged(replace(usage(desk.engine.request.chat_id, n_evicted=20), spans=spans)))

    def first() -> Visibility:
        return desk.program.transcript.turns[0].visibility

    qtbot.waitUntil(lambda: first() is Visibility.NONE)
    desk.program.session.unload()
    qtbot.waitUntil(lambda: first() is Visibility.ALL)


def test_an_answer_that_is_evicted_while_it_is_written_is_marked_and_stays_so_after_a_look_at_another_chat(
    start_desk, planners, qtbot
):
    desk = start_desk(answers_by_hand=True)
    desk.send("Go on for ever")
    qtbot.waitUntil(lambda: desk.engine.request is not None)
    desk.engine.stream("Once upon a time")
    spans = (
        Span(0, 20, SpanState.EVICTED, "user", 0, False, None),
        Span(20, 22, SpanState.CACHED, "", None, False, 20),
        Span(22, 40, SpanState.EVICTED, "assistant", None, False, None),
        Span(40, 60, SpanState.CACHED, "assistant", None, False, 40),
    )
    desk.engine.post(CacheChanged(replace(usage(desk.engine.request.chat_id, n_evicted=38), spans=spans)))

    def seen() -> list[Visibility]:
        return [turn.visibility for turn in desk.program.transcript.turns]

    qtbot.waitUntil(lambda: seen() == [Visibility.NONE, Visibility.PARTLY])
    desk.engine.finish(text="Once upon a time")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    chat_id = desk.program.chat.open_chat.head.id
    desk.program.actions["new_chat"].trigger()
    assert seen() == []
    qtbot.waitUntil(lambda: desk.program.desk.keeper.is_idle)
    desk.program.desk.open(chat_id)
    assert seen() == [Visibility.NONE, Visibility.PARTLY]
    desk.program.session.unload()
    qtbot.waitUntil(lambda: seen() == [Visibility.ALL, Visibility.ALL])

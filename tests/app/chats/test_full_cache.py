"""A full cache asks how to go on, each way with its price, and goes on so."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from app.store.preferences import Preferences
from app.store.setup import Setup
from engine.api.errors import ErrorCode
from engine.api.messages import CacheChanged, Failed, FinishReason, Generate
from engine.api.sentences import say
from engine.api.settings import Policy, PolicySettings
from engine.plan.full_cache import FullCacheOption
from tests.app.fake_engine import usage
from tests.app.window.settings_hand import dialog, loads


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


def way(desk, which: FullCacheOption) -> QPushButton:
    return dialog(desk).findChild(QPushButton, f"way_{which}")


def words(button: QPushButton, name: str) -> str:
    return button.findChild(QLabel, name).text()


def test_a_full_cache_offers_ways_with_prices(full_desk, qtbot):
    desk = full_desk
    assert words(way(desk, FullCacheOption.SLIDE), "wayPrice") == "no memory · at once"
    # 8,192 cells in f16 are what the model was trained on, and do fit the planner's machine.
    # The fake planner counts less weights than the fake engine.
    qtbot.waitUntil(lambda: words(way(desk, FullCacheOption.LARGER), "wayPrice").startswith("−475.4 MiB"))
    assert way(desk, FullCacheOption.LARGER).isEnabled()
    assert not way(desk, FullCacheOption.RECOMPUTE).isEnabled()
    assert words(way(desk, FullCacheOption.RECOMPUTE), "wayWords") == "This model's memory can't give single tokens up."


def test_every_card_is_as_high_as_its_words(full_desk, qtbot):
    qtbot.waitUntil(lambda: "MiB" in words(way(full_desk, FullCacheOption.LARGER), "wayPrice"))
    assert way(full_desk, FullCacheOption.SLIDE).height() > way(full_desk, FullCacheOption.LARGER).height(), (
        "two lines, and one"
    )
    assert dialog(full_desk).height() == dialog(full_desk).layout().totalHeightForWidth(dialog(full_desk).width())
    height = way(full_desk, FullCacheOption.LARGER).height()
    dialog(full_desk).resize(dialog(full_desk).width(), 900)
    dialog(full_desk).layout().activate()
    assert way(full_desk, FullCacheOption.LARGER).height() == height


def test_sliding_goes_on_at_once(full_desk, qtbot):
    desk = full_desk
    way(desk, FullCacheOption.SLIDE).click()
    qtbot.waitUntil(lambda: desk.engine.request.continue_last)
    assert desk.engine.request.policy.policy is Policy.SINKS
    assert len(loads(desk)) == 1
    qtbot.waitUntil(lambda: dialog(desk) is None)


def test_a_larger_context_is_loaded_and_the_answer_goes_on(full_desk, qtbot):
    desk = full_desk
    qtbot.waitUntil(lambda: "MiB" in words(way(desk, FullCacheOption.LARGER), "wayPrice"))
    way(desk, FullCacheOption.LARGER).click()
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
    way(desk, FullCacheOption.SLIDE).click()
    qtbot.waitUntil(lambda: desk.engine.request.policy.policy is Policy.SINKS)
    assert desk.engine.request.messages[-1].text == "A long message"

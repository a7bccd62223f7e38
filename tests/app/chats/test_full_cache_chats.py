"""Whose cache is full: the way on is for the chat whose answer was cut, and for no other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton

from app.store.preferences import Preferences
from app.store.setup import Setup
from engine.api.errors import ErrorCode
from engine.api.messages import CacheChanged, Failed, FinishReason, Generate, LoadModel, ModelLoaded
from engine.api.sentences import say
from engine.api.settings import LoadSettings, Policy, PolicySettings
from engine.plan.full_cache import FullCacheOption
from tests.app.fake_engine import model_facts, usage
from tests.app.window.settings_hand import dialog, loads

STOP = PolicySettings(policy=Policy.STOP)


@pytest.fixture
def stopping_desk(start_desk, planners, tmp_path):
    """The model is set to stop when its cache is full."""
    path = tmp_path / "Tiny-1B-Q4_K_M.gguf"

    def start(**options):
        preferences = Preferences(setups={str(path): Setup(policy=STOP)}, finish_when_left=True)
        return start_desk(preferences=preferences, answers_by_hand=True, **options)

    return start


def ask(desk, qtbot, text: str) -> Generate:
    desk.send(text)
    qtbot.waitUntil(lambda: desk.engine.request is not None and desk.engine.request.messages[-1].text == text)
    return desk.engine.request


def fill(desk, request: Generate) -> None:
    """The answer to a request fills the cache."""
    desk.engine.post(CacheChanged(usage(request.chat_id, n_used=4096)))
    desk.engine.finish(request, text="I was cut", reason=FinishReason.CACHE_FULL)


def way(desk, which: FullCacheOption) -> QPushButton:
    return dialog(desk).findChild(QPushButton, f"way_{which}")


def own_policy(desk, policy: PolicySettings) -> None:
    chat = desk.program.chat
    chat.set_settings(replace(chat.settings, policy=policy))


def test_a_chat_with_a_policy_of_its_own_goes_on_with_another_and_the_model_keeps_its(start_desk, planners, qtbot):
    desk = start_desk(answers_by_hand=True)
    model_policy = desk.program.settings_panel.applied.policy
    own_policy(desk, replace(STOP, n_sink=9))
    fill(desk, ask(desk, qtbot, "Hello"))
    qtbot.waitUntil(lambda: dialog(desk) is not None)
    way(desk, FullCacheOption.SLIDE).click()
    qtbot.waitUntil(lambda: desk.engine.request.continue_last)
    assert desk.engine.request.policy == PolicySettings(policy=Policy.SINKS, n_sink=9)
    assert desk.program.chat.settings.policy == desk.engine.request.policy
    assert desk.program.settings_panel.applied.policy == model_policy
    assert desk.program.sampling_panel.policy.findChild(QComboBox, "policyInput").currentData() == Policy.SINKS


def test_a_message_that_is_too_long_for_a_chat_that_stops_by_itself_asks_too(start_desk, planners, qtbot):
    desk = start_desk(answers_by_hand=True)
    own_policy(desk, STOP)
    request = ask(desk, qtbot, "A long message")
    desk.engine.post(Failed(request.request_id, ErrorCode.PROMPT_TOO_LONG, say("Too long by 7 tokens.")))
    qtbot.waitUntil(lambda: dialog(desk) is not None)
    said = dialog(desk).findChild(QLabel, "fullWords").text()
    assert said.startswith("The chat with this message takes more than 4,096 cells"), "they are not in use"


def test_a_chat_that_was_left_asks_nothing_of_the_one_that_is_open(stopping_desk, qtbot):
    desk = stopping_desk()
    first = ask(desk, qtbot, "Hello")
    desk.program.actions["new_chat"].trigger()
    fill(desk, first)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert dialog(desk) is None


def test_what_was_chosen_for_one_chat_does_nothing_in_another(stopping_desk, qtbot):
    desk = stopping_desk(loads_by_hand=True, is_loaded=False)
    qtbot.waitUntil(lambda: len(loads(desk)) == 1)
    command = desk.engine.last(LoadModel)
    desk.engine.post(ModelLoaded(command.request_id, model_facts(command.path)))
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    request = ask(desk, qtbot, "A long message")
    desk.engine.post(Failed(request.request_id, ErrorCode.PROMPT_TOO_LONG, say("Too long by 7 tokens.")))
    qtbot.waitUntil(lambda: dialog(desk) is not None)
    qtbot.waitUntil(lambda: way(desk, FullCacheOption.LARGER).isEnabled())
    way(desk, FullCacheOption.LARGER).click()
    qtbot.waitUntil(lambda: len(loads(desk)) == 2)
    desk.program.actions["new_chat"].trigger()
    desk.type("not to be sent yet")
    command = desk.engine.last(LoadModel)
    desk.engine.post(ModelLoaded(command.request_id, model_facts(command.path)))
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.program.composer.text() == "not to be sent yet"
    assert desk.engine.request is request


def test_what_a_way_is_priced_with_is_what_is_loaded(start_desk, planners, qtbot, tmp_path):
    # The engine makes batches no larger than the cells, as in these facts; the next load has more cells.
    asked = LoadSettings(n_ctx=2048, n_batch=1024, n_ubatch=640)
    preferences = Preferences(setups={str(tmp_path / "Tiny-1B-Q4_K_M.gguf"): Setup(asked, STOP)})
    desk = start_desk(preferences=preferences, answers_by_hand=True)
    fill(desk, ask(desk, qtbot, "Hello"))
    qtbot.waitUntil(lambda: dialog(desk) is not None)
    qtbot.waitUntil(lambda: "MiB" in way(desk, FullCacheOption.LARGER).accessibleName())
    larger = next(one.settings for one in planners[0].asked if one.settings.n_ctx == 8192)
    way(desk, FullCacheOption.LARGER).click()
    qtbot.waitUntil(lambda: len(loads(desk)) == 2)
    assert loads(desk)[-1] == larger == replace(asked, n_ctx=8192)

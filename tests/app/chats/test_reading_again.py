"""After a reload the chat is put back into the cache at once, and nobody is kept waiting for it."""

from __future__ import annotations

import pytest

from app.link.status import EngineState
from engine.api.errors import ErrorCode
from engine.api.messages import CacheChanged, Cancel, ChatRestored, Failed, Generate, PrefillProgress, RestoreChat
from engine.api.sentences import say
from engine.api.settings import Policy
from tests.app.fake_engine import usage
from tests.app.window.settings_hand import apply, apply_load, change, dialog


def readings(desk) -> list[RestoreChat]:
    return [command for command in desk.engine.sent if isinstance(command, RestoreChat) and command.evaluate]


@pytest.fixture
def reading_desk(start_desk, planners, qtbot):
    """A chat of one answer, whose model was loaded again: the chat is being read."""
    desk = start_desk(answers_by_hand=True)
    desk.send("Hello")
    request = desk.engine.request
    desk.engine.stream("Hello yourself.")
    desk.engine.post(CacheChanged(usage(request.chat_id)))
    desk.engine.finish(request, "Hello yourself.")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    qtbot.waitUntil(lambda: len(readings(desk)) == 1)
    assert desk.engine.request is request, "nothing is sampled"
    return desk


def test_the_chat_is_read_again_at_once_and_nothing_of_it_is_shown_as_said(reading_desk, qtbot):
    desk = reading_desk
    request, said = readings(desk)[0], desk.say()
    assert request.continue_last
    assert [message.text for message in request.messages] == ["Hello", "Hello yourself."]
    assert desk.program.session.status.state is EngineState.READING
    desk.engine.post(PrefillProgress(request.request_id, 16, 32, 0))
    qtbot.waitUntil(lambda: desk.program.session.status.fraction == 0.5)
    desk.engine.post(CacheChanged(usage(request.chat_id)))
    desk.engine.restored(request.request_id)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.say() == said
    assert desk.program.cache_panel.facts.usage.n_used == 40
    seen = desk.program.cache_panel.facts.stats
    assert (seen.n_generated, seen.ttft_ms) == (0, None)


def test_a_message_sent_while_the_chat_is_read_takes_over(reading_desk, qtbot):
    desk = reading_desk
    first = desk.engine.request
    desk.send("And now?")
    qtbot.waitUntil(lambda: desk.engine.request is not first)
    assert desk.engine.last(Cancel) == Cancel(readings(desk)[0].request_id)
    assert [message.text for message in desk.engine.request.messages] == ["Hello", "Hello yourself.", "And now?"]
    desk.engine.finish(text="Later.")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert not desk.program.chat.requests.is_reading


def test_reading_again_can_be_stopped(reading_desk, qtbot):
    desk = reading_desk
    request = readings(desk)[0]
    desk.engine.post(PrefillProgress(request.request_id, 16, 32, 0))
    assert desk.program.actions["stop"].isEnabled()
    desk.program.actions["stop"].trigger()
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.engine.last(Cancel) == Cancel(request.request_id)
    assert not desk.program.actions["stop"].isEnabled()
    assert desk.program.cache_panel.facts.prefill is None


def test_reading_that_ended_with_the_engine_is_over(reading_desk, qtbot):
    desk = reading_desk
    desk.engine.die(readings(desk)[0].request_id)
    qtbot.waitUntil(lambda: not desk.program.actions["stop"].isEnabled())
    assert not desk.program.chat.requests.is_reading


def test_the_end_of_an_older_restoring_ends_no_reading(reading_desk, qtbot):
    desk = reading_desk
    with qtbot.waitSignal(desk.program.session.event_received):
        desk.engine.post(ChatRestored(0))
    assert desk.program.session.status.state is EngineState.READING
    assert desk.program.chat.requests.is_reading


def test_a_chat_that_does_not_fit_any_more_is_a_matter_for_the_next_message(reading_desk, qtbot):
    desk = reading_desk
    change(desk, policy=Policy.STOP)
    apply(desk)
    desk.engine.post(Failed(readings(desk)[0].request_id, ErrorCode.PROMPT_TOO_LONG, say("Too long by 7 tokens.")))
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert dialog(desk) is None
    assert desk.notices() == []


def test_another_chat_is_not_kept_waiting(reading_desk, qtbot):
    desk = reading_desk
    desk.program.actions["new_chat"].trigger()
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert desk.engine.last(Cancel) == Cancel(readings(desk)[0].request_id)


def test_a_chat_that_was_not_in_the_cache_is_not_read(start_desk, planners, qtbot):
    desk = start_desk()
    desk.send("Hello")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    desk.engine.post(CacheChanged(usage("another chat")))
    request = desk.engine.last(Generate)
    change(desk, n_ctx=2048)
    apply_load(desk, qtbot)
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    assert readings(desk) == []
    assert desk.engine.request is request

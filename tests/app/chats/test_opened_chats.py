"""A warm chat that is opened comes into the cache at once, in silence, and only the last one that was opened."""

from __future__ import annotations

import pytest

from app.link.status import EngineState
from app.store.store import ChatStore
from engine.api.errors import ErrorCode
from engine.api.messages import (
    CacheChanged,
    Cancel,
    ChatRestored,
    ChatTier,
    ChatTiersChanged,
    Failed,
    Generate,
    RestoreChat,
    Tier,
)
from engine.api.sentences import say
from tests.app.fake_engine import usage
from tests.app.store.chats import small


def restores(desk) -> list[str]:
    return [command.chat_id for command in desk.engine.sent if isinstance(command, RestoreChat)]


def cancelled(desk) -> list[int]:
    return [command.request_id for command in desk.engine.sent if isinstance(command, Cancel)]


def tell_warm(desk, qtbot, **tiers: Tier) -> None:
    """The engine says which chats are warm, and the window has heard of it."""
    told = tuple(ChatTier(chat_id, tier, 1 << 20, 100, True) for chat_id, tier in tiers.items())
    desk.engine.post(ChatTiersChanged(told))
    model = desk.program.sidebar.model
    qtbot.waitUntil(lambda: {one for one in "abc" if model.badge(one) is not None} == set(tiers))


def open_chat(desk, chat_id: str) -> None:
    desk.program.sidebar.open_requested.emit(chat_id, None)


@pytest.fixture
def start_with_chats(start_desk, qtbot, tmp_path):
    """A window with the chats a, b and c, none of which is open."""
    store = ChatStore(tmp_path / "chats.db")
    store.add([small("a"), small("b"), small("c")])
    store.close()

    def start(**options):
        desk = start_desk(**options)
        qtbot.waitUntil(lambda: desk.program.sidebar.model.index_of("c").isValid())
        return desk

    return start


@pytest.mark.parametrize("tier", Tier)
def test_a_warm_chat_is_restored_when_it_is_opened_and_a_cold_one_is_not(start_with_chats, qtbot, tier):
    desk = start_with_chats()
    tell_warm(desk, qtbot, a=tier)
    open_chat(desk, "b")
    assert restores(desk) == []
    open_chat(desk, "a")
    assert restores(desk) == ["a"]
    request = desk.engine.last(RestoreChat)
    assert [message.text for message in request.messages] == ["Hi", "Yes"]
    assert request.continue_last
    # Once for each opening: what is told of it later is no reason to do it again.
    tell_warm(desk, qtbot, a=Tier.RAM)
    assert restores(desk) == ["a"]


def test_nothing_but_the_cells_tells_of_it(start_with_chats, qtbot):
    desk = start_with_chats(answers_by_hand=True)
    tell_warm(desk, qtbot, a=Tier.RAM)
    states = []
    desk.program.session.status_changed.connect(lambda status: states.append(status.state))
    open_chat(desk, "a")
    said, request_id = desk.say(), desk.engine.last(RestoreChat).request_id
    assert not desk.program.actions["stop"].isEnabled()
    desk.engine.post(CacheChanged(usage("a")))
    desk.engine.post(ChatRestored(request_id))
    qtbot.waitUntil(lambda: desk.program.cache_panel.facts.usage is not None)
    assert desk.program.cache_panel.facts.usage.chat_id == "a"
    assert desk.program.cache_panel.facts.stats is None
    assert (desk.say(), states, desk.notices()) == (said, [], [])
    # The cells know whose words they hold.
    assert desk.program.chat.turn_id_of(1) == desk.program.transcript.turns[1].id


def test_of_many_chats_gone_through_the_last_one_counts(start_with_chats, qtbot):
    desk = start_with_chats(answers_by_hand=True)
    tell_warm(desk, qtbot, a=Tier.RAM, b=Tier.DISK, c=Tier.RAM)
    for chat_id in "abc":
        open_chat(desk, chat_id)
    requests = [command for command in desk.engine.sent if isinstance(command, RestoreChat)]
    assert [request.chat_id for request in requests] == ["a", "b", "c"]
    assert cancelled(desk) == [request.request_id for request in requests[:2]]
    desk.program.actions["new_chat"].trigger()
    assert cancelled(desk) == [request.request_id for request in requests]


def test_a_message_sent_meanwhile_goes_out_at_once_and_does_not_stop_it(start_with_chats, qtbot):
    desk = start_with_chats(answers_by_hand=True)
    tell_warm(desk, qtbot, a=Tier.DISK)
    open_chat(desk, "a")
    desk.send("And now?")
    assert isinstance(desk.engine.sent[-1], Generate)
    assert not cancelled(desk)


def test_it_waits_for_an_answer_that_was_left(start_with_chats, qtbot):
    desk = start_with_chats(answers_by_hand=True)
    tell_warm(desk, qtbot, a=Tier.RAM)
    desk.program.store.update(finish_when_left=True)
    desk.send("Hello")
    open_chat(desk, "a")
    assert restores(desk) == []
    desk.engine.finish(text="Hello yourself.")
    qtbot.waitUntil(lambda: restores(desk) == ["a"])


def test_it_waits_for_the_model_and_for_what_the_engine_says_of_it(start_with_chats, qtbot):
    desk = start_with_chats(is_loaded=False, loads_by_hand=True)
    open_chat(desk, "a")
    assert restores(desk) == []
    desk.engine.loads_by_hand = False
    desk.program.loader.open(desk.program.session.status.model_path or "")
    desk.engine.post(ChatTiersChanged((ChatTier("a", Tier.DISK, 1 << 20, 100, True),)))
    qtbot.waitUntil(lambda: restores(desk) == ["a"])
    assert desk.program.session.status.state is EngineState.READY


def test_a_chat_whose_answer_was_asked_for_is_not_restored_over_it(start_with_chats, qtbot):
    desk = start_with_chats()
    open_chat(desk, "a")
    desk.send("And now?")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    tell_warm(desk, qtbot, a=Tier.ACTIVE)
    assert restores(desk) == []


def test_one_that_fails_is_a_matter_for_the_next_message(start_with_chats, qtbot):
    desk = start_with_chats(answers_by_hand=True)
    tell_warm(desk, qtbot, a=Tier.RAM, b=Tier.RAM)
    open_chat(desk, "a")
    failed = Failed(
        desk.engine.last(RestoreChat).request_id, ErrorCode.TEMPLATE_FAILED, say("The template has no end.")
    )
    desk.engine.post(failed)
    with qtbot.waitSignal(desk.program.session.event_received):
        desk.engine.post(ChatTiersChanged(()))
    assert desk.notices() == []
    open_chat(desk, "b")
    assert not cancelled(desk), "it was over"

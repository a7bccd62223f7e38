"""Cells of the cache lead to their messages, and messages show what has left the cache."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.transcript.turns import Visibility
from engine.api.messages import CacheChanged, Span, SpanState
from tests.app.fake_engine import usage


@pytest.fixture
def desk(start_desk, planners):
    return start_desk()


def talk(desk, qtbot) -> None:
    desk.send("Hello")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)


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
    desk.program.loader.unload()
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
    qtbot.waitUntil(lambda: desk.program.chats.saver.is_idle)
    desk.program.chats.open(chat_id)
    assert seen() == [Visibility.NONE, Visibility.PARTLY]
    desk.program.loader.unload()
    qtbot.waitUntil(lambda: seen() == [Visibility.ALL, Visibility.ALL])

"""The open chat: turns, one answer at a time, and what an end of any kind leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.turns import TurnState
from app.conversation import Conversation, plain_text
from engine.messages import Finished, FinishReason, Message, TextGenerated, TextKind
from tests.app.fake_engine import stats


def finished(
    request_id: int, text: str, reason: FinishReason = FinishReason.END_OF_TURN, ids=(1, 2), reasoning=""
) -> Finished:
    return Finished(request_id, reason, stats(), text, reasoning, ids)


def answered(question: str = "Hello", answer: str = "Hi") -> Conversation:
    chat = Conversation("c")
    chat.add_user(question)
    chat.begin_answer(1)
    chat.receive(TextGenerated(1, TextKind.ANSWER, answer))
    chat.finish(finished(1, answer))
    return chat


def test_an_answer_keeps_the_ids_it_was_sampled_as():
    chat = answered()
    assert chat.messages("") == (Message("user", "Hello"), Message("assistant", "Hi", token_ids=(1, 2)))
    assert chat.last.state is TurnState.DONE
    assert chat.last.stats == stats()


def test_a_system_prompt_stands_first_unless_it_is_blank():
    chat = answered()
    assert chat.messages("Be brief.")[0] == Message("system", "Be brief.")
    assert chat.turn_ids("Be brief.")[0] is None
    assert len(chat.messages(" \n")) == len(chat.turn_ids(" \n")) == 2


def test_events_of_another_request_change_nothing():
    chat = Conversation("c")
    chat.add_user("Hello")
    chat.begin_answer(7)
    assert chat.receive(TextGenerated(6, TextKind.ANSWER, "old")) is None
    assert chat.finish(finished(6, "old")) is None
    assert chat.fail(6) is None
    assert chat.request_id == 7


def test_an_answer_that_breaks_off_keeps_what_was_streamed():
    chat = Conversation("c")
    chat.add_user("Hello")
    chat.begin_answer(1)
    chat.receive(TextGenerated(1, TextKind.REASONING, "Hm."))
    chat.receive(TextGenerated(1, TextKind.ANSWER, "I was ab"))
    turn = chat.fail(1)
    assert turn.state is TurnState.FAILED
    assert chat.last.message == Message("assistant", "I was ab", "Hm.")
    assert chat.request_id is None


def test_an_answer_without_a_word_leaves_the_chat():
    chat = Conversation("c")
    chat.add_user("Hello")
    chat.begin_answer(1)
    assert chat.fail(1).is_empty
    assert [turn.message.role for turn in chat.turns] == ["user"]
    assert chat.can_answer()
    assert not chat.can_continue()


def test_a_continued_answer_is_one_message_with_all_its_ids():
    chat = answered(answer="One, ")
    chat.begin_continuation(2)
    chat.receive(TextGenerated(2, TextKind.ANSWER, "two"))
    chat.finish(finished(2, "two", ids=(3,)))
    assert chat.last.message == Message("assistant", "One, two", token_ids=(1, 2, 3))
    assert len(chat.turns) == 2


def test_a_continuation_that_fails_at_once_changes_nothing():
    chat = answered(answer="One")
    chat.begin_continuation(2)
    chat.fail(2)
    assert chat.last.message == Message("assistant", "One", token_ids=(1, 2))


def test_text_without_ids_is_read_again_by_its_text():
    chat = Conversation("c")
    chat.add_user("Hello")
    chat.begin_answer(1)
    chat.receive(TextGenerated(1, TextKind.ANSWER, "cut"))
    chat.finish(finished(1, "cut", FinishReason.STOP_STRING, ids=()))
    assert chat.last.message.token_ids is None
    chat.begin_continuation(2)
    chat.receive(TextGenerated(2, TextKind.ANSWER, " on"))
    chat.finish(finished(2, " on", ids=(5,)))
    assert chat.last.message == Message("assistant", "cut on", token_ids=None)


def test_another_model_gets_text_only():
    chat = answered()
    chat.forget_token_ids()
    assert all(message.token_ids is None for message in chat.messages(""))


def test_removing_takes_all_that_follows():
    chat = answered()
    first = chat.turns[0]
    assert [turn.message.role for turn in chat.remove_from(first.id)] == ["user", "assistant"]
    assert not chat.turns
    assert chat.remove_from(99) == ()


def test_a_chat_as_markdown():
    names = {"user": "You", "assistant": "Assistant"}
    assert plain_text(answered().turns, names) == "**You**\n\nHello\n\n**Assistant**\n\nHi"


@given(st.lists(st.sampled_from(["ask", "text", "old text", "finish", "old finish", "fail", "continue", "remove"])))
def test_a_request_ends_once_and_no_word_is_lost(steps):
    chat = Conversation("c")
    request_id, ends, words = 0, 0, ""
    for step in steps:
        if step == "ask" and chat.request_id is None:
            chat.add_user("question")
            request_id += 1
            words = ""
            chat.begin_answer(request_id)
        elif step == "continue" and chat.can_continue():
            request_id += 1
            words = chat.last.message.text
            chat.begin_continuation(request_id)
        elif step == "text" and chat.request_id is not None:
            chat.receive(TextGenerated(request_id, TextKind.ANSWER, "word "))
            words += "word "
        elif step == "old text":
            assert chat.receive(TextGenerated(request_id - 1, TextKind.ANSWER, "lost ")) is None
        elif step == "old finish":
            assert chat.finish(finished(request_id - 1, "lost")) is None
        elif step == "remove" and chat.turns and chat.request_id is None:
            chat.remove_from(chat.turns[-1].id)
        elif step in ("finish", "fail") and request_id:
            was_open = chat.request_id is not None
            ended = chat.fail(request_id) if step == "fail" else chat.finish(finished(request_id, words))
            assert (ended is not None) == was_open
            if was_open:
                ends += 1
                assert ended.message.text == words
    assert ends <= request_id


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_only_an_answer_can_go_on(role):
    chat = answered()
    if role == "user":
        chat.add_user("And?")
    assert chat.can_continue() == (role == "assistant")

"""The open chat: turns, one answer at a time, and what an end of any kind leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.conversation import Conversation, plain_text
from app.store.records import Turn, TurnState
from engine.api.messages import Finished, FinishReason, Message, TextGenerated, TextKind
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


def test_ids_out_of_a_file_stay_foreign_when_the_answer_goes_on():
    begun = Message("assistant", "One, ", token_ids=(1, 2), has_foreign_ids=True)
    chat = Conversation("c", [Turn(1, Message("user", "Hi")), Turn(2, begun, parent=1, model="m")], "m")
    chat.begin_continuation(2)
    chat.receive(TextGenerated(2, TextKind.ANSWER, "two"))
    chat.finish(finished(2, "two", ids=(3,)))
    assert chat.last.message == Message("assistant", "One, two", token_ids=(1, 2, 3), has_foreign_ids=True)
    assert chat.messages("")[1].has_foreign_ids


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
    chat.model = "/models/other.gguf"
    assert all(message.token_ids is None for message in chat.messages(""))


def test_removing_takes_all_that_follows():
    chat = answered()
    first = chat.turns[0]
    assert [turn.message.role for turn in chat.delete(first.id)] == ["user", "assistant"]
    assert not chat.turns
    assert chat.delete(99) == ()


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
            chat.delete(chat.turns[-1].id)
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


def test_another_answer_is_another_version():
    chat = answered(answer="One")
    first = chat.last
    chat.branch_at(first.id)
    chat.begin_answer(2)
    chat.receive(TextGenerated(2, TextKind.ANSWER, "Two"))
    chat.finish(finished(2, "Two"))
    second = chat.last
    assert [turn.message.text for turn in chat.turns] == ["Hello", "Two"]
    assert (chat.version_of(first.id), chat.version_of(second.id)) == ((1, 2), (2, 2))
    chat.add_user("Then?")
    assert chat.show_version(second.id, -1) == first.id
    assert [turn.message.text for turn in chat.turns] == ["Hello", "One"]
    assert chat.show_version(first.id, -1) is None
    assert chat.show_version(first.id, 1) == second.id
    assert [turn.message.text for turn in chat.turns] == ["Hello", "Two", "Then?"], "what follows comes back too"


def test_a_version_that_never_came_gives_the_old_one_back():
    chat = answered(answer="One")
    chat.branch_at(chat.last.id)
    chat.begin_answer(2)
    assert chat.fail(2).is_empty
    assert [turn.message.text for turn in chat.turns] == ["Hello", "One"]


def test_a_deletion_can_be_undone():
    chat = answered(answer="One")
    chat.branch_at(chat.last.id)
    chat.begin_answer(2)
    chat.receive(TextGenerated(2, TextKind.ANSWER, "Two"))
    chat.finish(finished(2, "Two"))
    before = chat.kept_turns()
    removed = chat.delete(chat.last.id)
    assert [turn.message.text for turn in chat.turns] == ["Hello", "One"]
    chat.restore(removed)
    assert chat.kept_turns() == before
    assert [turn.message.text for turn in chat.turns] == ["Hello", "Two"]


def test_a_turn_of_any_version_is_shown():
    chat = answered(answer="One")
    first = chat.last
    chat.branch_at(chat.turns[0].id)
    chat.add_user("Other question")
    assert chat.show_turn(first.id)
    assert [turn.message.text for turn in chat.turns] == ["Hello", "One"]
    assert not chat.show_turn(5)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ask", "text", "finish", "fail", "branch", "page", "delete", "undo", "keep"]),
            st.integers(0, 5),
        )
    )
)
def test_what_is_kept_is_the_chat(steps):
    """A copy fed with the changes alone, as the store is, opens as the same chat."""
    chat, request_id, kept, removed = Conversation("c"), 0, {}, ()
    for step, number in steps:
        turns = chat.turns
        picked = turns[number % len(turns)] if turns else None
        if step == "ask" and chat.request_id is None:
            chat.add_user(f"question {number}")
            request_id += 1
            chat.begin_answer(request_id)
        elif step == "text":
            chat.receive(TextGenerated(request_id, TextKind.ANSWER, f"word{number} "))
        elif step in ("finish", "fail") and chat.request_id is not None:
            chat.fail(request_id) if step == "fail" else chat.finish(finished(request_id, ""))
        elif step == "branch" and picked and chat.request_id is None:
            chat.branch_at(picked.id)
            chat.add_user("branch")
        elif step == "page" and picked and chat.request_id is None:
            chat.show_version(picked.id, 1 if number % 2 else -1)
        elif step == "delete" and picked and chat.request_id is None:
            removed = chat.delete(picked.id)
        elif step == "undo" and removed and chat.request_id is None:
            if removed[0].parent is None or chat.turn(removed[0].parent):
                chat.restore(removed)
            removed = ()
        elif step == "keep":
            take(chat, kept)
    take(chat, kept)
    copy = Conversation("c", kept.values())
    assert copy.kept_turns() == chat.kept_turns()
    assert [turn.id for turn in copy.turns] == [turn.id for turn in chat.turns]


def take(chat, kept):
    changes = chat.take_changes()
    kept.update({turn.id: turn for turn in changes.saved})
    for turn_id in changes.deleted:
        kept.pop(turn_id, None)

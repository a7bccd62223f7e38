"""A prompt that ends with an answer to go on with."""

from __future__ import annotations

import pytest

from engine.api.chat import Message
from tests.engine.text.prompts import build, odd_answer, turns_of
from tests.engine.text.templates import MODELS, model


@pytest.mark.parametrize("name", MODELS)
def test_a_continued_answer_ends_the_prompt(name: str) -> None:
    chat = model(name)
    asked = build(chat, Message("user", "Hi"))
    answer = odd_answer(chat, after=(" ",))
    prompt = build(chat, Message("user", "Hi"), answer, continue_last=True)
    assert prompt.tokens == asked.tokens + (answer.token_ids or ())
    assert prompt.turns[-1].message_index == 1
    assert prompt.turns[-1].start == asked.turns[-1].start


def test_a_continued_answer_without_ids_is_text() -> None:
    chat = model("smollm")
    prompt = build(chat, Message("user", "Hi"), Message("assistant", "he<|im_end|>"), continue_last=True)
    assert turns_of(chat, prompt)[-1] == ("assistant", 1, "<|im_start|>assistant\nhe<|im_end|>")
    assert chat.vocabulary.control_in(prompt.tokens)[-1] == "<|im_start|>"


@pytest.mark.parametrize(
    ("name", "text", "end"),
    [
        ("qwen3", "", "<|im_start|>assistant\n<think>\nhm"),
        ("qwen3", "Hi", "<|im_start|>assistant\n<think>\nhm\n</think>\n\nHi"),
        ("r1", "", "<｜Assistant｜><think>\nhm"),
        ("r1", "Hi", "<｜Assistant｜><think>\nhm\n</think>\n\nHi"),
    ],
)
def test_reasoning_that_was_interrupted_goes_on_inside_its_block(name: str, text: str, end: str) -> None:
    chat = model(name)
    answer = Message("assistant", text, reasoning="hm")
    prompt = build(chat, Message("user", "Hi"), answer, continue_last=True)
    assert turns_of(chat, prompt)[-1][2] == end
    assert "<think>" in chat.vocabulary.control_in(prompt.tokens)


@pytest.mark.parametrize(
    ("name", "generated", "text", "reasoning", "is_reasoning"),
    [
        ("qwen3", "<think>hm", "", "hm", True),
        ("qwen3", "<think>hm</think>Hi", "Hi", "hm", False),
        ("r1", "hm", "", "hm", True),
        ("r1", "hm</think>Hi", "Hi", "hm", False),
    ],
)
@pytest.mark.parametrize("has_ids", [True, False])
def test_whether_a_continued_answer_still_reasons_is_known(
    name: str, generated: str, text: str, reasoning: str, is_reasoning: bool, has_ids: bool
) -> None:
    chat = model(name)
    ids = tuple(chat.vocabulary.tokenize(generated, parse_special=False)) if has_ids else None
    answer = Message("assistant", text, reasoning, ids)
    assert build(chat, Message("user", "Hi"), answer, continue_last=True).reasoning_opened is is_reasoning


@pytest.mark.parametrize("text", ["there", "hello there friend", "hello"])
def test_an_answer_that_was_edited_goes_on_from_the_edited_text(text: str) -> None:
    chat = model("smollm")
    answer = Message("assistant", text, token_ids=odd_answer(chat).token_ids)
    prompt = build(chat, Message("user", "Hi"), answer, continue_last=True)
    assert turns_of(chat, prompt)[-1][2] == f"<|im_start|>assistant\n{text}"


def test_an_answer_of_which_no_ids_are_known_goes_on_from_its_text() -> None:
    chat = model("smollm")
    prompt = build(chat, Message("user", "Hi"), Message("assistant", "there", token_ids=()), continue_last=True)
    assert turns_of(chat, prompt)[-1][2] == "<|im_start|>assistant\nthere"


def test_only_an_answer_can_be_continued() -> None:
    with pytest.raises(ValueError, match="answer"):
        build(model("smollm"), Message("user", "Hi"), continue_last=True)

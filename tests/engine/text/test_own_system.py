"""A system prompt that a template writes by itself, where the chat has none."""

from __future__ import annotations

import pytest

from engine.api.chat import Message
from tests.engine.text.prompts import SYSTEM, build, turns_of
from tests.engine.text.templates import MODELS, WITH_OWN_SYSTEM, model

HELLO = Message("user", "hello")
LATER = (Message("assistant", "Hi!"), Message("user", "more"))


@pytest.mark.parametrize(
    ("name", "own", "rest"),
    [
        ("smollm", "<|im_start|>system\nYou help.<|im_end|>\n", "<|im_start|>user\nhello<|im_end|>\n"),
        ("vicuna", "A chat with an assistant.\n\n", "USER: hello\n"),
        # The last answer of a chat ends with <|return|>, one that others follow as a system prompt does.
        ("gpt_oss", "<|start|>system<|message|>You help.<|end|>", "<|start|>user<|message|>hello<|end|>"),
        # Where a system prompt of the person's is written into the first question, so is the template's own.
        ("llama2_default", "<s> [INST] <<SYS>>\nYou help.\n<</SYS>>\n\n", "hello [/INST]"),
    ],
)
@pytest.mark.parametrize("later", [(), LATER])
def test_it_is_a_turn_of_its_own(name: str, own: str, rest: str, later: tuple[Message, ...]) -> None:
    chat = model(name)
    turns = turns_of(chat, build(chat, HELLO, *later))
    assert turns[:2] == [("system", None, own), ("user", 0, rest)]
    assert [index for _, index, _ in turns] == [None, *range(1 + len(later)), None]


def test_it_is_apart_from_an_answer_that_begins_the_chat() -> None:
    chat = model("smollm")
    prompt = build(chat, *LATER)
    assert [(turn.role, turn.message_index) for turn in prompt.turns] == [
        ("system", None),
        ("assistant", 0),
        ("user", 1),
        ("assistant", None),
    ]


@pytest.mark.parametrize("name", [name for name in MODELS if name not in WITH_OWN_SYSTEM])
@pytest.mark.parametrize("later", [(), LATER])
def test_marks_before_a_first_question_are_none(name: str, later: tuple[Message, ...]) -> None:
    prompt = build(model(name), HELLO, *later)
    assert [turn.message_index for turn in prompt.turns] == [*range(1 + len(later)), None]


@pytest.mark.parametrize("name", MODELS)
def test_there_is_none_beside_that_of_the_person(name: str) -> None:
    prompt = build(model(name), SYSTEM, HELLO)
    assert [(turn.role, turn.message_index) for turn in prompt.turns] == [
        ("system", 0),
        ("user", 1),
        ("assistant", None),
    ]

"""Prompts built for tests, and what is read from them."""

from __future__ import annotations

from engine.api.chat import Message, Prompt
from engine.text.prompt import build_prompt
from tests.engine.text.templates import Model

SYSTEM = Message("system", "Be brief.")


def build(model: Model, *messages: Message, continue_last: bool = False) -> Prompt:
    prompt = build_prompt(model.vocabulary, model.template, messages, continue_last=continue_last)
    assert [turn.start for turn in prompt.turns] == [0, *(turn.end for turn in prompt.turns[:-1])]
    assert prompt.turns[-1].end == len(prompt.tokens)
    return prompt


def turns_of(model: Model, prompt: Prompt) -> list[tuple[str, int | None, str]]:
    return [
        (turn.role, turn.message_index, model.vocabulary.text_of(prompt.tokens[turn.start : turn.end]))
        for turn in prompt.turns
    ]


ODD_IDS = ("he", "l", "lo", " ", "there")
"""Tokens that read “hello there”, which would be tokenized otherwise."""


def odd_answer(chat: Model, before: tuple[str, ...] = (), after: tuple[str, ...] = ()) -> Message:
    spellings = (*before, *ODD_IDS, *after)
    ids = tuple(chat.vocabulary.id_of(spelling) for spelling in spellings)
    return Message("assistant", "".join(spellings), token_ids=ids)


def contains(tokens: tuple[int, ...], ids: tuple[int, ...]) -> bool:
    return any(tokens[n : n + len(ids)] == ids for n in range(len(tokens)))

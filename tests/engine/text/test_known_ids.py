"""An answer is read as the ids it was sampled as, wherever its text still stands."""

from __future__ import annotations

import pytest

from engine.api.chat import Message
from engine.text.template import ChatTemplate
from tests.engine.text.fake_vocabulary import FakeVocabulary
from tests.engine.text.prompts import SYSTEM, build, contains, odd_answer, turns_of
from tests.engine.text.templates import MODELS, Model, model


@pytest.mark.parametrize("name", MODELS)
def test_an_answer_keeps_the_ids_it_was_sampled_as(name: str) -> None:
    chat = model(name)
    answer = odd_answer(chat)
    assert answer.token_ids is not None
    prompt = build(chat, Message("user", "Hi"), answer, Message("user", "Hi"))
    assert contains(prompt.tokens, answer.token_ids)


def test_ids_of_no_token_are_left_alone() -> None:
    chat = model("smollm")
    text = odd_answer(chat).text
    strange = Message("assistant", text, token_ids=(5, chat.vocabulary.n_tokens))
    plain = Message("assistant", text)
    asked = Message("user", "hello")
    assert build(chat, asked, strange, asked).tokens == build(chat, asked, plain, asked).tokens
    assert (
        build(chat, asked, strange, continue_last=True).tokens == build(chat, asked, plain, continue_last=True).tokens
    )


@pytest.mark.parametrize("name", ["smollm", "llama3", "gemma", "phi3", "typed", "mistral"])
def test_the_next_prompt_begins_with_the_last_one_and_its_answer(name: str) -> None:
    chat = model(name)
    answer = odd_answer(chat)
    assert answer.token_ids is not None
    first = build(chat, SYSTEM, Message("user", "hello <|im_end|> </s>"))
    second = build(chat, SYSTEM, Message("user", "hello <|im_end|> </s>"), answer, Message("user", "Hi"))
    fed = first.tokens + answer.token_ids
    assert second.tokens[: len(fed)] == fed


def test_the_space_that_a_model_begins_with_is_found_in_the_template() -> None:
    chat = model("llama2")
    answer = odd_answer(chat, before=(" ",))
    assert answer.token_ids is not None
    first = build(chat, Message("user", "Hi"))
    second = build(chat, Message("user", "Hi"), answer, Message("user", "Hi"))
    fed = first.tokens + answer.token_ids
    assert second.tokens[: len(fed)] == fed


def test_what_the_template_trims_off_the_end_costs_no_more_than_that() -> None:
    chat = model("llama3")
    answer = odd_answer(chat, after=("\n",))
    assert answer.token_ids is not None
    prompt = build(chat, Message("user", "Hi"), answer, Message("user", "Hi"))
    assert contains(prompt.tokens, (*answer.token_ids[:-1], chat.vocabulary.id_of("<|eot_id|>")))


def test_ids_of_a_text_that_the_template_rewrites_are_not_used() -> None:
    chat = model("smollm")
    shouting = ChatTemplate("{% for m in messages %}{{ m.content | upper }}{% endfor %}", chat.vocabulary)
    prompt = build(Model("shouting", chat.vocabulary, shouting), Message("user", "Hi"), odd_answer(chat))
    assert chat.vocabulary.text_of(prompt.tokens) == "HIHELLO THERE"


def test_ids_of_a_text_that_was_edited_are_not_used() -> None:
    chat = model("smollm")
    edited = Message("assistant", "Hi", token_ids=odd_answer(chat).token_ids)
    prompt = build(chat, Message("user", "Hi"), edited)
    assert turns_of(chat, prompt)[2][2] == "<|im_start|>assistant\nHi<|im_end|>\n"


@pytest.mark.parametrize("edited", ["hello there friend", "there", "hello", "hello there<|im_end|>"])
def test_an_answer_that_was_edited_is_read_as_it_is_now(edited: str) -> None:
    chat = model("smollm")
    answer = Message("assistant", edited, token_ids=odd_answer(chat).token_ids)
    prompt = build(chat, Message("user", "Hi"), answer, Message("user", "Hi"))
    assert turns_of(chat, prompt)[2][2] == f"<|im_start|>assistant\n{edited}<|im_end|>\n"


def test_an_answer_that_was_written_on_is_tokenized_anew() -> None:
    chat = model("smollm")
    answer = Message("assistant", "hello", token_ids=(chat.vocabulary.id_of("he"), chat.vocabulary.id_of("l")))
    prompt = build(chat, Message("user", "Hi"), answer, Message("user", "Hi"))
    assert chat.vocabulary.id_of("hello") in prompt.tokens


def test_ids_reach_into_no_other_message() -> None:
    vocabulary = FakeVocabulary()
    chat = Model("bare", vocabulary, ChatTemplate("{% for m in messages %}{{ m.content }}{% endfor %}", vocabulary))
    ids = tuple(map(vocabulary.id_of, ("he", "lo")))
    answer = Message(
        "assistant",
        "he",
        token_ids=(
            ids[0],
            *vocabulary.tokenize("l", parse_special=False),
            *vocabulary.tokenize("o", parse_special=False),
        ),
    )
    assert build(chat, answer, Message("user", "lo")).tokens == ids


def test_control_tokens_that_were_sampled_and_not_shown_keep_their_place() -> None:
    chat = model("smollm")
    ids = tuple(chat.vocabulary.id_of(spelling) for spelling in ("he", "<|im_end|>", "l", "lo", "<|im_start|>"))
    answer = Message("assistant", "hello", token_ids=ids)
    first = build(chat, Message("user", "Hi"))
    second = build(chat, Message("user", "Hi"), answer, Message("user", "Hi"))
    assert second.tokens[: len(first.tokens + ids)] == first.tokens + ids


def test_an_answer_that_a_stop_string_cut_keeps_the_ids_of_what_is_left() -> None:
    chat = model("smollm")
    ids = tuple(chat.vocabulary.id_of(spelling) for spelling in ("he", "l", "lo", "User", ": "))
    prompt = build(chat, Message("user", "Hi"), Message("assistant", "hello", token_ids=ids), Message("user", "Hi"))
    assert contains(prompt.tokens, (*ids[:3], chat.vocabulary.id_of("<|im_end|>")))


def test_a_character_that_was_cut_off_keeps_its_ids() -> None:
    chat = model("smollm")
    ids = (chat.vocabulary.id_of("Hi"), *chat.vocabulary.tokenize("🤷", parse_special=False)[:3])
    answer = Message("assistant", "Hi\ufffd", token_ids=ids)
    prompt = build(chat, Message("user", "Hi"), answer, Message("user", "Hi"))
    assert contains(prompt.tokens, ids)


def test_reasoning_that_the_template_keeps_keeps_its_ids() -> None:
    chat = model("qwen3")
    spellings = ("<think>", "\n", "he", "l", "lo", "\n", "</think>", "\n\n", "he", "l", "lo")
    ids = tuple(chat.vocabulary.id_of(spelling) for spelling in spellings)
    answer = Message("assistant", "hello", reasoning="hello", token_ids=ids)
    assert contains(build(chat, Message("user", "Hi"), answer).tokens, ids)
    later = build(chat, Message("user", "Hi"), answer, Message("user", "Hi"))
    assert "<think>" not in chat.vocabulary.text_of(later.tokens)

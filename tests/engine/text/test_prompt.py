"""Prompts: turns, shapes a template accepts, and BOS."""

from __future__ import annotations

import pytest

from engine.api.chat import Message, Prompt, PromptNoticeCode
from engine.api.errors import EngineError, ErrorCode
from engine.text.prompt import build_prompt
from engine.text.template import ChatTemplate, load_template
from tests.engine.text.fake_vocabulary import FakeVocabulary
from tests.engine.text.prompts import SYSTEM, build, turns_of
from tests.engine.text.templates import MODELS, Model, model

CHAT = (
    SYSTEM,
    Message("user", "hello there"),
    Message("assistant", "Hi!"),
    Message("user", "  say\n\nmore\n"),
    Message("assistant", "more"),
    Message("user", "thanks"),
)


def codes(prompt: Prompt) -> list[PromptNoticeCode]:
    return [notice.code for notice in prompt.notices]


# --- turns ---


@pytest.mark.parametrize("name", MODELS)
def test_every_message_and_the_generation_prompt_is_a_turn_with_its_own_text(name: str) -> None:
    chat = model(name)
    prompt = build(chat, *CHAT)
    turns = turns_of(chat, prompt)
    assert [index for _, index, _ in turns] == [0, 1, 2, 3, 4, 5, None]
    assert [role for role, _, _ in turns] == [*(message.role for message in CHAT), "assistant"]
    for (_, _, text), message in zip(turns, CHAT, strict=False):
        assert message.text.strip() in text
        assert not any(other.text.strip() in text for other in CHAT if other.text.strip() not in message.text)


@pytest.mark.parametrize(
    ("name", "turn", "text"),
    [
        ("smollm", 1, "<|im_start|>user\nhello there<|im_end|>\n"),
        ("smollm", 2, "<|im_start|>assistant\nHi!<|im_end|>\n"),
        ("smollm", 6, "<|im_start|>assistant\n"),
        ("llama3", 0, "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"),
        ("llama3", 4, "<|start_header_id|>assistant<|end_header_id|>\n\nmore<|eot_id|>"),
        ("gemma", 0, "<bos><start_of_turn>user\nBe brief.\n\n"),
        ("gemma", 1, "hello there<end_of_turn>\n"),
        ("gemma", 6, "<start_of_turn>model\n"),
        ("mistral", 2, " Hi!</s>"),
        ("mistral", 6, ""),
        ("llama2", 1, "hello there [/INST]"),
        ("r1", 2, "<｜Assistant｜>Hi!<｜end▁of▁sentence｜>"),
        ("r1", 6, "<｜Assistant｜><think>\n"),
        # Its template writes an end of text where a chat ends, which is no part of any turn.
        ("phi3", 2, "<|assistant|> \nHi!<|end|> \n"),
        ("phi3", 6, "<|assistant|> \n"),
        ("qwen3", 4, "<|im_start|>assistant\nmore<|im_end|>\n"),
    ],
)
def test_a_turn_has_the_template_tokens_around_its_message(name: str, turn: int, text: str) -> None:
    chat = model(name)
    assert turns_of(chat, build(chat, *CHAT))[turn][2] == text


@pytest.mark.parametrize("name", ["smollm", "llama3", "qwen3", "r1", "typed"])
def test_the_whole_is_tokenized_as_the_template_wrote_it(name: str) -> None:
    chat = model(name)
    prompt = build(chat, *CHAT)
    rendered = chat.vocabulary.text_of(prompt.tokens)
    assert list(prompt.tokens) == chat.vocabulary.tokenize(rendered, parse_special=True)


def test_a_message_without_text_joins_the_turn_before_it() -> None:
    chat = model("smollm")
    prompt = build(chat, Message("user", "hello"), Message("assistant", ""), Message("user", "there"))
    assert [turn.message_index for turn in prompt.turns] == [None, 0, 2, None]


def test_no_messages_are_only_a_generation_prompt() -> None:
    chat = model("smollm")
    assert turns_of(chat, build(chat)) == [("assistant", None, "<|im_start|>assistant\n")]


def test_a_border_inside_a_token_belongs_to_the_earlier_turn() -> None:
    vocabulary = FakeVocabulary()
    source = (
        "{% for m in messages %}{{ m.content + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '\n' }}{% endif %}"
    )
    chat = Model("joins", vocabulary, ChatTemplate(source, vocabulary))
    assert turns_of(chat, build(chat, Message("user", "Hi"))) == [
        ("user", 0, "Hi\n\n"),
        ("assistant", None, ""),
    ]


def test_turns_are_found_where_the_tokenizer_drops_blank_space() -> None:
    chat = model("phi3")
    control = ("<|user|>", "<|assistant|>", "<|system|>", "<|end|>", "<|endoftext|>")
    stripping = Model("strips", FakeVocabulary(control, strips_right=True), chat.template)
    assert [text for _, _, text in turns_of(stripping, build(stripping, *CHAT))] == [
        "<|system|>Be brief.<|end|>",
        "<|user|>hello there<|end|>",
        "<|assistant|>Hi!<|end|>",
        "<|user|>say\n\nmore\n<|end|>",
        "<|assistant|>more<|end|>",
        "<|user|>thanks<|end|>",
        "<|assistant|>",
    ]


def test_turns_are_found_in_a_long_chat_with_few_renderings() -> None:
    chat = model("qwen3")
    messages = [Message(("user", "assistant")[n % 2], f"text {n}", reasoning=f"why {n}" * (n % 2)) for n in range(301)]
    prompt = build(chat, *messages)
    assert [turn.message_index for turn in prompt.turns] == [*range(301), None]
    assert all(text.count("<|im_start|>") == 1 for _, _, text in turns_of(chat, prompt))


# --- shapes ---


@pytest.mark.parametrize("name", ["gemma", "mistral", "drops_system"])
def test_a_refused_or_dropped_system_prompt_begins_the_first_user_turn(name: str) -> None:
    chat = model(name)
    prompt = build(chat, SYSTEM, Message("user", "hello"))
    assert codes(prompt) == [PromptNoticeCode.SYSTEM_MOVED]
    assert "Be brief.\n\nhello" in chat.vocabulary.text_of(prompt.tokens)


@pytest.mark.parametrize("name", ["smollm", "llama2", "llama3", "qwen3", "r1", "phi3", "typed"])
def test_a_system_prompt_that_the_template_takes_is_left_where_it_is(name: str) -> None:
    assert codes(build(model(name), SYSTEM, Message("user", "hello"))) == []


@pytest.mark.parametrize("name", ["gemma", "mistral", "llama2"])
def test_messages_of_one_side_are_joined_where_roles_must_alternate(name: str) -> None:
    chat = model(name)
    prompt = build(chat, Message("user", "one"), Message("user", "two"), Message("assistant", "three"))
    assert codes(prompt) == [PromptNoticeCode.TURNS_MERGED]
    assert "one\n\ntwo" in chat.vocabulary.text_of(prompt.tokens)
    assert [turn.message_index for turn in prompt.turns] == [0, 2, None]


@pytest.mark.parametrize("name", MODELS)
def test_a_chat_may_begin_with_an_answer(name: str) -> None:
    chat = model(name)
    prompt = build(chat, Message("assistant", "welcome"), Message("user", "hello"))
    text = chat.vocabulary.text_of(prompt.tokens)
    assert text.index("welcome") < text.index("hello")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("after", [(), (Message("user", "three"),)])
def test_a_system_message_in_the_middle_or_at_the_end_is_kept(name: str, after: tuple[Message, ...]) -> None:
    chat = model(name)
    prompt = build(chat, Message("user", "one"), Message("assistant", "two"), SYSTEM, *after)
    assert "Be brief." in chat.vocabulary.text_of(prompt.tokens)


def test_a_template_that_takes_no_shape_is_one_sentence() -> None:
    chat = model("smollm")
    template = ChatTemplate("{{ raise_exception('no') }}", chat.vocabulary)
    with pytest.raises(EngineError) as caught:
        build_prompt(chat.vocabulary, template, [Message("user", "hello")])
    assert caught.value.code is ErrorCode.TEMPLATE_FAILED
    assert caught.value.detail == "TemplateError: no"


# --- BOS ---


@pytest.mark.parametrize("template_writes_it", [True, False])
@pytest.mark.parametrize("add_bos", [True, False])
def test_bos_is_there_once_where_it_is_wanted(template_writes_it: bool, add_bos: bool) -> None:
    vocabulary = FakeVocabulary(("<s>", "</s>"), bos="<s>", eos="</s>", add_bos=add_bos)
    source = ("{{ bos_token }}" if template_writes_it else "") + "{% for m in messages %}{{ m.content }}{% endfor %}"
    prompt = build_prompt(vocabulary, ChatTemplate(source, vocabulary), [Message("user", "hello")])
    assert prompt.tokens.count(vocabulary.bos) == (template_writes_it or add_bos)
    assert prompt.turns[0].end == len(prompt.tokens)


def test_a_bos_written_twice_is_there_once() -> None:
    vocabulary = FakeVocabulary(("<s>", "</s>"), bos="<s>", add_bos=True)
    template = ChatTemplate("{{ bos_token * 2 }}{{ messages[0].content }}", vocabulary)
    prompt = build_prompt(vocabulary, template, [Message("user", "hello")])
    assert vocabulary.text_of(prompt.tokens) == "<s>hello"


def test_a_bos_that_opens_turns_is_not_taken_away() -> None:
    chat = model("smollm")
    assert chat.vocabulary.control_in(build(chat, SYSTEM).tokens) == [
        "<|im_start|>",
        "<|im_end|>",
        "<|im_start|>",
    ]


@pytest.mark.parametrize(("name", "opened"), [("r1", True), ("qwen3", False), ("smollm", False)])
def test_a_template_that_opens_reasoning_is_noticed(name: str, opened: bool) -> None:
    assert build(model(name), Message("user", "Hi")).reasoning_opened is opened


def test_a_message_that_names_the_tag_opens_nothing() -> None:
    vocabulary = FakeVocabulary()
    chat = Model("bare", vocabulary, ChatTemplate("{% for m in messages %}{{ m.content }}{% endfor %}", vocabulary))
    assert not build(chat, Message("user", "What is <think>")).reasoning_opened


# --- built-in forms ---


@pytest.mark.parametrize(
    ("control", "form"),
    [
        (("<|im_start|>", "<|im_end|>"), "ChatML"),
        (("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"), "Llama 3"),
        (("<start_of_turn>", "<end_of_turn>"), "Gemma"),
        (("[INST]", "[/INST]"), "Mistral"),
        (("<|user|>", "<|assistant|>", "<|end|>"), "Phi"),
        (("<｜User｜>", "<｜Assistant｜>"), "DeepSeek"),
        (("<s>", "</s>"), "plain"),
    ],
)
@pytest.mark.parametrize("source", [None, "  ", "{% if %}"])
def test_a_built_in_form_is_chosen_by_the_vocabulary_and_said(
    control: tuple[str, ...], form: str, source: str | None
) -> None:
    vocabulary = FakeVocabulary(control)
    template = load_template(vocabulary, source)
    prompt = build_prompt(vocabulary, template, CHAT)
    expected = PromptNoticeCode.TEMPLATE_UNUSABLE if source == "{% if %}" else PromptNoticeCode.TEMPLATE_MISSING
    assert codes(prompt) == [expected]
    assert form in prompt.notices[0].message
    assert [turn.message_index for turn in prompt.turns] == [0, 1, 2, 3, 4, 5, None]
    assert set(control) - {"<s>", "</s>"} <= set(vocabulary.control_in(prompt.tokens))


def test_the_plain_form_stops_where_the_user_would_speak() -> None:
    assert load_template(FakeVocabulary(("<s>",)), None).stop_strings == ("\nUser:",)

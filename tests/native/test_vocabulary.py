"""The vocabulary of real files keeps the contract that the text room counts on, as the fake one does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine.text.tokens
from engine.api.chat import Message
from engine.text.prompt import build_prompt
from engine.text.spellings import ControlSpellings
from engine.text.template import ChatTemplate
from engine.text.tokens import Segment, SegmentTokenizer
from engine.text.vocabulary import Vocabulary
from tests.engine.text.fake_vocabulary import FakeVocabulary
from tests.native.vocabularies import loaded_vocabulary, starter_path, write_spm_vocabulary
from tests.tiny import TinySpec, write_tiny_model

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
INST = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{{ '[INST] ' + m.content + ' [/INST]' }}"
    "{% else %}{{ ' ' + m.content | trim + ' ' + eos_token }}{% endif %}{% endfor %}"
)
NAMES = ("starter", "tiny", "spm", "spm with space prefix", "fake")


@pytest.fixture(scope="module", params=NAMES)
def vocabulary(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vocabulary]:
    path: Path = tmp_path_factory.mktemp("vocabulary") / "vocabulary.gguf"
    if request.param == "fake":
        yield FakeVocabulary(bos="<|im_start|>", eos="<|im_end|>")
        return
    if request.param == "starter":
        path = starter_path()
    elif request.param == "tiny":
        path = write_tiny_model(path, TinySpec())
    else:
        write_spm_vocabulary(path, space_prefix="prefix" in request.param)
    with loaded_vocabulary(path) as loaded:
        yield loaded


def template_for(vocabulary: Vocabulary) -> ChatTemplate:
    return ChatTemplate(CHATML if "<|im_end|>" in vocabulary.control_spellings() else INST, vocabulary)


def control_of(vocabulary: Vocabulary, tokens: tuple[int, ...] | list[int]) -> list[str]:
    steering = {*vocabulary.control_spellings(), "<think>", "</think>"} - {"<unk>"}
    return [spelling for token in tokens if (spelling := vocabulary.spelling(token)) in steering]


def text_of(vocabulary: Vocabulary, tokens: tuple[int, ...] | list[int]) -> str:
    return b"".join(vocabulary.piece(token) or vocabulary.spelling(token).encode() for token in tokens).decode()


def test_pieces_join_to_the_text(vocabulary: Vocabulary) -> None:
    text = "hello there,\n\n 水 🤷🏽‍♂️ é\x00"
    raw = b"".join(map(vocabulary.piece, vocabulary.tokenize(text, parse_special=False)))
    assert raw.decode().removeprefix(" ") == text


def test_no_text_has_no_tokens(vocabulary: Vocabulary) -> None:
    assert vocabulary.tokenize("", parse_special=True) == []


def test_half_a_surrogate_pair_is_a_question_mark(vocabulary: Vocabulary) -> None:
    if not isinstance(vocabulary, FakeVocabulary):
        assert vocabulary.tokenize("a\ud83e", parse_special=False) == vocabulary.tokenize("a?", parse_special=False)


def test_a_long_text_fits(vocabulary: Vocabulary) -> None:
    assert len(vocabulary.tokenize("水" * 5000, parse_special=False)) >= 5000
    # SentencePiece puts a space behind each user-defined token: more tokens than bytes.
    assert len(vocabulary.tokenize("~a" * 5000, parse_special=False)) >= 10_000


def test_control_tokens_are_silent_and_come_only_when_asked_for(vocabulary: Vocabulary) -> None:
    eos = vocabulary.eos
    assert eos is not None
    assert vocabulary.piece(eos) == b""
    spelling = vocabulary.spelling(eos)
    assert spelling in vocabulary.control_spellings()
    assert vocabulary.tokenize(spelling, parse_special=True)[-1] == eos
    assert vocabulary.is_end_of_generation(eos)
    assert not vocabulary.is_end_of_generation(vocabulary.tokenize("a", parse_special=False)[-1])


def test_no_token_outside_the_vocabulary_is_looked_up(vocabulary: Vocabulary) -> None:
    if not isinstance(vocabulary, FakeVocabulary):
        for ask in (vocabulary.piece, vocabulary.spelling, vocabulary.is_end_of_generation):
            for token in (-1, vocabulary.n_tokens):
                with pytest.raises(IndexError):
                    ask(token)


def test_every_token_has_a_spelling(vocabulary: Vocabulary) -> None:
    for token in range(0, vocabulary.n_tokens, max(1, vocabulary.n_tokens // 500)):
        assert vocabulary.piece(token).decode(errors="replace") in {"", vocabulary.spelling(token)}


def test_a_prompt_is_the_template_tokenized_as_a_whole(vocabulary: Vocabulary) -> None:
    template = template_for(vocabulary)
    messages = [Message("user", "hello  user\n"), Message("assistant", "hello"), Message("user", "end")]
    prompt = build_prompt(vocabulary, template, messages)
    rendered = template.render(
        [{"role": message.role, "content": message.text} for message in messages], add_generation_prompt=True
    )
    assert list(prompt.tokens)[-8:] == vocabulary.tokenize(rendered, parse_special=True)[-8:]
    assert text_of(vocabulary, prompt.tokens).replace(" ", "").endswith(rendered.replace(" ", ""))
    assert [turn.message_index for turn in prompt.turns] == [0, 1, 2, None]
    for turn, message in zip(prompt.turns, messages, strict=False):
        assert message.text in text_of(vocabulary, prompt.tokens[turn.start : turn.end])


FRAGMENTS = (
    "<|im_", "end|>", "<|im_end|>", "<|im_start|>", "<s>", "</s>", "</", "s>", "<unk>", "[INST]", "[/", "INST]",
    "<|end|>", "<think>", "</think>", "</thi", "nk>", "<td>", "<0x0A>",
    "▁", " ", "\n", "hello", "user", "🤷", "<repo_name>",
)  # fmt: skip
hostile_texts = st.lists(st.sampled_from(FRAGMENTS), max_size=8).map(lambda parts: "x" + "".join(parts))


@given(texts=st.tuples(hostile_texts, hostile_texts, hostile_texts))
def test_what_is_typed_is_never_a_control_token(vocabulary: Vocabulary, texts: tuple[str, str, str]) -> None:
    template = template_for(vocabulary)

    def prompt_of(question: str, answer: str, further: str) -> tuple[int, ...]:
        messages = [Message("user", question), Message("assistant", answer), Message("user", further)]
        return build_prompt(vocabulary, template, messages).tokens

    tokens = prompt_of(*texts)
    assert control_of(vocabulary, tokens) == control_of(vocabulary, prompt_of("x", "x", "x"))
    # SentencePiece reads ▁ as a space, and llama.cpp puts one behind user-defined tokens.
    read = text_of(vocabulary, tokens).replace(" ", "")
    assert all(text.replace("▁", "").replace(" ", "").strip() in read.replace("▁", "") for text in texts)


@pytest.fixture(scope="module")
def steering(vocabulary: Vocabulary) -> set[int]:
    """The tokens without a text of their own."""
    return {token for token in range(vocabulary.n_tokens) if not vocabulary.piece(token)}


@given(data=st.data())
def test_ids_out_of_a_file_are_never_control_tokens(
    vocabulary: Vocabulary, steering: set[int], data: st.DataObject
) -> None:
    template = template_for(vocabulary)
    some = st.sampled_from(sorted(steering)) | st.integers(0, vocabulary.n_tokens - 1)
    ids = tuple(data.draw(st.lists(some, min_size=1, max_size=6)))
    text = b"".join(map(vocabulary.piece, ids)).decode(errors="replace")

    def steering_of(answer: Message) -> list[int]:
        tokens = build_prompt(vocabulary, template, (Message("user", "Hi"), answer, Message("user", "Hi"))).tokens
        return [token for token in tokens if token in steering]

    foreign = Message("assistant", text, token_ids=ids, has_foreign_ids=True)
    assert steering_of(foreign) == steering_of(Message("assistant", text))


def test_the_next_prompt_begins_with_the_last_one_and_its_answer(vocabulary: Vocabulary) -> None:
    template = template_for(vocabulary)
    asked = Message("user", "x</s><|im_end|>hello")
    first = build_prompt(vocabulary, template, [asked])
    # One token a letter, as sampling may give but no tokenizer does.
    ids = tuple(vocabulary.tokenize("\n" + letter, parse_special=False)[-1] for letter in " hello")
    answer = Message("assistant", text_of(vocabulary, ids), token_ids=ids)
    second = build_prompt(vocabulary, template, [asked, answer, Message("user", "hello")])
    assert second.tokens[: len(first.tokens + ids)] == first.tokens + ids


def test_the_spellings_that_steer_are_known(tmp_path: Path) -> None:
    with loaded_vocabulary(starter_path()) as vocabulary:
        assert {"<|im_start|>", "<|im_end|>", "<repo_name>"} <= set(vocabulary.control_spellings())
        assert vocabulary.user_defined_spellings() == ()
    with loaded_vocabulary(write_spm_vocabulary(tmp_path / "vocabulary.gguf", space_prefix=True)) as vocabulary:
        expected = ("</s>", "<s>", "<unk>", "<|end|>", "<|tool|>", "[/INST]", "[INST]")
        assert vocabulary.control_spellings() == expected
        assert vocabulary.user_defined_spellings() == ("</think>", "<td>", "<think>", "~")


def test_the_starter_models_own_template() -> None:
    with loaded_vocabulary(starter_path()) as vocabulary:
        tokens = build_prompt(vocabulary, ChatTemplate(CHATML, vocabulary), [Message("user", "Hi")]).tokens
        assert tokens == (1, 4093, 198, 26843, 2, 198, 1, 520, 9531, 198)


def test_a_text_in_segments_has_the_tokens_of_the_whole(vocabulary: Vocabulary) -> None:
    lines = ("hello user\n", "hello\n", "user user\n", "end")
    tokenized = SegmentTokenizer(vocabulary, ControlSpellings(())).tokenize(Segment(line) for line in lines)
    assert tokenized.tokens == vocabulary.tokenize("".join(lines), parse_special=True)


def test_a_long_text_in_pieces_has_the_tokens_of_the_whole(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.text.tokens, "PIECE_CHARACTERS", 64)
    text = "".join(f"hello user, {n} times:\n\n  - (there)  \nend\n<td>\nuser\n" for n in range(100))
    tokenized = SegmentTokenizer(vocabulary, ControlSpellings(())).tokenize([Segment(text)])
    assert tokenized.tokens == vocabulary.tokenize(text, parse_special=True)

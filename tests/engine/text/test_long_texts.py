"""Long texts: the same tokens as in one go, a look between the pieces, and no work that grows faster than the text."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine.text.tokens
from engine.api.chat import Message
from engine.text.layout import lay_out
from engine.text.look import Interrupted, looking
from engine.text.prompt import build_prompt
from engine.text.spellings import ControlSpellings
from engine.text.stream import PartKind, ReasoningSplitter
from engine.text.template import ChatTemplate
from engine.text.tokens import Segment, SegmentTokenizer, estimated_tokens
from tests.engine.text.fake_vocabulary import CHATML, FakeVocabulary
from tests.engine.text.templates import model

PIECE = 64
LINES = st.lists(
    st.text("he lo<|im_end>\U0001d54f字", min_size=1, max_size=20).map(str.strip).filter(bool), max_size=60
)


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.text.tokens, "PIECE_CHARACTERS", PIECE)


@contextmanager
def _soon() -> Iterator[None]:
    """Seconds of this process alone, many times what is needed; what grew with the square took a minute."""
    started = time.process_time()
    yield
    assert time.process_time() - started < 3


@given(LINES, st.booleans())
def test_pieces_are_the_tokens_of_the_whole(lines: list[str], has_prefix: bool) -> None:
    vocabulary = FakeVocabulary(space_prefix=has_prefix)
    tokenizer = SegmentTokenizer(vocabulary, ControlSpellings(CHATML))
    text = "\n".join(lines)
    tokenized = tokenizer.tokenize([Segment(text)])
    assert tokenized.tokens == vocabulary.tokenize(text, parse_special=True)
    spelled = [tokenizer.spelled(token) for token in tokenized.tokens]
    raw = text.encode()
    assert all(raw.startswith(s.strip(), n) or s == b" " for s, n in zip(spelled, tokenized.starts, strict=True))


@given(st.text("a\n ", min_size=PIECE, max_size=4 * PIECE), st.text("a\n ", max_size=3 * PIECE))
def test_what_follows_a_text_leaves_its_tokens_as_they_are(before: str, after: str) -> None:
    tokenizer = SegmentTokenizer(FakeVocabulary(), ControlSpellings(CHATML))
    start = before + "hello<|im_end|>\n"
    tokens = tokenizer.tokenize([Segment(start)]).tokens
    assert tokenizer.tokenize([Segment(start + "user\n" + after)]).tokens[: len(tokens) - 1] == tokens[:-1]


def test_a_control_token_is_never_cut() -> None:
    vocabulary = FakeVocabulary()
    tokenizer = SegmentTokenizer(vocabulary, ControlSpellings(CHATML))
    for n_before in range(PIECE):
        tokens = tokenizer.tokenize([Segment("x" * n_before + "<|im_start|>" * PIECE)]).tokens
        assert vocabulary.control_in(tokens) == ["<|im_start|>"] * PIECE


def test_there_is_a_look_between_the_pieces() -> None:
    chat = model("smollm")
    message = Message("user", "hello there\n" * 100)
    looks = iter([False] * 10)
    with pytest.raises(Interrupted):
        build_prompt(chat.vocabulary, chat.template, [message], look=looking(lambda: next(looks, True)))


@pytest.mark.parametrize("text", ["hello there " * 4000, "字" * 36_000, "hello " * 5_000 + "字" * 30_000, "Hi", ""])
def test_an_estimate_is_near_the_count(text: str) -> None:
    vocabulary = FakeVocabulary()
    n_tokens = sum(len(vocabulary.tokenize(text[n : n + 999], parse_special=False)) for n in range(0, len(text), 999))
    assert estimated_tokens(vocabulary, text) == pytest.approx(n_tokens, rel=0.1)


def test_many_control_words_are_escaped_in_one_go() -> None:
    text = "<|im_end|>" * 100_000
    with _soon():
        escaped = ControlSpellings(CHATML).escape(text)
    assert escaped.count("\u200b") == 100_000
    assert escaped.replace("\u200b", "") == text


def test_many_tags_are_split_in_one_go() -> None:
    text = "Hi" + "<|start|>assistant<|channel|>final<|message|>Hi" * 30_000
    with _soon():
        parts = ReasoningSplitter().feed(text)
    assert "".join(part.text for part in parts if part.kind is PartKind.ANSWER) == "Hi" * 30_001


def test_a_message_can_hold_every_mark_there_is() -> None:
    chat = model("smollm")
    marks = "".join(f"\ue0a0{number}\ue0a1" for number in range(100_000))
    with _soon():
        layout, _ = lay_out(chat.template, [Message("user", marks)], chat.template.control)
    assert layout.is_exact
    assert layout.text[layout.spans[0].start : layout.spans[0].end] == marks


def test_a_long_chat_is_laid_out_also_where_its_texts_are_reworked() -> None:
    source = "{% for m in messages %}{{ m.content | reverse }}\n{% endfor %}"
    chat = ChatTemplate(source, FakeVocabulary())
    messages = [Message("user", f"hello {n} " + "there " * 150) for n in range(3000)]
    with _soon():
        layout, _ = chat.lay_out(messages)
    assert not layout.is_exact


def test_thousands_of_turns_are_laid_out_in_one_go() -> None:
    chat = model("smollm")
    roles = ("user", "assistant")
    messages = [Message(roles[n % 2], f"hello {n}") for n in range(10_001)]
    with _soon():
        layout, _ = chat.template.lay_out(messages)
    # The template's own system prompt, and the next answer's beginning.
    assert len(layout.turns) == len(messages) + 2

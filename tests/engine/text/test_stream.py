"""Sampled tokens become text: whole characters, nothing of a stop string, reasoning apart."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.text.reasoning import CHANNEL_TAGS, REASONING_TAGS
from engine.text.stream import AnswerStream, Part, PartKind, PieceDecoder, ReasoningSplitter, StopStrings
from tests.engine.text.fake_vocabulary import FakeVocabulary

ANSWER, REASONING, MARKUP = PartKind.ANSWER, PartKind.REASONING, PartKind.MARKUP
quick = settings(max_examples=150, deadline=None, derandomize=True)
places = st.lists(st.integers(0, 1000), max_size=12)


def cut(length: int, at: Iterable[int]) -> list[slice]:
    """Slices that cut something of this length at these places."""
    edges = sorted({0, length, *(place % (length + 1) for place in at)})
    return [slice(start, end) for start, end in pairwise(edges)]


# --- bytes to text ---


def decode(pieces: Iterable[bytes]) -> list[str]:
    decoder = PieceDecoder()
    return [*(decoder.feed(piece) for piece in pieces), decoder.flush()]


@pytest.mark.parametrize(
    ("pieces", "texts"),
    [
        ([b"Hi"], ["Hi", ""]),
        (["é".encode()[:1], "é".encode()[1:]], ["", "é", ""]),
        (
            [bytes((byte,)) for byte in "👩‍🚒".encode()],
            [*["", "", "", "👩"], *["", "", "\u200d"], *["", "", "", "🚒"], ""],
        ),
        (["水".encode()[:2]], ["", "\ufffd"]),
        ([b"a\xffb"], ["a\ufffdb", ""]),
        ([b"\xf0\x9f", b"a"], ["", "\ufffda", ""]),
        ([b"\xc0\x80", b"\xed\xa0\x80"], ["\ufffd\ufffd", "\ufffd\ufffd\ufffd", ""]),
        ([b"\x00", b""], ["\x00", "", ""]),
    ],
)
def test_characters_come_whole_and_as_soon_as_they_are(pieces: list[bytes], texts: list[str]) -> None:
    assert decode(pieces) == texts


@quick
@given(raw=st.one_of(st.binary(max_size=40), st.text(max_size=20).map(lambda text: text.encode())), at=places)
def test_bytes_give_the_same_text_however_they_are_cut(raw: bytes, at: list[int]) -> None:
    assert "".join(decode(raw[part] for part in cut(len(raw), at))) == raw.decode("utf-8", errors="replace")


# --- stop strings ---


def stop(stop_strings: Iterable[str], texts: Iterable[str]) -> tuple[list[str], str | None]:
    matcher = StopStrings(stop_strings)
    shown = [*(matcher.feed(text) for text in texts), matcher.flush()]
    return shown, matcher.found


@pytest.mark.parametrize(
    ("stop_strings", "texts", "shown", "found"),
    [
        (["END"], ["one E", "N", "D two"], ["one ", "", "", ""], "END"),
        (["END"], ["one E", "N", "E"], ["one ", "", "ENE"[:2], "E"], None),
        (["END"], ["EE", "ND"], ["E", "", ""], "END"),
        (["END", "one"], ["an END and one"], ["an ", ""], "END"),
        (["ab", "abc"], ["xabc"], ["x", ""], "abc"),
        (["\nUser:"], ["Hi\n", "Us", "ers"], ["Hi", "", "\nUsers", ""], None),
        ([], ["any", "thing"], ["any", "thing", ""], None),
        (["", "."], ["a", ".", "b"], ["a", "", "", ""], "."),
        (["END"], ["EN"], ["", "EN"], None),
    ],
)
def test_a_stop_string_never_shows(
    stop_strings: list[str], texts: list[str], shown: list[str], found: str | None
) -> None:
    assert stop(stop_strings, texts) == (shown, found)


few_letters = st.text("ab\n", max_size=20)


@quick
@given(text=few_letters, stops=st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3), at=places)
def test_a_text_ends_before_its_first_stop_string_however_it_is_cut(text: str, stops: list[str], at: list[int]) -> None:
    shown, found = stop(stops, [text[part] for part in cut(len(text), at)])
    first = min((text.find(one) for one in stops if one in text), default=None)
    if first is None:
        assert ("".join(shown), found) == (text, None)
    else:
        assert found is not None
        # Cut in pieces, a stop string that is complete ends the text before a longer one around it is.
        assert text.startswith("".join(shown) + found)
        assert not any(one in "".join(shown) for one in stops)


# --- reasoning ---


def split(texts: Iterable[str], *, opened: bool = False) -> list[Part]:
    splitter = ReasoningSplitter(opened=opened)
    parts = [part for text in texts for part in splitter.feed(text)] + splitter.flush()
    assert all(part.text for part in parts)
    return parts


def kinds(parts: Iterable[Part]) -> dict[PartKind, str]:
    texts: dict[PartKind, str] = {}
    for part in parts:
        texts[part.kind] = texts.get(part.kind, "") + part.text
    return texts


@pytest.mark.parametrize(
    ("text", "opened", "reasoning", "answer"),
    [
        ("<think>\nhm\n</think>\n\nHi", False, "hm\n", "Hi"),
        ("\n<think>hm</think>Hi", False, "hm", "Hi"),
        ("hm\n</think>\n\nHi", True, "hm\n", "Hi"),
        ("hm", True, "hm", ""),
        ("<think>hm</thin", False, "hm</thin", ""),
        ("<thinking>hm</thinking>Hi", False, "hm", "Hi"),
        ("[THINK]hm[/THINK]Hi", False, "hm", "Hi"),
        ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi", False, "hm", "Hi"),
        ("<|channel|>final<|message|>Hi", False, "", "Hi"),
        ("<think></think>Hi", False, "", "Hi"),
        ("<think>a</think><think>b</think>Hi", False, "ab", "Hi"),
        ("Hi", False, "", "Hi"),
        (" Hi\n", False, "", " Hi\n"),
        ("Write <think> to reason</think>", False, "", "Write <think> to reason</think>"),
        ("<think>a</thinking>b</think>Hi", False, "a</thinking>b", "Hi"),
        ("<thin", False, "", "<thin"),
        ("<b>Hi</b>", False, "", "<b>Hi</b>"),
        ("", False, "", ""),
        ("  \n", False, "", "  \n"),
    ],
)
def test_reasoning_is_told_from_the_answer(text: str, opened: bool, reasoning: str, answer: str) -> None:
    for parts in (split([text], opened=opened), split(list(text), opened=opened)):
        texts = kinds(parts)
        assert (texts.get(REASONING, ""), texts.get(ANSWER, "")) == (reasoning, answer)


tags = [tag for pair in REASONING_TAGS for tag in (pair.opener, pair.closer)] + list(CHANNEL_TAGS)
fragments = st.lists(st.sampled_from([*tags, "<thi", "nk>", "</", "[TH", "<|", " ", "\n", "a", "é"]), max_size=9)


@quick
@given(text=fragments.map("".join), at=places, opened=st.booleans())
def test_reasoning_is_the_same_however_the_text_is_cut_and_nothing_is_lost(
    text: str, at: list[int], opened: bool
) -> None:
    whole = split([text], opened=opened)
    pieces = split([text[part] for part in cut(len(text), at)], opened=opened)
    assert kinds(pieces) == kinds(whole)
    assert "".join(part.text for part in pieces) == text


def test_an_answer_is_shown_as_it_comes() -> None:
    splitter = ReasoningSplitter()
    assert splitter.feed("Hi") == [Part(ANSWER, "Hi")]
    assert splitter.feed(" there <") == [Part(ANSWER, " there ")]
    assert splitter.feed("b>") == [Part(ANSWER, "<b>")]


# --- tokens to parts ---


def stream(
    vocabulary: FakeVocabulary, tokens: Iterable[int], *, stop_strings: tuple[str, ...] = (), opened: bool = False
) -> tuple[dict[PartKind, str], str | None]:
    answer = AnswerStream(vocabulary, stop_strings=stop_strings, reasoning_opened=opened)
    parts = [part for token in tokens for part in answer.feed(token)]
    return kinds([*parts, *answer.finish()]), answer.stop_string


def test_tokens_become_reasoning_and_answer_up_to_the_stop_string() -> None:
    vocabulary = FakeVocabulary(user_defined=("<think>", "</think>"))
    tokens = vocabulary.tokenize("<think>hm 🤷</think>\nHi 水STOP more", parse_special=True)
    assert stream(vocabulary, tokens, stop_strings=("STOP",)) == (
        {MARKUP: "<think></think>\n", REASONING: "hm 🤷", ANSWER: "Hi 水"},
        "STOP",
    )


@pytest.mark.parametrize("end", ["<|im_end|>", "<|endoftext|>"])
def test_a_token_that_ends_the_generation_never_shows(end: str) -> None:
    vocabulary = FakeVocabulary(("<|im_end|>",), ("<|endoftext|>",))
    tokens = vocabulary.tokenize(f"Hi{end}", parse_special=True)
    assert stream(vocabulary, tokens) == ({ANSWER: "Hi"}, None)


def test_control_tokens_are_nothing_but_those_around_reasoning_are_tags() -> None:
    vocabulary = FakeVocabulary(("[THINK]", "[/THINK]", "<|odd|>"))
    tokens = vocabulary.tokenize("[THINK]hm[/THINK]H<|odd|>i", parse_special=True)
    assert stream(vocabulary, tokens)[0] == {MARKUP: "[THINK][/THINK]", REASONING: "hm", ANSWER: "Hi"}


def test_channels_are_told_apart_where_their_tags_are_control_tokens() -> None:
    vocabulary = FakeVocabulary(("<|start|>", "<|end|>", "<|channel|>", "<|message|>", "<|return|>"))
    text = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>"
    texts, _ = stream(vocabulary, vocabulary.tokenize(text, parse_special=True))
    assert (texts[REASONING], texts[ANSWER]) == ("hm", "Hi")


def test_what_is_pending_at_the_last_token_is_shown() -> None:
    vocabulary = FakeVocabulary()
    tokens = vocabulary.tokenize("Hi ST水", parse_special=False)
    assert stream(vocabulary, tokens[:-1], stop_strings=("STOP",)) == ({ANSWER: "Hi ST\ufffd"}, None)
    assert stream(vocabulary, tokens[:-3], stop_strings=("STOP",)) == ({ANSWER: "Hi ST"}, None)


def test_a_block_that_the_prompt_opened_is_reasoning_from_the_start() -> None:
    vocabulary = FakeVocabulary()
    tokens = vocabulary.tokenize("hm</think>Hi", parse_special=False)
    assert stream(vocabulary, tokens, opened=True)[0] == {REASONING: "hm", MARKUP: "</think>", ANSWER: "Hi"}

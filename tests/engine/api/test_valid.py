"""Text that came in has UTF-8, and loses nothing that can be said in it."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.valid import valid_text

ANY = st.text(st.characters(codec=None) | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF), max_size=30)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("plain", "plain"),
        ("缓存 \0 😀", "缓存 \0 😀"),
        ("\ud835\udc00", "𝐀"),
        ("a\ud835", "a\ufffd"),
        ("\ud835x\udc00", "\ufffdx\ufffd"),
        ("\udc00\ud835", "\ufffd\ufffd"),
        ("\ud835\ud835\udc00", "\ufffd𝐀"),
        ("\ud835😀\udc00", "\ufffd😀\ufffd"),
        (os.fsdecode(b"caf\xe9.txt"), "caf\ufffd.txt"),
    ],
)
def test_pairs_become_their_character_and_lone_halves_the_mark_of_replacement(text, valid):
    assert valid_text(text) == valid


@given(ANY)
def test_any_text_becomes_valid_once_and_keeps_all_that_was(text):
    valid = valid_text(text)
    valid.encode()
    assert valid_text(valid) == valid
    units, before = (one.encode("utf-16-le", "surrogatepass") for one in (valid, text))
    assert len(units) == len(before)


@given(st.text(max_size=30))
def test_valid_text_is_handed_back_itself(text):
    assert valid_text(text) is text

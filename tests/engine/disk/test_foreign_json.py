"""What is read out of a file of JSON can be used, whatever was written into it."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.disk.foreign_json import read_json

ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(9, 400).map(lambda n: 10**n)
    | st.floats()
    | st.text(st.characters(codec=None) | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=20,
)


def leaves(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


@given(ANY, st.booleans())
def test_every_text_has_utf_8_and_every_number_is_one_that_can_be_counted_with(value, is_ascii):
    text = json.dumps(value, ensure_ascii=is_ascii)
    for leaf in leaves(read_json(text)):
        if isinstance(leaf, str):
            leaf.encode()
        elif leaf is not None:
            assert math.isfinite(leaf)
            assert abs(leaf) <= 2**64 or isinstance(leaf, float)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (str(2**63), 2**63),
        ("-0.5e3", -500.0),
        ("1" + "0" * 400, "1" + "0" * 39),
        ("9" * 5000, "9" * 40),
        ("-" + "9" * 30, "-" + "9" * 30),
        ("1e999", "1e999"),
        ("[NaN, -Infinity]", ["NaN", "-Infinity"]),
        (r'{"\ud835": "\ud835\udc00"}', {"\ufffd": "𝐀"}),
        ('"\ud835"'.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass"), "\ufffd"),
        (b"\xef\xbb\xbf[1]", [1]),
    ],
)
def test_what_can_not_be_used_is_text_to_be_refused(text, value):
    assert read_json(text) == value


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, '{"a":' * 100_000, b"\xff", "[" * 900 + '"\\ud835"' + "]" * 900]
)
def test_what_makes_no_sense_is_one_kind_of_error(text):
    with pytest.raises(ValueError, match=r"."):
        read_json(text)

"""Titles made from first messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.titles import MAX_LENGTH, title_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How do caches work? Please explain.", "How do caches work?"),
        ("\n\n# **Plan** for `main`\nmore", "Plan for main"),
        ("- [a link](https://x.org/a) here", "a link here"),
        ("snake_case and 2*3*4 stay", "snake_case and 2*3*4 stay"),
        ("```python\nprint(1)\n```\nWhat does this do?", "What does this do?"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("缓存与显存的关系是什么？请解释。", "缓存与显存的关系是什么？"),
        ("Version 3.11 of it", "Version 3.11 of it"),
        ("word " * 30, "word word word word word word word word word word word…"),
        ("x" * 200, "x" * 59 + "…"),
        ("…!?", ""),
        ("", ""),
    ],
)
def test_title(text, title):
    assert title_of(text) == title


@given(st.text(max_size=300))
def test_titles_are_one_short_line(text):
    title = title_of(text)
    assert len(title) <= MAX_LENGTH
    assert "\n" not in title
    assert title == title.strip()

"""Colours for code."""

from __future__ import annotations

from app.transcript.highlight import MAX_LEXED, highlight, language_name


def test_ranges_cover_words_of_their_kind_and_do_not_overlap():
    code = 'def f(n: int):\n    """doc"""\n    return "x"  # why'
    ranges = highlight(code, "python")
    kinds = {code[start : start + length].strip(): kind for start, length, kind in ranges}
    assert kinds["def"] == kinds["return"] == "keyword"
    assert kinds["# why"] == "comment"
    assert kinds['"x"'] == "string"
    ends = [start + length for start, length, _ in ranges]
    assert all(end <= start for end, (start, _, _) in zip(ends, ranges[1:], strict=False))


def test_unknown_languages_and_very_long_code_stay_plain():
    assert highlight("x = 1", "no-such-language") == ()
    assert highlight("x", "") == ()
    assert highlight("x = 1\n" * MAX_LEXED, "python") == ()


def test_languages_have_names():
    assert language_name("py") == "Python"
    assert language_name("no-such-language") == "no-such-language"
    assert language_name("py title=x") == "py title=x"

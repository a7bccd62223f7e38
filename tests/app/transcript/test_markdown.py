"""Markdown into blocks: what is understood, what is not, and that nothing of the text is lost."""

from __future__ import annotations

import re
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.transcript.blocks import Block, BlockKind, Style
from app.transcript.markdown import parse, parse_more
from tests.app.transcript.samples import EVERYTHING

WORD = re.compile(r"[^\W\d_]{2,}")


def everything_shown(blocks: list[Block]) -> str:
    """All text that a reader gets to see or can reach, links' addresses and languages included."""
    parts = []
    for block in blocks:
        cells = [cell for row in block.table.rows for cell in row] if block.table else [block.spans]
        parts += [block.language, *(c.marker for c in block.containers)]
        parts += [f"{span.text} {span.href or ''}" for cell in cells for span in cell]
    return "\n".join(parts)


def missing_words(source: str, blocks: list[Block]) -> list[str]:
    shown = everything_shown(blocks)
    return [word for word in WORD.findall(source) if word not in shown]


def kinds(source: str) -> list[BlockKind]:
    return [block.kind for block in parse(source)]


def only(source: str) -> Block:
    (block,) = parse(source)
    return block


def test_every_prefix_of_an_answer_shows_all_its_words():
    source = EVERYTHING.replace('"title"', "").replace("&amp;", "and")
    blocks: list[Block] = []
    for end in range(1, len(source) + 1):
        prefix = source[:end]
        blocks = parse_more(prefix, blocks)
        assert missing_words(prefix, blocks) == [], prefix[-60:]


def test_reading_piece_by_piece_ends_at_the_same_blocks_as_reading_at_once():
    blocks: list[Block] = []
    for end in range(0, len(EVERYTHING) + 7, 7):
        blocks = parse_more(EVERYTHING[:end], blocks)
    assert blocks == parse(EVERYTHING)


@given(st.text(alphabet="ab \n*_`~#>-+1.|[]()!$\\:<中“”\t", max_size=200))
def test_no_text_of_any_shape_loses_a_word_or_raises(source: str):
    blocks = parse(source)
    assert missing_words(source, blocks) == []


LINES = [
    "para",
    "- item",
    "  more",
    "```py",
    "code",
    "```",
    "> quote",
    "# head",
    "__",
    "$$",
    "x^2",
    "***",
    "1. one",
    "",
    "**b",
]
PIECES = [line.replace("__", "|a|b|\n|-|-|") + "\n" for line in LINES] + ["para\n\n", "half"]


@example(["$$\n", "```py\n", "para\n", "$$\n"])
@example(["para\n", "$$\n", "- item\n", "$$\n"])
@example(["```py\n", "para\n\n", "para\n\n"])
@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_growing_text_is_never_worse_than_reading_it_whole(pieces: list[str]):
    source, blocks = "", []
    for piece in pieces:
        source += piece
        blocks = parse_more(source, blocks)
        assert missing_words(source, blocks) == []
    assert [b.text() for b in blocks] == [b.text() for b in parse(source)]


@given(st.text(alphabet="ab *`[]()\n->1.", max_size=120))
def test_known_sources_of_spans_are_where_the_text_stands(source: str):
    for block in parse(source):
        assert 0 <= block.start <= block.end <= len(source)
        for span in block.spans:
            if span.source is not None and block.kind is not BlockKind.CODE:
                assert source.startswith(span.text, span.source)


def test_html_is_text_and_pictures_are_words_with_their_address():
    block = only('<b>x</b> <img src="file:///etc/passwd"> ![a cat](https://e.org/c.png)')
    assert '<b>x</b> <img src="file:///etc/passwd">' in block.text()
    assert "a cat (https://e.org/c.png)" in block.text()


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x"])
def test_dangerous_links_are_text(address: str):
    block = only(f"[press]({address})")
    assert all(span.href is None for span in block.spans)
    assert address in block.text()


def test_bare_addresses_are_links_without_the_full_stop():
    links = [span.href for span in only("See https://e.org/a?b=c. Then (https://e.org/d)!").spans if span.href]
    assert links == ["https://e.org/a?b=c", "https://e.org/d"]


def test_emphasis_next_to_chinese_punctuation():
    bold = [span.text for span in only("这是**“重点”**的").spans if span.style & Style.BOLD]
    assert bold == ["“重点”"]


def test_task_lists_have_boxes():
    markers = [block.containers[0].marker for block in parse("- [ ] open\n- [x] done\n- [y] none")]
    assert markers == ["☐", "☑", "•"]
    assert [block.text() for block in parse("- [ ] open\n- [x] done")] == ["open", "done"]


def test_nested_containers_are_kept_in_order():
    block = parse("> - a\n>   > b")[-1]
    assert [container.is_quote for container in block.containers] == [True, False, True]


def test_line_breaks_of_the_writer_stay():
    assert only("one\ntwo").text() == "one\ntwo"


def test_prices_are_not_mathematics_and_formulas_are():
    assert not any(span.style & Style.MATH for span in only("costs $5-$6 today").spans)
    formulas = [s.text for s in only(r"$x^2$ and \(a+b\) and $$c$$").spans if s.style & Style.MATH]
    assert formulas == ["x^2", "a+b", "c"]
    assert only("$$\n\\frac{a}{b}\n$$").kind is BlockKind.MATH


def test_an_open_formula_is_text():
    assert only("$$\n\\frac{a}{b}").text() == "$$\n\\frac{a}{b}"


def test_cells_beyond_the_header_are_not_dropped():
    table = only("|a|b|\n|-|-|\n|1|2|extra|more|").table
    assert table is not None
    assert "".join(span.text for span in table.rows[1][1]) == "2 | extra | more"


def test_an_open_fence_is_code_and_knows_that_it_is_open():
    block = only("```py\nx = 1\n``")
    assert (block.kind, block.is_closed, block.text()) == (BlockKind.CODE, False, "x = 1\n``")
    assert only("```py\nx = 1\n```").is_closed


def test_long_code_and_tables_are_cut_into_parts_without_loss():
    code = "\n".join(f"line {i}" for i in range(1000))
    parts = parse(f"```\n{code}\n```")
    assert len(parts) > 1
    assert "\n".join(part.text() for part in parts) == code
    rows = "\n".join(f"|r{i}|x|" for i in range(300))
    tables = parse(f"|a|b|\n|-|-|\n{rows}")
    assert len(tables) > 1
    assert missing_words(rows, tables) == []


HUGE = {
    "one line": "x" * 1_000_000,
    "brackets": "[" * 50_000,
    "link openers": "![" * 25_000,
    "stars": "*a **b " * 8_000,
    "quotes": "> " * 20_000,
    "lines": "a\n" * 100_000,
    "nested list": "\n".join(" " * i + "- x" for i in range(0, 400, 2)),
    "cells": "|a" * 20_000 + "\n" + "|-" * 20_000,
    "backticks": "`a" * 20_000,
    "entities": "&amp" * 20_000,
    "empty items": "- \n" * 30_000,
    "lists in turn": "- a\n\n1. b\n\n" * 8_000,
    "wide table": "|a" * 5_000 + "\n" + "|-" * 5_000 + "\n" + "|b" * 5_000,
    "fences": "```\n" * 20_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_giant_and_hostile_input_is_read_in_bounded_time(name: str):
    source = HUGE[name]
    began = process_time()
    blocks = parse(source)
    assert process_time() - began < 2
    n_shown = sum(len(block.text()) for block in blocks)
    assert n_shown >= min(len(source), 1_000) * 0.5 or name in (
        "quotes",
        "cells",
        "fences",
        "nested list",
        "empty items",
    )


def test_numbers_of_lists_begin_where_the_writer_began():
    assert [block.containers[0].marker for block in parse("0. zero\n1. one")] == ["0.", "1."]
    assert [block.containers[0].marker for block in parse("7) seven\n7) eight")] == ["7)", "8)"]


def test_the_marker_of_an_item_is_shown_once_though_its_code_is_in_parts():
    code = "\n".join(f"  line {i}" for i in range(900))
    parts = parse(f"- ```\n{code}\n  ```\n")
    assert len(parts) > 1
    assert [part.containers[0].marker for part in parts] == ["•"] + [""] * (len(parts) - 1)


def test_deeply_nested_text_is_shown():
    source = ">" * 100 + " deep"
    assert "deep" in everything_shown(parse(source))

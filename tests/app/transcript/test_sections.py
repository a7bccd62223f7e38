"""Long messages are read and laid out in pieces of bounded size, and nothing of them is lost for that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject, QPointF, Qt

from app.transcript import ShownState, ShownTurn, turn_view
from app.transcript.blocks import BlockKind
from app.transcript.markdown import parse, parse_lazily, parse_more, read
from app.transcript.sections import SECTION_CHARS, Section, sections
from app.transcript.stream import MAX_FLUSHED, TextCoalescer
from app.transcript.work import Work

LONG = {
    "prose": "Some words about **cells** and more.\n\n" * 800,
    "items": "- an item\n" * 1_500,
    "ones": "1. an item\n" * 1_500,
    "table": "| a | b |\n|---|---|\n" + "| one | two |\n" * 1_500,
    "quotes": "> > words\n" * 1_500,
    "lines": "words without a gap\n" * 1_500,
    "nested": "".join("  " * (i % 30) + "- words\n" for i in range(1_000)),
}


@pytest.mark.parametrize("name", LONG)
def test_sections_are_small_and_leave_nothing_out(name: str) -> None:
    source = LONG[name]
    found = sections(source, Section(0, 0), len(source))
    assert [one.end for one in found[:-1]] == [one.start for one in found[1:]]
    assert (found[0].start, found[-1].end) == (0, len(source))
    assert max(one.end - one.start for one in found) <= 3 * SECTION_CHARS
    assert sum(len(block.text()) for block in parse(source)) > 0.5 * len(source.replace("|", "").replace(">", ""))


@given(st.lists(st.sampled_from(["- a\n", "1. a\n", "| a | b |\n", "|-|-|\n", "\n", "> q\n", "  - b\n", "```\n", "$$\n", "words\n", "# h\n"]), max_size=600))  # fmt: skip  # noqa: E501
def test_a_longer_text_has_the_same_first_sections(pieces: list[str]) -> None:
    whole = "".join(pieces)
    found = sections(whole, Section(0, 0), len(whole))
    for at, one in enumerate(found):
        rest = sections(whole, one, len(whole))
        assert rest == found[at:] or at == len(found) - 1


def test_a_long_table_goes_on_as_one() -> None:
    rows = "".join(f"| r{i} | **x** |\n" for i in range(1_000))
    source = f"| a | b |\n|---|--:|\n{rows}\nAfter it."
    blocks = parse(source)
    tables = [block for block in blocks if block.table is not None]
    assert len({block.section.start for block in tables}) > 5
    cells = [row[0][0] for block in tables for row in block.table.rows if row[0]]
    assert [cell.text for cell in cells] == ["a", *(f"r{i}" for i in range(1_000))]
    assert all(source.startswith(cell.text, cell.source) for cell in cells)
    assert [block.continues for block in tables] == [False] + [True] * (len(tables) - 1)
    assert all(block.table.align == ("left", "right") for block in tables)
    assert blocks[-1].text() == "After it."


def test_the_items_of_a_long_list_are_numbered_through() -> None:
    blocks = parse("1. an item\n" * 1_000)
    assert [block.containers[0].marker for block in blocks] == [f"{i}." for i in range(1, 1_001)]


@pytest.mark.parametrize("name", LONG)
def test_a_long_text_that_grows_ends_as_one_that_is_read_at_once(name: str) -> None:
    source, blocks = LONG[name][:12_000], []
    for end in range(0, len(source) + 1_500, 1_500):
        blocks = parse_more(source[:end], blocks)
    blocks = [part for block in blocks for part in read(source, block)]
    assert [(b.kind, b.text(), b.containers) for b in blocks] == [
        (b.kind, b.text(), b.containers) for b in parse(source)
    ]


@pytest.mark.parametrize("source", [*LONG.values(), "x" * 10_000_000, "```\n" + "line\n" * 100_000])
def test_of_a_long_message_only_what_is_on_the_screen_is_read(show, monkeypatch, source: str) -> None:
    amounts: list[int] = []
    real = turn_view.read

    def counting(text, block):
        amounts.append(block.end - block.start)
        return real(text, block)

    monkeypatch.setattr(turn_view, "read", counting)
    transcript = show(ShownTurn("a", "assistant", source))
    assert len(parse_lazily(source)) < 400
    assert sum(amounts) < 150_000
    assert len(amounts) <= 6
    assert transcript.views[0].boxes[-1].block.kind is not BlockKind.UNREAD
    transcript.select_all()
    assert transcript.selected_markdown() == source


def test_what_was_not_done_in_one_turn_is_done_in_the_next(show, qtbot) -> None:
    transcript = show(ShownTurn("a", "assistant", LONG["table"]))

    def is_done() -> bool:
        top = transcript.verticalScrollBar().value() - 24
        view = transcript.views[0]
        return all(view.boxes[i].is_ready for i in view.boxes_between(top, top + 600))

    qtbot.waitUntil(is_done)


def test_what_is_selected_stays_so_while_what_is_above_it_is_read(show, qtbot) -> None:
    transcript = show(ShownTurn("a", "assistant", LONG["prose"] + "The very end."))
    view = transcript.views[0]
    qtbot.mouseDClick(
        transcript.viewport(),
        Qt.MouseButton.LeftButton,
        pos=(transcript.turn_origin(0) + view.boxes[-1].rect.topLeft() + QPointF(5, 10)).toPoint(),
    )
    assert transcript.selected_markdown() == "The"
    n_boxes = len(view.boxes)
    transcript.verticalScrollBar().setValue(0)
    transcript.grab()
    assert len(view.boxes) > n_boxes
    assert transcript.selected_markdown() == "The"


def test_work_is_bounded_and_something_is_always_done() -> None:
    work = Work(10)
    assert work.may_do(50)
    assert not work.may_do(1)
    assert work.is_left_over
    work = Work(10)
    assert [work.may_do(4) for _ in range(3)] == [True, True, False]


def test_a_burst_is_handed_on_in_pieces_and_whole(qtbot, qapp) -> None:
    flushed: list[tuple[str, str]] = []
    parent = QObject()
    coalescer = TextCoalescer(lambda _id, text, thoughts: flushed.append((text, thoughts)), parent)
    pieces = [f"piece {i}, " for i in range(5_000)]
    for piece in pieces:
        coalescer.add("a", piece, piece)
    assert flushed == []
    qtbot.waitUntil(lambda: len(flushed) >= 3)
    assert max(len(text) + len(thoughts) for text, thoughts in flushed) <= MAX_FLUSHED
    coalescer.add("a", "the end")
    coalescer.flush_now()
    assert "".join(text for text, _ in flushed) == "".join(pieces) + "the end"
    assert "".join(thoughts for _, thoughts in flushed) == "".join(pieces)


def test_text_of_a_burst_is_all_there_when_the_answer_ends(show) -> None:
    transcript = show(ShownTurn("a", "assistant", state=ShownState.STREAMING))
    for _ in range(5_000):
        transcript.append_text("a", "some words ")
    transcript.finish_turn("a", ShownState.DONE)
    assert transcript.turns[0].text == "some words " * 5_000

"""What is selected in a transcript, and the Markdown that copying it gives."""

from __future__ import annotations

from dataclasses import dataclass

from app.transcript.boxes import Box
from app.transcript.turn_view import TurnView


@dataclass(frozen=True, order=True)
class Position:
    """A place between characters: turn index, box index, position in the box's document."""

    turn: int
    box: int
    offset: int


@dataclass
class Selection:
    """From where the mouse went down to where it is now; the two may be in either order."""

    anchor: Position | None = None
    focus: Position | None = None
    is_everything: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is selected."""
        return not self.is_everything and (self.anchor is None or self.anchor == self.focus)

    def clear(self) -> None:
        """Select nothing."""
        self.anchor = self.focus = None
        self.is_everything = False

    def set(self, anchor: Position, focus: Position) -> None:
        """Select what is between two places."""
        self.anchor, self.focus = anchor, focus
        self.is_everything = False

    def make_room(self, turn: int, box: int, n_boxes: int) -> None:
        """A box of a turn has become more: what is selected after it stays so."""

        def moved(place: Position | None) -> Position | None:
            if place is None or place.turn != turn or place.box <= box:
                return place
            return Position(turn, place.box + n_boxes, place.offset)

        self.anchor, self.focus = moved(self.anchor), moved(self.focus)

    def span(self) -> tuple[Position, Position] | None:
        """The two ends in order, or None where nothing or everything is selected."""
        if self.is_empty or self.anchor is None or self.focus is None:
            return None
        return min(self.anchor, self.focus), max(self.anchor, self.focus)

    def range_in(self, turn: int, box_index: int, box: Box) -> tuple[int, int] | None:
        """The selected range of one box's document, or None."""
        if self.is_everything:
            return 0, box.text_length()
        ends = self.span()
        if ends is None:
            return None
        first, last = ends
        here = (turn, box_index)
        if here < (first.turn, first.box) or here > (last.turn, last.box):
            return None
        start = first.offset if here == (first.turn, first.box) else 0
        end = last.offset if here == (last.turn, last.box) else box.text_length()
        return (start, end) if start < end else None

    def markdown(self, views: list[TurnView]) -> str:
        """The source of what is selected; parts of different turns are divided by an empty line."""
        if self.is_everything:
            return "\n\n".join(view.turn.text for view in views if view.turn.text)
        ends = self.span()
        if ends is None:
            return ""
        first, last = ends
        pieces: list[str] = []
        for i in range(first.turn, min(last.turn, len(views) - 1) + 1):
            view = views[i]
            start = first if i == first.turn else None
            end = last if i == last.turn else None
            if start is None and end is None:
                pieces.append(view.turn.text)
            else:
                pieces.append(_part_of(view, start, end))
        return "\n\n".join(piece for piece in pieces if piece)


def _part_of(view: TurnView, start: Position | None, end: Position | None) -> str:
    """The source of a turn from one place (None: its beginning) to another (None: its end)."""
    if not view.boxes:
        return view.turn.text
    n_quiet = sum(box.is_quiet for box in view.boxes)
    last_box = len(view.boxes) - 1
    begin = (min(start.box, last_box), start.offset) if start else (n_quiet, 0)
    finish = (min(end.box, last_box), end.offset) if end else (last_box, view.boxes[-1].text_length())
    is_within = start is not None and end is not None and begin[0] == finish[0] and not _is_all(view, begin, finish)
    parts = []
    for source, low, high in ((view.turn.reasoning, 0, n_quiet), (view.turn.text, n_quiet, last_box + 1)):
        if begin[0] < high and finish[0] >= low and low < high:
            from_ = (
                source_offset(view.boxes[begin[0]], begin[1], is_end=False, is_within=is_within)
                if begin[0] >= low
                else 0
            )
            to = (
                source_offset(view.boxes[finish[0]], finish[1], is_end=True, is_within=is_within)
                if finish[0] < high
                else len(source)
            )
            parts.append(source[from_:to].strip("\n"))
    return "\n\n".join(part for part in parts if part)


def _is_all(view: TurnView, begin: tuple[int, int], finish: tuple[int, int]) -> bool:
    """Whether one whole box is selected."""
    return begin[1] <= 0 and finish[1] >= view.boxes[finish[0]].text_length()


def source_offset(box: Box, position: int, *, is_end: bool, is_within: bool) -> int:
    """Where in the message a position of the box's document stands.

    The ends of a block are the ends of its source, so that what goes over a block is copied with its marks, unless the
    selection is `is_within` the block. Within text that does not stand in the message as it is shown (an entity, a
    formula), it is the near end of the known text.
    """
    block = box.block
    if position <= 0 and not is_within:
        return block.start
    if box.built is None or (position >= box.text_length() and not is_within):
        return block.end
    known_end = block.start
    for run in box.built.runs:
        if run.source is None:
            continue
        is_inside = run.start < position <= run.end if is_end else run.start <= position < run.end
        if is_inside:
            return min(run.source + position - run.start, block.end)
        if run.start >= position:
            return known_end if is_end else run.source
        known_end = run.source + run.end - run.start
    return block.end

"""One turn laid out in the column: which boxes it has, where they stand, and what in it can be pressed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QPointF, QRectF

from app.look.colours import Sizes
from app.transcript.blocks import Block, BlockKind
from app.transcript.boxes import CARD_HEADER, Box, estimated_lines
from app.transcript.documents import DocumentFactory
from app.transcript.markdown import parse_lazily, parse_more, read
from app.transcript.turns import Action, ShownState, ShownTurn
from app.transcript.work import Work

HEADER = 24.0
HEADER_GAP = 10.0
FOOTER = 28.0
FOOTER_GAP = 8.0
REASONING_ROW = 28.0
NOTE_ROW = 30.0
BUBBLE_X = 16.0
BUBBLE_Y = 12.0
BUBBLE_SHARE = 0.85
BUTTON = 28.0
VERSION_WIDTH = 36.0
COST_OF_SECTION = 6_000
_LONG_BUBBLE = 600


class Spot(Enum):
    """What can be pressed in a turn."""

    ACTION = auto()
    REASONING = auto()
    COPY_CODE = auto()
    LINK = auto()


@dataclass(frozen=True)
class Hotspot:
    """A place to press; `rect` is in the turn. `box` is the index of its block and `href` the address of a link."""

    spot: Spot
    rect: QRectF
    action: Action | None = None
    box: int = -1
    href: str = ""

    def is_same(self, other: Hotspot) -> bool:
        """Whether this is the same thing to press, wherever it stands now."""
        return (self.spot, self.action, self.box, self.href) == (
            other.spot,
            other.action,
            other.box,
            other.href,
        )


class TurnView:
    """The boxes of a turn. Until `open` it is only an estimate of a height.

    `came` tells where one box has become more by being read, and by how many, until someone takes note of it.
    """

    def __init__(self, turn: ShownTurn) -> None:
        self.turn = turn
        self.is_open = False
        self.is_unfolded = False
        self.actions: tuple[Action, ...] = ()
        self.boxes: list[Box] = []
        self.bubble = QRectF()
        self.width = 0.0
        self.height = 0.0
        self.came: list[tuple[int, int]] = []
        self._read_text = self._read_reasoning = ""

    @property
    def is_user(self) -> bool:
        """Whether the turn is shown in a bubble."""
        return self.turn.role == "user"

    @property
    def has_reasoning(self) -> bool:
        """Whether there is a line about reasoning."""
        return bool(self.turn.reasoning)

    @property
    def reasoning_rect(self) -> QRectF:
        """The line that folds and unfolds reasoning."""
        return QRectF(0, HEADER + HEADER_GAP, self.width, REASONING_ROW)

    @property
    def footer_rect(self) -> QRectF:
        """The row of buttons and facts."""
        return QRectF(0, self.height - FOOTER, self.width, FOOTER)

    @property
    def note_rect(self) -> QRectF:
        """The line about a turn that failed or was stopped."""
        return QRectF(0, self.height - FOOTER - FOOTER_GAP - NOTE_ROW, self.width, NOTE_ROW)

    def place(self, width: float, sizes: Sizes) -> None:
        """Take a width: an estimate if the turn was never open, else boxes of new, estimated heights."""
        if width == self.width and self.height:
            return
        self.width = width
        if self.is_open:
            self.stack(sizes)
        else:
            text = self.turn.text
            inner = width * (BUBBLE_SHARE if self.is_user else 1.0)
            n_lines = estimated_lines(len(text), text.count("\n"), inner, sizes)
            self.height = n_lines * sizes.body_line + self._above() + self._below()

    def open(self, sizes: Sizes) -> None:
        """Read the Markdown, once."""
        if self.is_open:
            return
        self.is_open = True
        self.boxes = self._fresh_boxes()
        self.stack(sizes)

    def _fresh_boxes(self) -> list[Box]:
        self._read_text, self._read_reasoning = self.turn.text, self.turn.reasoning if self.is_unfolded else ""
        thoughts = _boxes_of(parse_lazily(self._read_reasoning), self._read_reasoning, is_quiet=True)
        return thoughts + _boxes_of(parse_lazily(self._read_text), self._read_text, is_quiet=False)

    def text_grew(self, factory: DocumentFactory, sizes: Sizes, is_final: bool) -> None:
        """Read what was added to the text and the reasoning; boxes of blocks that did not change stay."""
        if not self.is_open:
            self.height = 0.0
            self.place(self.width, sizes)
            return
        reasoning = self.turn.reasoning if self.is_unfolded else ""
        has_only_grown = self.turn.text.startswith(self._read_text) and reasoning.startswith(self._read_reasoning)
        if has_only_grown:
            old = self.boxes
            n_thoughts = sum(box.is_quiet for box in old)
            self.boxes = _updated(old[:n_thoughts], reasoning, True, factory)
            self.boxes += _updated(old[n_thoughts:], self.turn.text, False, factory)
            self._read_text, self._read_reasoning = self.turn.text, reasoning
        else:
            self.boxes = self._fresh_boxes()
        if is_final:
            for box in self.boxes:
                if box.built is not None and box.built.is_grown:
                    box.drop_document()
        self.stack(sizes)

    def set_unfolded(self, is_unfolded: bool, sizes: Sizes) -> None:
        """Show or hide the reasoning."""
        self.is_unfolded = is_unfolded
        if self.is_open:
            answer = [box for box in self.boxes if not box.is_quiet]
            self._read_reasoning = self.turn.reasoning if is_unfolded else ""
            thoughts = _boxes_of(parse_lazily(self._read_reasoning), self._read_reasoning, is_quiet=True)
            self.boxes = thoughts + answer
            self.stack(sizes)

    def stack(self, sizes: Sizes) -> None:
        """Put the boxes under each other with their present heights."""
        inner = self.width
        if self.is_user:
            inner = self.width * BUBBLE_SHARE - 2 * BUBBLE_X
        for box in self.boxes:
            box.place(inner, sizes)
        y = self._above()
        previous: Box | None = None
        for box in self.boxes:
            y += _gap(previous, box)
            box.y = y
            y += box.height
            previous = box
        if self.is_user:
            self._shape_bubble(y)
        elif not self.boxes:
            y += sizes.body_line if self.turn.state is ShownState.STREAMING else 0.0
        self.height = y + self._below()

    def lay_out(self, top: float, bottom: float, factory: DocumentFactory, sizes: Sizes, work: Work) -> bool:
        """Lay out the boxes that meet `[top, bottom]` of the turn as far as there is work left; True if anything
        moved."""
        self.open(sizes)
        changed = self._read_one(top, bottom, sizes, work)
        for i in self.boxes_between(top, bottom):
            box = self.boxes[i]
            if not box.is_ready and work.may_do(box.cost):
                changed |= box.lay_out(factory)
        if self.is_user and self._fit_bubble(factory):
            changed = True
        if changed:
            self.stack(sizes)
        return changed

    def _read_one(self, top: float, bottom: float, sizes: Sizes, work: Work) -> bool:
        """Read the first section that meets `[top, bottom]` and has not been; True if there was one."""
        for i in self.boxes_between(top, bottom):
            box = self.boxes[i]
            if box.block.kind is BlockKind.UNREAD and work.may_do(COST_OF_SECTION):
                source = self._read_reasoning if box.is_quiet else self._read_text
                boxes = _boxes_of(read(source, box.block), source, is_quiet=box.is_quiet)
                self.boxes[i : i + 1] = boxes
                self.came.append((i, len(boxes) - 1))
                self.stack(sizes)
                return True
        return False

    def anchor(self, y: float) -> tuple[Box, float] | None:
        """The first laid out box below `y`, and where it stands: to be kept in place while others change."""
        first = self.boxes_between(y, y).start
        for box in self.boxes[first : first + 50]:
            if box.is_laid_out and box.y + box.height > y:
                return box, box.y
        return None

    def anchor_shift(self, anchor: tuple[Box, float] | None) -> float:
        """How far an anchor has moved."""
        return 0.0 if anchor is None else anchor[0].y - anchor[1]

    def drop_documents(self) -> None:
        """Free the documents; heights stay."""
        for box in self.boxes:
            box.drop_document()

    def rebuild(self, sizes: Sizes) -> None:
        """Colours or sizes have changed: everything is to be laid out again."""
        for box in self.boxes:
            box.drop_document()
            box.width = 0.0
        width, self.width = self.width, 0.0
        self.place(width, sizes)

    def hotspots(self, top: float, bottom: float, shows_actions: bool) -> Iterator[Hotspot]:
        """What can be pressed in `[top, bottom]` of the turn, from top to bottom, of what is laid out."""
        if self.has_reasoning and self.reasoning_rect.bottom() >= top:
            yield Hotspot(Spot.REASONING, self.reasoning_rect)
        for i in self.boxes_between(top, bottom):
            box = self.boxes[i]
            if box.block.kind is BlockKind.CODE and box.is_card_top:
                rect = QRectF(box.x + box.width - 88, box.y + 5, 82, CARD_HEADER - 10)
                yield Hotspot(Spot.COPY_CODE, rect, box=i)
            if box.built is not None:
                for start, end, href in box.built.links:
                    rects = box.range_rects(start, end)
                    if rects:
                        yield Hotspot(Spot.LINK, rects[0], box=i, href=href)
        if shows_actions and self.footer_rect.top() <= bottom:
            yield from self._action_spots()

    def boxes_between(self, top: float, bottom: float) -> range:
        """The indexes of the boxes that meet `[top, bottom]` of the turn."""
        first = max(0, bisect_right(self.boxes, top, key=lambda box: box.y) - 1)
        last = bisect_right(self.boxes, bottom, key=lambda box: box.y)
        return range(first, max(first, last))

    def code_of(self, box_index: int) -> str:
        """The whole code of the card that begins at a box."""
        return "\n".join(box.block.text() for box in self._card_of(box_index))

    def scroll_code(self, box_index: int, distance: float) -> bool:
        """Scroll the lines of a card of code to the right; False if that is no card, or all of it can be seen."""
        if self.boxes[box_index].block.kind is not BlockKind.CODE:
            return False
        card = self._card_of(box_index)
        overflow = max(box.overflow for box in card)
        x = min(max(0.0, card[0].scroll_x + distance), overflow)
        for box in card:
            box.scroll_x = x
        return overflow > 0

    def _card_of(self, box_index: int) -> list[Box]:
        """The parts of the card of code that a box belongs to."""
        first = last = box_index
        while self.boxes[first].block.continues:
            first -= 1
        while self.boxes[last].block.is_continued:
            last += 1
        return self.boxes[first : last + 1]

    def box_at(self, point: QPointF) -> int:
        """The index of the box nearest to a point of the turn, or -1 if there is none."""
        if not self.boxes:
            return -1
        before = max(0, bisect_right(self.boxes, point.y(), key=lambda box: box.y) - 1)
        after = min(before + 1, len(self.boxes) - 1)
        # In the gap between two boxes the nearer one counts.
        gap_above = point.y() - self.boxes[before].rect.bottom()
        return after if gap_above > self.boxes[after].y - point.y() > 0 else before

    @property
    def row_width(self) -> float:
        """The width of the buttons in the footer, the number of the version included."""
        n_buttons = len(self.actions) + (2 if self.has_versions else 0)
        return n_buttons * (BUTTON + 2) + (VERSION_WIDTH if self.has_versions else 0.0)

    @property
    def version_rect(self) -> QRectF:
        """Where the number of the version is written, between its two buttons."""
        left = self._row_left() + (len(self.actions) + 1) * (BUTTON + 2)
        return QRectF(left, self.footer_rect.top(), VERSION_WIDTH, FOOTER)

    @property
    def has_versions(self) -> bool:
        """Whether there is more than one version of the turn to go through."""
        return self.turn.variant is not None and self.turn.variant[1] > 1

    def _row_left(self) -> float:
        return self.width - self.row_width + 8 if self.is_user else -6.0

    def _action_spots(self) -> Iterator[Hotspot]:
        x, top = self._row_left(), self.footer_rect.top()
        for action in self.actions:
            yield Hotspot(Spot.ACTION, QRectF(x, top, BUTTON, BUTTON), action=action)
            x += BUTTON + 2
        if self.has_versions:
            yield Hotspot(Spot.ACTION, QRectF(x, top, BUTTON, BUTTON), action=Action.PREVIOUS)
            x += BUTTON + 2 + VERSION_WIDTH
            yield Hotspot(Spot.ACTION, QRectF(x, top, BUTTON, BUTTON), action=Action.NEXT)

    def _above(self) -> float:
        if self.is_user:
            return BUBBLE_Y
        return HEADER + HEADER_GAP + (REASONING_ROW + 8.0 if self.has_reasoning else 0.0)

    def _below(self) -> float:
        note = NOTE_ROW + 6.0 if self.turn.note else 0.0
        return (BUBBLE_Y if self.is_user else 0.0) + FOOTER_GAP + FOOTER + note

    def _shape_bubble(self, content_bottom: float) -> None:
        natural = self.bubble.width() - 2 * BUBBLE_X if self.bubble.isValid() else 0.0
        full = self.width * BUBBLE_SHARE - 2 * BUBBLE_X
        inner = natural if 0 < natural <= full and not self._is_long() else full
        left = self.width - inner - 2 * BUBBLE_X
        self.bubble = QRectF(left, 0, inner + 2 * BUBBLE_X, content_bottom + BUBBLE_Y)
        for box in self.boxes:
            box.x = left + BUBBLE_X + box.indent

    def _fit_bubble(self, factory: DocumentFactory) -> bool:
        """Make the bubble of a short message as wide as its text."""
        if self._is_long() or not self.boxes:
            return False
        natural = max(box.natural_width(factory) + box.indent for box in self.boxes)
        full = self.width * BUBBLE_SHARE
        width = min(full, max(natural, 20.0) + 2 * BUBBLE_X)
        if abs(width - self.bubble.width()) < 0.5:
            return False
        self.bubble.setWidth(width)
        return True

    def _is_long(self) -> bool:
        return len(self.turn.text) > _LONG_BUBBLE or len(self.boxes) > 12


def _boxes_of(blocks: list[Block], source: str, *, is_quiet: bool) -> list[Box]:
    return [_box_of(block, source, is_quiet) for block in blocks]


def _box_of(block: Block, source: str, is_quiet: bool) -> Box:
    n_breaks = source.count("\n", block.start, block.end) if block.kind is BlockKind.UNREAD else 0
    return Box(block, is_quiet, n_breaks)


def _updated(old: list[Box], source: str, is_quiet: bool, factory: DocumentFactory) -> list[Box]:
    """Boxes for a text that has grown, taking over the old ones in their order."""
    boxes: list[Box] = []
    for i, block in enumerate(parse_more(source, [box.block for box in old])):
        if i < len(old):
            box = old[i]
            if box.block is not block and box.block != block:
                if box.block.containers == block.containers and box.block.kind is block.kind is not BlockKind.UNREAD:
                    box.take_block(block, factory)
                else:
                    box = _box_of(block, source, is_quiet)
        else:
            box = _box_of(block, source, is_quiet)
        boxes.append(box)
    return boxes


def _gap(previous: Box | None, box: Box) -> float:
    """The space above a box."""
    if previous is None or box.block.continues:
        return 0.0
    if previous.is_quiet != box.is_quiet:
        return 16.0
    if box.block.kind is BlockKind.HEADING:
        return 22.0 if box.block.level <= 2 else 18.0
    if previous.block.kind is BlockKind.HEADING:
        return 8.0
    if box.block.is_tight:
        return 4.0
    return 12.0

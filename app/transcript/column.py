"""The turns of a chat under each other: true heights near the screen, estimates elsewhere."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from app.look.colours import Sizes, Tokens
from app.transcript.documents import DocumentFactory
from app.transcript.heights import HeightIndex
from app.transcript.turn_view import TurnView
from app.transcript.turns import ShownTurn
from app.transcript.work import Work

MARGIN = 24.0
N_TURNS_KEPT = 80
_OVERSCAN = 50.0
_AFTER_USER = 4.0
_AFTER_OTHERS = 20.0


class TurnColumn:
    """Turn views with their places; y is measured from the top of the content, its margin included."""

    def __init__(self, sizes: Sizes, tokens: Tokens) -> None:
        self.views: list[TurnView] = []
        self.width = 0.0
        self._sizes = sizes
        self._tokens = tokens
        self._heights = HeightIndex()
        self._index_of: dict[str, int] = {}
        self._recent: OrderedDict[str, TurnView] = OrderedDict()

    def set_turns(self, turns: Sequence[ShownTurn]) -> None:
        """Start again with these turns."""
        self.views = [TurnView(turn) for turn in turns]
        self._index_of = {turn.id: i for i, turn in enumerate(turns)}
        self._recent.clear()
        self._place_all()

    def append(self, turn: ShownTurn) -> None:
        """Add a turn at the end."""
        view = TurnView(turn)
        view.place(self.width, self._sizes)
        self._index_of[turn.id] = len(self.views)
        self.views.append(view)
        self._heights.append(_outer_height(view))

    def cut(self, index: int) -> None:
        """Remove the turns from `index` on."""
        for view in self.views[index:]:
            self._index_of.pop(view.turn.id, None)
            self._recent.pop(view.turn.id, None)
        del self.views[index:]
        self._heights.cut(index)

    def index_of(self, turn_id: str) -> int | None:
        """Where a turn stands, or None if it is not here."""
        return self._index_of.get(turn_id)

    def place(self, width: float, sizes: Sizes, tokens: Tokens) -> None:
        """Take a width and a look; heights become estimates, and with a new look everything is drawn anew."""
        is_new_look = (sizes, tokens) != (self._sizes, self._tokens)
        self.width, self._sizes, self._tokens = width, sizes, tokens
        if is_new_look:
            for view in self.views:
                view.rebuild(sizes)
        self._place_all()

    def measure(self, index: int) -> bool:
        """Take over the height of a view that changed by itself; True if it did."""
        return self._heights.set(index, _outer_height(self.views[index]))

    def total(self) -> float:
        """The height of everything, margins included; 0 where there are no turns."""
        return self._heights.total() + 2 * MARGIN if self.views else 0.0

    def top(self, index: int) -> float:
        """Where a turn begins."""
        return MARGIN + self._heights.top(index)

    def at(self, y: float) -> int | None:
        """The index of the turn nearest to `y`."""
        return self._heights.at(y - MARGIN) if self.views else None

    def between(self, top: float, bottom: float) -> range:
        """The indexes of the turns that meet `[top, bottom]`."""
        if not self.views:
            return range(0)
        return range(self._heights.at(top - MARGIN), self._heights.at(bottom - MARGIN) + 1)

    def lay_out(self, top: float, bottom: float, factory: DocumentFactory, work: Work) -> tuple[bool, float]:
        """Lay out what meets `[top, bottom]`, as far as there is work left.

        Returns whether anything changed, and by how much what was already laid out at `top` has moved down: scrolling
        by that much keeps it in its place on the screen.
        """
        changed, shift = False, 0.0
        for index in self.between(top, bottom):
            view = self.views[index]
            self._recent[view.turn.id] = view
            self._recent.move_to_end(view.turn.id)
            inside = top + shift - self.top(index)
            was_open, before = view.is_open, view.height
            anchor = view.anchor(inside)
            changed |= view.lay_out(
                inside - _OVERSCAN, bottom + shift - self.top(index) + _OVERSCAN, factory, self._sizes, work
            )
            if self.measure(index):
                changed = True
                if inside > 0:
                    shift += view.anchor_shift(anchor) if was_open else view.height - before
        return changed, shift

    def trim(self) -> None:
        """Free the documents of turns that have not been on the screen for long."""
        while len(self._recent) > N_TURNS_KEPT:
            _, view = self._recent.popitem(last=False)
            view.drop_documents()

    def _place_all(self) -> None:
        for view in self.views:
            view.place(self.width, self._sizes)
        self._heights.replace_all([_outer_height(view) for view in self.views])


def _outer_height(view: TurnView) -> float:
    return view.height + (_AFTER_USER if view.is_user else _AFTER_OTHERS)

"""The versions of a chat as a tree: which turns stand in its chosen version, and that the tree makes sense."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.store.records import MAX_TURN_ID, Turn


def healed(turns: Iterable[Turn]) -> list[Turn]:
    """The turns in the order of their ids, as one tree: a parent that is gone, or that is no earlier turn, is replaced
    by the turn before, and of the versions after each turn exactly one is chosen: of several the newest."""
    ordered = sorted({turn.id: turn for turn in turns}.values(), key=lambda turn: turn.id)
    known: set[int] = set()
    chosen: dict[int | None, int] = {}
    result: list[Turn] = []
    before: int | None = None
    for turn in ordered:
        if turn.parent is not None and turn.parent not in known:
            turn = replace(turn, parent=before)
        known.add(turn.id)
        before = turn.id
        if turn.is_chosen or turn.parent not in chosen:
            chosen[turn.parent] = turn.id
        result.append(turn)
    return [
        turn if turn.is_chosen == (chosen[turn.parent] == turn.id) else replace(turn, is_chosen=not turn.is_chosen)
        for turn in result
    ]


def with_sound_ids(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns as they are if each has an id of its own, and all can be kept, and else numbered in their order."""
    can_be_kept = all(0 <= one < MAX_TURN_ID for turn in turns for one in (turn.id, turn.parent or 0))
    if can_be_kept and len({turn.id for turn in turns}) == len(turns):
        return tuple(turns)
    numbers: dict[int | None, int] = {}
    result: list[Turn] = []
    for number, turn in enumerate(turns, 1):
        parent = None if turn.parent is None else numbers.get(turn.parent, number - 1 or None)
        result.append(replace(turn, id=number, parent=parent))
        numbers[turn.id] = number
    return tuple(result)


def chosen_path(turns: Iterable[Turn]) -> list[Turn]:
    """The chosen version, from the first turn to the last."""
    next_of = {turn.parent: turn for turn in healed(turns) if turn.is_chosen}
    path: list[Turn] = []
    at: int | None = None
    while (turn := next_of.get(at)) is not None:
        path.append(turn)
        at = turn.id
    return path

"""Values that are kept by a key, and what becomes of them when two windows change them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from app.store.preferences import Preferences

MAX_KEPT = 100
_Kept = TypeVar("_Kept")


def with_newest(kept: Mapping[str, _Kept], key: str, newest: _Kept) -> dict[str, _Kept]:
    """The same with this value last; those that were set longest ago are forgotten."""
    return dict([*without(kept, key).items(), (key, newest)][-MAX_KEPT:])


def without(kept: Mapping[str, _Kept], key: str) -> dict[str, _Kept]:
    """The same without the value of a key."""
    return {known: value for known, value in kept.items() if known != key}


def with_changes(kept: Preferences, before: Preferences, after: Preferences) -> Preferences:
    """What is kept, with what this window changed; everything else stays as another window may have left it."""
    changes = {}
    for field in dataclasses.fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old != new:
            changes[field.name] = _merged(getattr(kept, field.name), old, new)
    return dataclasses.replace(kept, **changes)


def _merged(kept: Any, old: Any, new: Any) -> Any:
    if isinstance(new, Mapping):
        merged = {key: value for key, value in kept.items() if key in new or key not in old}
        for key, value in new.items():
            if key not in old or old[key] != value:
                merged = with_newest(merged, key, value)
        return merged
    if isinstance(new, tuple):
        # What the other window added stays, and what was removed here goes.
        return (*new, *(one for one in kept if one not in new and one not in old))
    return new

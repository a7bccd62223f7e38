"""Token ids as few bytes: one that says how wide they are and where from, then each of them, the lowest byte first."""

from __future__ import annotations

import numpy as np

_WIDEST = 4
_FOREIGN = 0x80


def pack(ids: tuple[int, ...] | None, *, are_foreign: bool = False) -> bytes | None:
    """The bytes of ids below 2**32, marked if they are out of a file; None stays None."""
    if ids is None:
        return None
    numbers = np.array(ids, dtype="<u4")
    most = int(numbers.max(initial=0))
    width = max(1, (most.bit_length() + 7) // 8)
    head = bytes([width | (_FOREIGN if are_foreign else 0)])
    return head + numbers.view(np.uint8).reshape(-1, _WIDEST)[:, :width].tobytes()


def unpack(packed: bytes | None) -> tuple[int, ...] | None:
    """The ids again; bytes that make no sense are None, as if the ids were not known."""
    width = packed[0] & ~_FOREIGN if packed else 0
    if not packed or not 1 <= width <= _WIDEST or (len(packed) - 1) % width:
        return None
    parts = np.frombuffer(packed, dtype=np.uint8, offset=1).reshape(-1, width)
    whole = np.zeros((len(parts), _WIDEST), dtype=np.uint8)
    whole[:, :width] = parts
    return tuple(whole.view("<u4").ravel().tolist())


def are_foreign(packed: bytes | None) -> bool:
    """Whether the ids came out of a file."""
    return packed is not None and len(packed) > 0 and bool(packed[0] & _FOREIGN)

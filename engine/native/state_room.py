"""Buffers for snapshots of a context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.cache.memory import StateBytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROWTH_SHARE = 4
"""A buffer has a fourth of spare capacity, so that the chat's next, longer snapshot can reuse it."""


def room_for(n_bytes: int, used: StateBytes | None) -> NDArray[np.uint8]:
    """A buffer of ``n_bytes`` bytes: that of ``used``, an obsolete snapshot, if the size matches, else a new one.

    A new buffer takes no physical memory before it is written to.
    """
    if isinstance(used, memoryview) and isinstance(used.obj, np.ndarray):
        array: NDArray[np.uint8] = used.obj
        whole = array if array.base is None else array.base
        if n_bytes <= len(whole) <= 2 * n_bytes:
            return whole[:n_bytes]
    # NumPy requests huge pages: with bytes or a bytearray a copy takes five times as long.
    return np.empty(n_bytes + n_bytes // GROWTH_SHARE, np.uint8)[:n_bytes]

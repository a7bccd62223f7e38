"""The memory that a snapshot of a context is copied into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.cache.memory import StateBytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROWTH_SHARE = 4
"""A snapshot may grow by a fourth where it lies: the next one of its chat, which is longer, then fits there too."""


def room_for(n_bytes: int, used: StateBytes | None) -> NDArray[np.uint8]:
    """``n_bytes`` bytes: new ones, or those of ``used``, a snapshot that nobody needs any more, if they are as many.

    What a snapshot has to grow into takes no memory before it is written to.
    """
    if isinstance(used, memoryview) and isinstance(used.obj, np.ndarray):
        array: NDArray[np.uint8] = used.obj
        whole = array if array.base is None else array.base
        if n_bytes <= len(whole) <= 2 * n_bytes:
            return whole[:n_bytes]
    # NumPy asks for large pages: with bytes or a bytearray a copy takes five times as long.
    return np.empty(n_bytes + n_bytes // GROWTH_SHARE, np.uint8)[:n_bytes]

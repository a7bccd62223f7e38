"""Reads which positions a llama.cpp context really holds from the header of its sequence state.

Source: state_write of llama-kv-cache.cpp, llama-kv-cache-iswa.cpp, llama-memory-hybrid.cpp, llama-memory-recurrent.cpp
and llama-context.cpp. No call of llama.cpp gives this.
"""

from __future__ import annotations

import struct

from engine.cache.memory import MemoryKind
from engine.native.context import NativeContext

MROPE_EXTENSION_BYTES = 12
"""llama_kv_cell_ext: x, y and the token."""


def held_positions(context: NativeContext, *, has_mrope: bool = False) -> list[int]:
    """Positions of all cells in order (of the layers that see everything); for a state the last position alone."""
    state = context.snapshot()
    _magic, _sequence = struct.unpack_from("<Ii", state, 0)
    if context.traits.kind is MemoryKind.RECURRENT:
        (n_cells,) = struct.unpack_from("<I", state, 8)
        return sorted(struct.unpack_from("<i", state, 12 + 8 * cell)[0] for cell in range(n_cells))
    return _positions(state, MROPE_EXTENSION_BYTES if has_mrope else 0)


def window_positions(context: NativeContext) -> list[int]:
    """Positions of the window layers' cells that a state takes, in order."""
    return _positions(context.snapshot(partial=True), 0)


def _positions(state: memoryview, extension_bytes: int) -> list[int]:
    n_streams, n_cells = struct.unpack_from("<II", state, 8)
    assert n_streams == 1
    offset, positions = 16, []
    for _cell in range(n_cells):
        position, n_sequences = struct.unpack_from("<iI", state, offset)
        assert n_sequences == 1
        positions.append(position)
        offset += 8 + extension_bytes + 4 * n_sequences
    return sorted(positions)

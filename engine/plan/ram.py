"""Refuses contexts that don't fit this machine's RAM, before llama.cpp allocates them."""

from __future__ import annotations

import psutil

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Bytes, say
from engine.api.settings import LoadSettings
from engine.models.geometry import CacheShape, kv_bytes, recurrent_bytes
from engine.models.gguf import ModelInfo

BYTES_PER_CELL = 64
"""llama.cpp's metadata per cell beside K and V, allocated also when it only measures."""
BOOKKEEPING_SHARE = 16
"""That may take a sixteenth of the RAM that is available."""


def require_countable(info: ModelInfo, settings: LoadSettings) -> None:
    """Raise EngineError(OUT_OF_MEMORY) for a context whose cell metadata alone would not fit into RAM."""
    n_ctx = settings.n_ctx_or(info.n_ctx_train)
    available = psutil.virtual_memory().available
    if n_ctx * BYTES_PER_CELL > available // BOOKKEEPING_SHARE:
        needed = kv_bytes(info, CacheShape.of(info, settings)).total
        raise EngineError(
            ErrorCode.OUT_OF_MEMORY,
            say("A context window of {0} tokens needs {1} for K and V: make it smaller.", n_ctx, Bytes(needed)),
            f"{available} bytes of RAM are available",
        )


def require_memory(info: ModelInfo, settings: LoadSettings) -> None:
    """Refuse a cache that doesn't fit into RAM: the system would kill the process during the load.

    Raises EngineError(OUT_OF_MEMORY).
    """
    require_countable(info, settings)
    shape = CacheShape.of(info, settings)
    needed = kv_bytes(info, shape).total + recurrent_bytes(info)
    memory = psutil.virtual_memory()
    if settings.n_gpu_layers == 0 and needed > memory.available:
        raise EngineError(
            ErrorCode.OUT_OF_MEMORY,
            say(
                "A context window of {0} tokens needs {1} for K and V, and {2} are free: make it smaller, or "
                "choose q8_0 or q4_0 for K and V.",
                settings.n_ctx or info.n_ctx_train,
                Bytes(needed),
                Bytes(memory.available),
            ),
            f"kv {needed} bytes, available {memory.available}, total {memory.total}",
        )

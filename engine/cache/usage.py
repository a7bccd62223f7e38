"""What the cache reports about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class CacheCounts:
    """Tokens since the request began (``n_renumbered`` counts occasions)."""

    n_evicted: int = 0
    n_skipped: int = 0
    n_recomputed: int = 0
    n_renumbered: int = 0

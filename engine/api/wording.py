"""Numbers as a person reads them in the engine's sentences."""

from __future__ import annotations


def gibibytes(n_bytes: int) -> str:
    """Bytes in the largest binary unit that keeps the number above 1, such as "45.0 MiB"."""
    amount = float(n_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            break
        amount /= 1024
    return f"{n_bytes} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"

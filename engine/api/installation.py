"""How this Kvasir came onto the machine, which decides what a person can do about a missing part."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that the engine's package lies in."""


class Installation(Enum):
    """A checkout with its ``make``, a program that needs no Python, or packages that pip installed."""

    CHECKOUT = "checkout"
    PROGRAM = "program"
    PIP = "pip"


def installation() -> Installation:
    """What this one is."""
    if getattr(sys, "frozen", False):
        return Installation.PROGRAM
    return Installation.CHECKOUT if (ROOT / "Makefile").is_file() else Installation.PIP

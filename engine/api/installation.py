"""How this copy of Kvasir was installed, which decides how a person can add a missing part."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that the engine's package lies in."""


class Installation(Enum):
    """A source checkout with ``make``, a frozen program that needs no Python, or packages installed by pip."""

    CHECKOUT = "checkout"
    PROGRAM = "program"
    PIP = "pip"


def installation() -> Installation:
    """The kind of the running installation."""
    if getattr(sys, "frozen", False):
        return Installation.PROGRAM
    return Installation.CHECKOUT if (ROOT / "Makefile").is_file() else Installation.PIP

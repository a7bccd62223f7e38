"""Measurements that end their process; importing this imports no llama.cpp."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from engine.api.options import EngineOptions


def crash_on_fastest_code(_log: Any, options: EngineOptions, tries: Path) -> EngineOptions:
    """What it was started with, on any but the best code."""
    note(tries)
    if not options.excluded_cpu_variants and not options.without_extra_bufts:
        os.kill(os.getpid(), signal.SIGSEGV)
    return options


def crash(_log: Any, _options: EngineOptions, tries: Path) -> None:
    """Nothing helps."""
    note(tries)
    os.kill(os.getpid(), signal.SIGSEGV)


def be_killed(_log: Any, _options: EngineOptions, tries: Path) -> None:
    """As by a system without memory."""
    note(tries)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def note(tries: Path) -> None:
    with tries.open("a") as file:
        file.write("x")

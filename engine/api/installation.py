"""How this copy of Kvasir was installed, which decides how a person can add a missing part."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from engine.api.facts import BACKENDS_WITHOUT_GPU
from engine.api.sentences import Sentence, listed, say

ROOT = Path(__file__).resolve().parents[2]
"""The folder that the engine's package lies in."""


class Installation(Enum):
    """A source checkout with ``make``, a frozen program that needs no Python, or packages installed by pip."""

    CHECKOUT = "checkout"
    PROGRAM = "program"
    PIP = "pip"


BUILT_FOR_NO_GPU = {
    Installation.CHECKOUT: say(
        "Kvasir runs on the CPU alone: its llama.cpp was built for no GPU. To use one, build it again "
        "with `make run GPU=vulkan` (or cuda, metal, hip)."
    ),
    Installation.PROGRAM: say(
        "Kvasir runs on the CPU alone: this package was made for no GPU. To use one, install a package "
        "of Kvasir that is made for yours."
    ),
    Installation.PIP: say(
        "Kvasir runs on the CPU alone: its llama.cpp was built for no GPU. To use one, install "
        "llama-cpp-python again, built with CMAKE_ARGS=-DGGML_VULKAN=ON (or CUDA, METAL, HIP)."
    ),
}


def installation() -> Installation:
    """The kind of the running installation."""
    if getattr(sys, "frozen", False):
        return Installation.PROGRAM
    return Installation.CHECKOUT if (ROOT / "Makefile").is_file() else Installation.PIP


def cpu_only_message(backends: Sequence[str]) -> Sentence:
    """Why everything is computed on the CPU, and how to change it."""
    made_for = [name for name in backends if name not in BACKENDS_WITHOUT_GPU]
    if made_for:
        return say(
            "Kvasir runs on the CPU alone: {0} found no GPU. A graphics driver may be missing; without a GPU "
            "everything works, only slower.",
            listed(made_for),
        )
    return BUILT_FOR_NO_GPU[installation()]

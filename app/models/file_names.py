"""Says what a person calls a file with a model in it."""

from __future__ import annotations

import functools
from pathlib import Path, PurePath

from engine.models.stores import ollama_label


@functools.lru_cache(maxsize=256)
def name_of_file(path: str) -> str:
    """The file's name without its ending; Ollama's own name where its files are called after their content only."""
    return ollama_label(Path(path)) or PurePath(path).stem

"""Says what a person calls a model, and a file with one in it."""

from __future__ import annotations

import functools
import re
from pathlib import Path, PurePath

from app.look.foreign_text import elided, visible
from engine.api.messages import ModelFacts
from engine.models.stores import ollama_label


@functools.lru_cache(maxsize=256)
def name_of_file(path: str) -> str:
    """The file's name without its ending; Ollama's own name where its files are called after their content only."""
    return elided(visible(ollama_label(Path(path)) or PurePath(path).stem))


def model_name(facts: ModelFacts) -> str:
    """What a person calls the model: its file's name, without the quantization and the number of the shard.

    The name inside of a file is as often the name of a training run.
    """
    stem = re.sub(r"-\d{5}-of-\d{5}$", "", name_of_file(facts.path))
    if facts.quantization and stem.lower().endswith(facts.quantization.lower()):
        stem = stem[: -len(facts.quantization)].rstrip(".-_:")
    return stem or name_of_file(facts.path)

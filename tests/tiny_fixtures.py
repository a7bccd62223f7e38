"""The fixture that hands out tiny models, each written once a run; import it in a room's conftest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tiny import TinySpec, write_tiny_model


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`tiny_model(arch="gemma3", n_layer=6, …)` gives the path of a tiny model; the fields are TinySpec's."""
    folder = tmp_path_factory.mktemp("tiny")
    written: dict[TinySpec, Path] = {}

    def make(**fields: Any) -> Path:
        spec = TinySpec(**fields)
        if spec not in written:
            digest = hashlib.sha256(repr(spec).encode()).hexdigest()[:12]
            written[spec] = write_tiny_model(folder / f"{spec.arch}-{digest}.gguf", spec)
        return written[spec]

    return make

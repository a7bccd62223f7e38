"""Fixtures of the tests that run the whole engine: its process, its client, and real models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.api.messages import EngineReady
from engine.api.settings import LoadSettings
from engine.models.starter import starter_path
from tests.e2e.desk import Desk
from tests.tiny_fixtures import tiny_model

__all__ = ["tiny_model"]

SMALL = LoadSettings(n_ctx=256, n_threads=1, n_gpu_layers=0)
"""What a tiny model needs."""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """`desk(…)` starts an engine of the test's own; the fields are those of Desk."""
    desks: list[Desk] = []

    def open_desk(**fields: object) -> Desk:
        desks.append(Desk(tmp_path / f"engine{len(desks)}.log", **fields))
        return desks[-1]

    yield open_desk
    for one in desks:
        one.client.close()


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One engine for all tests of a module, none of which ends it."""
    one = Desk(tmp_path_factory.mktemp("engine") / "engine.log")
    one.heard.wait(EngineReady)
    yield one
    one.client.close()


@pytest.fixture(scope="session")
def starter() -> Path:
    """The model that comes with Kvasir."""
    return starter_path()

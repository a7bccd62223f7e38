"""Chats at random on memory without a model, whose cells know what they have seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cache.manager import CacheManager
from tests.engine.cache.test_manager_on_fake import LABS
from tests.engine.snapshots.warm_walk import WarmWalk

N_STEPS = 150


@pytest.mark.parametrize("name", LABS)
def test_whatever_a_person_does_the_cells_are_what_they_should_be(name: str, tmp_path: Path) -> None:
    lab = LABS[name]

    def check(memory: object, manager: CacheManager, _is_whole: bool) -> None:
        lab.check(memory, manager.sequence)

    walk = WarmWalk(lab.new_memory, tmp_path, check, seed=1)
    for _ in range(N_STEPS):
        walk.step()
    assert walk.n_restored > 10
    assert walk.n_reused > 1000

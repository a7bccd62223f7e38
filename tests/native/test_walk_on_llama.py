"""Chats at random on llama.cpp, against an account that isn't ours; `tests.bench.bench_walk` walks further."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.native.log import NativeLog
from tests.native.contexts import native_log
from tests.native.warm_account import TOLERANCE, WALKS, accounted_walk

__all__ = ["native_log"]

N_STEPS = 60


@pytest.mark.parametrize("name", WALKS)
def test_whatever_a_person_does_the_logits_are_those_of_llama_cpp_alone(
    name: str, tmp_path: Path, native_log: NativeLog
) -> None:
    with accounted_walk(name, tmp_path, native_log, seed=1) as one:
        for _ in range(N_STEPS):
            one.walk.step()
            assert one.figures.largest < TOLERANCE, one.walk.last
        assert one.figures.n_compared > N_STEPS // 4
        assert one.walk.n_restored > 3
        assert one.walk.n_reused > 500

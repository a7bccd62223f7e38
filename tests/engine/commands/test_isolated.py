"""A measurement that crashes is tried again on other CPU code, by the rule of the engine itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.client.machine import TRIALS_MAX
from engine.commands.isolated import run_isolated
from tests.engine.commands import crashing

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the played crash is a signal")


def test_a_crash_of_the_fastest_code_is_survived(tmp_path: Path) -> None:
    options = run_isolated(crashing.crash_on_fastest_code, tmp_path / "tries")
    assert options.excluded_cpu_variants or options.without_extra_bufts
    assert (tmp_path / "tries").read_text() == "xx"


@pytest.mark.parametrize(("measure", "n_most"), [(crashing.crash, 1 + TRIALS_MAX), (crashing.be_killed, 1)])
def test_what_no_code_survives_ends_with_a_sentence(measure: Callable[..., None], n_most: int, tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        run_isolated(measure, tmp_path / "tries")
    assert caught.value.code is ErrorCode.ENGINE_CRASHED
    assert 1 <= len((tmp_path / "tries").read_text()) <= n_most

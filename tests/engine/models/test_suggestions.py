"""The first models to offer, and the guess at what a load takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.models.estimate import rough_bytes
from engine.models.gguf import read_model_info
from engine.models.remote import parse_reference
from engine.models.suggestions import COMFORTABLE_ON_CPU_BYTES, SUGGESTIONS, suggestions_for
from engine.settings import LoadSettings

GIB = 2**30


@pytest.mark.parametrize("has_gpu", [True, False])
@pytest.mark.parametrize("gib", [0, 1, 2, 4, 8, 12, 16, 24, 80])
def test_three_that_fit_the_largest_first(gib: int, has_gpu: bool) -> None:
    found = suggestions_for(gib * GIB, has_gpu=has_gpu)
    assert has_gpu or found[0].size_bytes <= COMFORTABLE_ON_CPU_BYTES
    assert 1 <= len(found) <= 3
    sizes = [one.size_bytes for one in found]
    assert sizes == sorted(sizes, reverse=True)
    assert gib == 0 or all(size < gib * GIB * 0.75 for size in sizes)
    assert gib < 4 or len(found) == 3


def test_each_can_be_asked_for() -> None:
    for one in SUGGESTIONS:
        assert parse_reference(f"{one.repo}:{one.quantization}") is not None


def test_a_guess_grows_with_the_context(tiny_model: Callable[..., Path]) -> None:
    info = read_model_info(tiny_model())
    small, large = (rough_bytes(info, LoadSettings(n_ctx=n_ctx)) for n_ctx in (256, 512))
    assert info.size_bytes < small < large
    assert large - small == pytest.approx(1.1 * 256 * 2 * 2 * 64 * 2, abs=2)
    assert rough_bytes(read_model_info(tiny_model(arch="mamba")), LoadSettings()) > 0

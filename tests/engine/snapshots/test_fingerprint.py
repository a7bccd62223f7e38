"""Each thing that K and V depend on makes another binding."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.api.settings import CacheType, LoadSettings, RopeScaling
from engine.snapshots.fingerprint import HEAD_BYTES, SAMPLE_BYTES, binding, model_digest

CONDITIONS: dict[str, Any] = {"library": "1.0", "n_ctx": 512, "rope": "none", "flash_attn": True}


@pytest.mark.parametrize(
    "changed",
    [
        {"type_k": CacheType.Q8_0},
        {"type_v": CacheType.Q8_0},
        {"swa_full": True},
        {"rope_scaling": RopeScaling.LINEAR},
        {"rope_freq_base": 1000.0},
        {"rope_freq_scale": 0.5},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_settings_that_matter(changed: dict[str, Any]) -> None:
    settings = LoadSettings()
    assert binding("m", settings, **CONDITIONS) != binding("m", replace(settings, **changed), **CONDITIONS)


@pytest.mark.parametrize(
    "changed", [{"library": "1.1"}, {"flash_attn": False}], ids=lambda changed: next(iter(changed))
)
def test_conditions_that_matter(changed: dict[str, Any]) -> None:
    settings = LoadSettings()
    assert binding("m", settings, **CONDITIONS) != binding("m", settings, **{**CONDITIONS, **changed})


def test_the_size_of_the_context_matters_where_rope_looks_at_it() -> None:
    def bound(rope: str, n_ctx: int) -> str:
        return binding("m", LoadSettings(n_ctx=n_ctx), "1.0", n_ctx=n_ctx, rope=rope, flash_attn=True)

    assert bound("none", 512) == bound("none", 1024)
    assert bound("longrope", 512) != bound("longrope", 1024)


def test_speed_does_not_matter() -> None:
    other = LoadSettings(n_threads=3, n_batch=64, n_ubatch=64, use_mmap=False, n_gpu_layers=3)
    assert binding("m", LoadSettings(), **CONDITIONS) == binding("m", other, **CONDITIONS)


def test_the_model_file_matters(tmp_path: Path) -> None:
    path, content = tmp_path / "model.gguf", bytes(3 * HEAD_BYTES)

    def written(content: bytes, mtime: int = 1000) -> str:
        path.write_bytes(content)
        os.utime(path, (mtime, mtime))
        return model_digest([path])

    one = written(content)
    assert written(content) == one
    assert written(content + b"0") != one
    assert written(content, 1001) != one
    # In the header, where no sample is taken.
    assert written(content[:SAMPLE_BYTES] + b"1" + content[SAMPLE_BYTES + 1 :]) != one
    middle = len(content) * 40 // 64
    assert written(content[:middle] + b"1" + content[middle + 1 :]) != one
    assert binding(one, LoadSettings(), **CONDITIONS) != binding("other", LoadSettings(), **CONDITIONS)
    assert model_digest([path, path]) != model_digest([path])

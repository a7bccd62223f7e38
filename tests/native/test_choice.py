"""Chosen settings are right: tiny models load so, and real models' headers fit the graphics cards that people have."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.api.plan import Choice, Home
from engine.api.settings import CacheType
from engine.models.gguf import read_model_info
from engine.plan.autofit import SENSIBLE_N_CTX, SHORT_N_CTX, margin_bytes
from tests.native import plan_comparison
from tests.native.conftest import Call
from tests.real_headers import GIB, MODELS, write_real_header
from tests.tiny import TinySpec, write_tiny_model

TINY = {
    "gqa": TinySpec(n_layer=4, n_ctx_train=4096),
    "window": TinySpec(arch="gemma3", n_layer=6, n_ctx_train=4096),
    "mla": TinySpec(arch="deepseek2"),
    "recurrent": TinySpec(arch="mamba"),
    "no type but f16": TinySpec(head_size=80),
}
RAM = 32 * GIB


@pytest.mark.parametrize("name", TINY)
def test_what_is_chosen_is_allocated(name: str, call: Call, tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "model.gguf", TINY[name])
    choice: Choice = call(plan_comparison.choose, path)
    assert choice.fits
    has_gpu = len(choice.plan.devices) > 1
    assert (choice.home is Home.GPU) == has_gpu
    assert choice.settings.n_ctx == TINY[name].n_ctx_train
    # A recurrent layer's state matrices stay in RAM where a GPU can't scan them.
    check(choice, call(plan_comparison.compare, path, choice.settings), is_placed=name != "recurrent")


@pytest.mark.parametrize("gpu_mib", [8, 10, 12])
def test_what_is_chosen_for_a_small_card_is_allocated(gpu_mib: int, call: Call, tmp_path: Path) -> None:
    if not call(plan_comparison.gpu_names):
        pytest.skip("a card's table needs a GPU to stand for it")
    path = write_tiny_model(tmp_path / "model.gguf", TinySpec(n_layer=12, n_ctx_train=4096))
    choice: Choice = call(plan_comparison.choose, path, (gpu_mib * 2**20, RAM))
    assert choice.fits
    assert choice.home is Home.PARTLY
    check(choice, call(plan_comparison.compare, path, choice.settings))


def check(choice: Choice, result: plan_comparison.Comparison, *, is_placed: bool = True) -> None:
    """What each device then holds is what was said when it was chosen."""
    for device in choice.plan.devices:
        real = result.held[device.name]
        assert device.kv_bytes + device.recurrent_bytes == real.context, device.name
        held = real.weights + real.context + real.compute
        assert abs(device.held_bytes - device.output_bytes - held) <= 0.01 * held or not is_placed, device.name
    total = sum(real.weights + real.context + real.compute for real in result.held.values())
    assert abs(choice.plan.total_bytes - choice.plan.output_bytes - total) <= 0.01 * total


@pytest.mark.parametrize("name", MODELS)
def test_real_models_on_the_cards_that_people_have(name: str, call: Call, tmp_path: Path) -> None:
    if not call(plan_comparison.gpu_names):
        pytest.skip("a card's table needs a GPU to stand for it")
    path = write_real_header(tmp_path / f"{name}.gguf", MODELS[name])
    info = read_model_info(path)
    assert info.size_bytes / 1e9 == pytest.approx(MODELS[name].published_gb, rel=0.03)
    before: Choice | None = None
    for gib in (8, 12, 16, 24):
        choice: Choice = call(plan_comparison.choose, path, (gib * GIB, RAM))
        assert choice.fits
        for device in choice.plan.devices:
            assert device.held_bytes + margin_bytes(device.total_bytes) <= device.free_bytes
        n_ctx = choice.settings.n_ctx or 0
        assert n_ctx >= min(SHORT_N_CTX, info.n_ctx_train)
        assert n_ctx <= min(SENSIBLE_N_CTX[choice.home], info.n_ctx_train)
        if before is not None:
            assert choice.plan.n_gpu_layers >= before.plan.n_gpu_layers
            assert n_ctx >= (before.settings.n_ctx or 0)
        # A card with room for the whole file, the short context and 2 GiB more has room for all layers.
        if choice.home is not Home.GPU:
            assert info.size_bytes + choice.plan.kv_bytes + 3 * GIB > gib * GIB
        before = choice
    assert before is not None
    assert before.home is Home.GPU
    assert before.settings.type_k is CacheType.F16 or name == "Phi-4"

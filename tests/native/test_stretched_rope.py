"""All that asks how far a model's positions reach gets one answer, which is llama.cpp's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.settings import LoadSettings, RopeScaling
from engine.models.gguf import ModelInfo, read_model_info
from engine.native.plan_warnings import is_beyond_trained
from engine.plan import fitting
from engine.plan.full_cache import FullCacheOption, loads_to_plan
from tests.engine.plan.test_full_cache import FACTS
from tests.native.contexts import ContextMaker, native_log, new_context
from tests.tiny import TinySpec

__all__ = ["native_log", "new_context"]

N_TRAINED = 1024
LINEAR, YARN, NONE = RopeScaling.LINEAR, RopeScaling.YARN, RopeScaling.NONE
QUARTER = (("llama.rope.scaling.type", "linear"), ("llama.rope.scaling.factor", 4.0))
OFF = (("llama.rope.scaling.type", "none"),)

CASES = {
    "as trained": ((), {}, 1024),
    "twice as long": ((), {"rope_freq_scale": 0.5}, 2048),
    "twice as long, by a method": ((), {"rope_freq_scale": 0.5, "rope_scaling": YARN}, 2048),
    "a method without a scale": ((), {"rope_scaling": YARN}, 1024),
    "the other method without a scale": ((), {"rope_scaling": LINEAR}, 1024),
    "a scale of one": ((), {"rope_freq_scale": 1.0}, 1024),
    "a scale that no method uses": ((), {"rope_freq_scale": 0.5, "rope_scaling": NONE}, 1024),
    "a scale that the file switches off": (OFF, {"rope_freq_scale": 0.5}, 1024),
    "a scale for a method that the file has not": (OFF, {"rope_freq_scale": 0.5, "rope_scaling": LINEAR}, 2048),
    "compressed": ((), {"rope_freq_scale": 2.0}, 512),
    "trained with a scale": (QUARTER, {}, 1024),
    "the scale it was trained with": (QUARTER, {"rope_freq_scale": 0.25}, 1024),
    "less than it was trained with": (QUARTER, {"rope_freq_scale": 0.5}, 512),
    "more than it was trained with": (QUARTER, {"rope_freq_scale": 0.125}, 2048),
    "none of what it was trained with": (QUARTER, {"rope_scaling": NONE}, 256),
    "the base it was trained with": ((), {"rope_freq_base": 10_000.0}, 1024),
    "a base four times as large": ((), {"rope_freq_base": 40_000.0}, 4096),
}


def reach_of_warnings(info: ModelInfo, settings: LoadSettings) -> int:
    """The longest context that nobody is warned of."""
    return next(n for n in range(16, 8193, 16) if is_beyond_trained(info, replace(settings, n_ctx=n))) - 16


@pytest.mark.parametrize(("extra", "fields", "expected"), CASES.values(), ids=CASES.keys())
def test_all_users_agree(extra: tuple, fields: dict, expected: int, new_context: ContextMaker, tmp_path: Path) -> None:
    context = new_context(TinySpec(n_ctx_train=N_TRAINED, extra=extra), **fields)
    info = read_model_info(tmp_path / "0.gguf")
    settings = LoadSettings(**fields)
    assert context.traits.n_positions == expected
    assert info.n_ctx_reach(settings) == expected
    assert reach_of_warnings(info, settings) == expected
    assert fitting.longest_n_ctx(info, settings) == expected
    facts = replace(FACTS, n_ctx=256, n_ctx_train=N_TRAINED, rope_stretch=info.rope.stretch(settings))
    if expected > facts.n_ctx:
        larger = [replace(facts, n_ctx=n_ctx) for n_ctx in (256, expected - 256)]
        found = [loads_to_plan(one)[FullCacheOption.LARGER].n_ctx for one in larger]
        assert found == [min(512, expected), min(2 * (expected - 256), expected)]
    assert FullCacheOption.LARGER not in loads_to_plan(replace(facts, n_ctx=expected)), "as long as it can be"


def test_a_table_of_positions_is_not_stretched(new_context: ContextMaker, tmp_path: Path) -> None:
    spec = TinySpec(arch="gpt2", n_head_kv=4, n_ctx_train=512)
    context = new_context(spec, rope_freq_scale=0.5)
    info = read_model_info(tmp_path / "0.gguf")
    assert context.traits.n_positions == info.n_ctx_reach(LoadSettings(rope_freq_scale=0.5)) == 512

"""What can be done when the cache is full: prices from plans and measured speeds, and reasons where a way is closed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.api.messages import CacheUsage, DeviceMemory, ModelFacts
from engine.api.plan import DevicePlan, MemoryPlan
from engine.api.sentences import say
from engine.api.settings import CacheType, LoadSettings, Policy
from engine.plan.full_cache import FullCacheOption, Obstacle, PricedOption, loads_to_plan, priced_options

MIB = 2**20
FACTS = ModelFacts(
    path="m.gguf", name="m", architecture="llama", quantization="Q4_1", n_params=1, size_bytes=1, n_layer=2,
    n_layer_gpu=0, n_ctx=2048, n_ctx_train=8192, n_batch=512, n_ubatch=512, type_k="f16", type_v="f16",
    flash_attn=True, kv_bytes_per_token=1.0, kv_k_bytes=1, kv_v_bytes=1,
    policies=("sinks", "window", "recompute", "stop"),
    default_policy="sinks", devices=(DeviceMemory("CPU", 100 * MIB, 45 * MIB, 0, 10 * MIB, 1 * MIB),),
    settings=LoadSettings(n_ctx=2048), load_ms=500.0,
)  # fmt: skip
USAGE = CacheUsage("chat", 2048, 2048, 4, 2044, 0, 0, 0, None, 0, 0, 2048, 1, 1, ())


def plan(total_mib: int, free_mib: int, n_ctx: int = 4096) -> MemoryPlan:
    device = DevicePlan("CPU", total_mib * MIB, 0, 0, 0, 0, free_mib * MIB, 1000 * MIB)
    return MemoryPlan(n_ctx, 0, 0, 0, True, True, (device,), ())


def by_option(
    facts: ModelFacts = FACTS, plans: dict | None = None, read_tps: float | None = 100.0
) -> dict[FullCacheOption, PricedOption]:
    return {one.option: one for one in priced_options(facts, USAGE, read_tps, plans or {})}


def test_policies_cost_no_memory_and_only_recompute_costs_time() -> None:
    options = by_option()
    assert options[FullCacheOption.SLIDE] == PricedOption(
        FullCacheOption.SLIDE, policy=Policy.SINKS, extra_bytes=0, seconds=0.0
    )
    assert options[FullCacheOption.RECOMPUTE] == PricedOption(
        FullCacheOption.RECOMPUTE, policy=Policy.RECOMPUTE, extra_bytes=0, seconds=10.24
    )


def test_a_larger_context_costs_its_plan_and_reading_the_chat_again() -> None:
    larger = by_option(plans={FullCacheOption.LARGER: plan(201, 500)})[FullCacheOption.LARGER]
    assert larger.extra_bytes == 45 * MIB
    assert larger.seconds == pytest.approx(0.5 + 20.48)
    assert larger.obstacle is None
    assert larger.load == LoadSettings(n_ctx=4096)


def test_what_does_not_fit_is_closed_and_still_priced() -> None:
    larger = by_option(plans={FullCacheOption.LARGER: plan(201, 200)})[FullCacheOption.LARGER]
    assert (larger.obstacle, larger.extra_bytes) == (Obstacle.DOES_NOT_FIT, 45 * MIB)


def test_a_refused_load_says_why() -> None:
    why = say("Its blocks don't divide the heads.")
    smaller = by_option(plans={FullCacheOption.SMALLER_TYPE: why})[FullCacheOption.SMALLER_TYPE]
    assert (smaller.obstacle, smaller.refusal) == (Obstacle.REFUSED, why)


def test_before_anything_was_measured_no_seconds_are_promised() -> None:
    options = by_option(plans={FullCacheOption.LARGER: plan(201, 500)}, read_tps=None)
    assert options[FullCacheOption.LARGER].seconds is None
    assert options[FullCacheOption.RECOMPUTE].seconds is None


def test_a_recurrent_model_cannot_slide() -> None:
    options = by_option(replace(FACTS, policies=("recompute", "stop")))
    assert options[FullCacheOption.SLIDE].obstacle is Obstacle.MEMORY_KIND
    assert options[FullCacheOption.RECOMPUTE].obstacle is None


def test_the_trained_length_is_the_end_unless_positions_are_stretched() -> None:
    facts = replace(FACTS, n_ctx=8192)
    assert loads_to_plan(facts) == {}
    assert by_option(facts)[FullCacheOption.LARGER].obstacle is Obstacle.TRAINED_LENGTH
    stretched = replace(facts, settings=LoadSettings(n_ctx=8192, rope_freq_scale=0.5), rope_stretch=2.0)
    assert loads_to_plan(stretched)[FullCacheOption.LARGER].n_ctx == 16384


def test_no_way_leads_beyond_the_trained_length() -> None:
    facts = replace(FACTS, n_ctx=5120, settings=LoadSettings(n_ctx=5120))
    assert {load.n_ctx for load in loads_to_plan(facts).values()} == {8192}
    assert loads_to_plan(replace(facts, n_ctx_train=0))[FullCacheOption.LARGER].n_ctx == 10240, "nobody knows"


def test_without_k_and_v_no_type_makes_anything_smaller() -> None:
    facts = replace(FACTS, kv_bytes_per_token=0.0)
    assert FullCacheOption.SMALLER_TYPE not in loads_to_plan(facts)
    assert by_option(facts)[FullCacheOption.SMALLER_TYPE].obstacle is Obstacle.NO_KV


def test_the_next_smaller_type_is_that_of_the_larger_of_both() -> None:
    settings = LoadSettings(n_ctx=2048, type_k=CacheType.Q8_0, type_v=CacheType.F16)
    load = loads_to_plan(replace(FACTS, settings=settings))[FullCacheOption.SMALLER_TYPE]
    assert (load.type_k, load.type_v) == (CacheType.Q8_0, CacheType.Q8_0)


@pytest.mark.parametrize(
    ("now", "then"), [(CacheType.F16, CacheType.Q8_0), (CacheType.Q8_0, CacheType.Q4_0), (CacheType.Q4_0, None)]
)
def test_the_next_smaller_type_gives_twice_the_room(now: CacheType, then: CacheType | None) -> None:
    facts = replace(FACTS, settings=LoadSettings(n_ctx=2048, type_k=now, type_v=now))
    load = loads_to_plan(facts).get(FullCacheOption.SMALLER_TYPE)
    assert (load and load.type_k) == then
    if then is None:
        assert by_option(facts)[FullCacheOption.SMALLER_TYPE].obstacle is Obstacle.NO_SMALLER_TYPE

"""The largest context and the changes that fit, against a machine whose memory is a formula."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.errors import EngineError
from engine.api.plan import DevicePlan, MemoryPlan
from engine.api.settings import CacheType, FlashAttention, GpuLayers, LoadSettings
from engine.models.geometry import CELL_STEP, CacheShape, kv_bytes, n_cells
from engine.models.gguf import ModelInfo, read_model_info
from engine.plan import fitting
from engine.plan.check import check_load
from tests.tiny import TinySpec, write_tiny_model

MIB = 2**20
N_TRAINED = 8192


@pytest.fixture(scope="module")
def info(tmp_path_factory: pytest.TempPathFactory) -> ModelInfo:
    path = write_tiny_model(tmp_path_factory.mktemp("fit") / "tiny.gguf", TinySpec())
    return replace(read_model_info(path), n_ctx_train=N_TRAINED)


class Machine:
    """Plans by the geometry; compute grows with the context, as without flash attention."""

    def __init__(self, info: ModelInfo, free_bytes: int) -> None:
        self.info = info
        self.free_bytes = free_bytes
        self.n_asked = 0

    def plan(self, settings: LoadSettings) -> MemoryPlan:
        self.n_asked += 1
        settings, _ = check_load(self.info, settings)
        n_ctx = settings.n_ctx or self.info.n_ctx_train
        kv = kv_bytes(self.info, CacheShape(n_ctx, settings.type_k, settings.type_v, settings.swa_full))
        compute = settings.n_ubatch * 100 + n_cells(n_ctx) // 3
        device = DevicePlan("CPU", 10_000, kv.total, 0, compute, 0, self.free_bytes, 2 * self.free_bytes)
        return MemoryPlan(n_cells(n_ctx), 0, kv.k, kv.v, True, True, (device,), ())


@given(free_mib=st.integers(0, 64))
def test_the_largest_context_fits_and_one_step_more_does_not(info: ModelInfo, free_mib: int) -> None:
    machine = Machine(info, free_mib * MIB // 16)
    fit = fitting.find_fit(info, LoadSettings(n_ctx=512), machine.plan)
    largest = fit.largest_n_ctx
    if largest is None:
        assert not machine.plan(LoadSettings(n_ctx=CELL_STEP)).fits
        return
    assert machine.plan(LoadSettings(n_ctx=largest)).fits
    assert largest == N_TRAINED or not machine.plan(LoadSettings(n_ctx=largest + CELL_STEP)).fits


def test_few_plans_are_asked_for_a_long_context(info: ModelInfo) -> None:
    info = replace(info, n_ctx_train=2**20)
    machine = Machine(info, kv_bytes(info, CacheShape(300_000)).total)
    fit = fitting.find_fit(info, LoadSettings(n_ctx=512), machine.plan)
    assert fit.largest_n_ctx is not None
    assert machine.n_asked <= 12


def test_what_fits_needs_no_proposal(info: ModelInfo) -> None:
    assert fitting.find_fit(info, LoadSettings(n_ctx=512), Machine(info, 2**40).plan).proposals == ()


def test_a_sliding_window_of_full_size_goes_before_anything_is_lost(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = write_tiny_model(tmp_path_factory.mktemp("window") / "tiny.gguf", TinySpec(arch="gemma3", n_layer=6))
    windowed = replace(read_model_info(path), n_ctx_train=N_TRAINED)
    asked = LoadSettings(n_ctx=N_TRAINED, swa_full=True, n_ubatch=fitting.SMALL_UBATCH)
    machine = Machine(windowed, Machine(windowed, 0).plan(asked).total_bytes // 2)
    first = fitting.find_fit(windowed, asked, machine.plan).proposals[0].settings
    assert first == replace(asked, swa_full=False)


def test_nothing_is_shortened_in_a_type_in_which_the_whole_length_fits(info: ModelInfo) -> None:
    # A length that llama.cpp rounds up: the next one below it is no proposal of its own.
    asked = LoadSettings(n_ctx=N_TRAINED - 100)
    machine = Machine(info, Machine(info, 0).plan(asked).total_bytes * 6 // 10)
    fit = fitting.find_fit(info, asked, machine.plan)
    small = [one.settings.n_ctx for one in fit.proposals if one.settings.type_k is not CacheType.F16]
    assert small == [asked.n_ctx] * len(small)


def test_where_only_v_is_large_it_is_the_first_to_shrink(info: ModelInfo) -> None:
    asked = LoadSettings(n_ctx=N_TRAINED, type_k=CacheType.Q8_0, type_v=CacheType.F16)
    machine = Machine(info, Machine(info, 0).plan(asked).total_bytes * 8 // 10)
    first = fitting.find_fit(info, asked, machine.plan).proposals[0].settings
    assert (first.n_ctx, first.type_k, first.type_v) == (N_TRAINED, CacheType.Q8_0, CacheType.Q8_0)


def test_proposals_fit_and_come_with_the_smallest_loss_first(info: ModelInfo) -> None:
    asked = LoadSettings(n_ctx=N_TRAINED, n_gpu_layers=GpuLayers.ALL)
    whole = Machine(info, 0).plan(asked).total_bytes
    fit = fitting.find_fit(info, asked, Machine(info, whole * 6 // 10).plan)
    assert fit.proposals
    assert all(one.plan.fits for one in fit.proposals)
    first, second = fit.proposals[0].settings, fit.proposals[1].settings
    assert (first.n_ctx, first.type_k, first.type_v) == (N_TRAINED, CacheType.Q8_0, CacheType.Q8_0)
    assert second.n_ctx is not None
    assert second.type_k is CacheType.F16
    assert N_TRAINED > second.n_ctx >= N_TRAINED // 2


def test_a_quantized_type_is_never_proposed_without_flash_attention(info: ModelInfo) -> None:
    asked = LoadSettings(n_ctx=N_TRAINED, flash_attn=FlashAttention.OFF)
    whole = Machine(info, 0).plan(asked).total_bytes
    fit = fitting.find_fit(info, asked, Machine(info, whole // 3).plan)
    assert fit.proposals
    for one in fit.proposals:
        assert not (one.settings.type_v.is_quantized and one.settings.flash_attn is FlashAttention.OFF)


def test_a_context_beyond_the_trained_length_first_goes_back_to_it(info: ModelInfo) -> None:
    trained = Machine(info, 0).plan(LoadSettings(n_ctx=N_TRAINED)).total_bytes
    fit = fitting.find_fit(info, LoadSettings(n_ctx=4 * N_TRAINED), Machine(info, trained).plan)
    assert fit.proposals[0].settings == LoadSettings(n_ctx=N_TRAINED)


def test_settings_that_are_refused_are_mended(info: ModelInfo) -> None:
    asked = LoadSettings(n_ctx=512, type_v=CacheType.Q8_0, flash_attn=FlashAttention.OFF)
    with pytest.raises(EngineError):
        Machine(info, 2**40).plan(asked)
    fit = fitting.find_fit(info, asked, Machine(info, 2**40).plan)
    assert fit.proposals[0].settings == replace(asked, flash_attn=FlashAttention.AUTO)


def test_nothing_fits_into_nothing(info: ModelInfo) -> None:
    fit = fitting.find_fit(info, LoadSettings(), Machine(info, 0).plan)
    assert (fit.largest_n_ctx, fit.proposals) == (None, ())

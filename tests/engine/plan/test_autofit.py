"""The order in which memory is spent, against machines whose memory is a formula."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.errors import EngineError, ErrorCode
from engine.api.facts import Device
from engine.api.plan import Choice, DevicePlan, Home, MemoryPlan
from engine.api.sentences import say
from engine.api.settings import CacheType, GpuLayers, LoadSettings
from engine.models.geometry import CacheShape, kv_bytes, n_cells
from engine.models.gguf import ModelInfo, read_model_info
from engine.plan import autofit
from engine.plan.autofit import choose_settings, evident_defaults, margin_bytes
from tests.tiny import TinySpec, write_tiny_model

MIB = 2**20
N_LAYER = 8
LAYER_BYTES = 10 * MIB


@pytest.fixture(scope="module")
def info(tmp_path_factory: pytest.TempPathFactory) -> ModelInfo:
    path = write_tiny_model(tmp_path_factory.mktemp("fit") / "tiny.gguf", TinySpec(n_layer=N_LAYER))
    return replace(read_model_info(path), n_ctx_train=65_536)


@dataclass
class Machine:
    """Layers of one size, KV by the geometry and in proportion to the layers, compute that is always the same."""

    info: ModelInfo
    vram: int
    ram: int
    refuses: tuple[CacheType, ...] = ()

    def measure(self, settings: LoadSettings) -> MemoryPlan:
        if settings.type_k in self.refuses:
            raise EngineError(ErrorCode.CONTEXT_FAILED, say("No such type."))
        if settings.n_gpu_layers is GpuLayers.AUTO:
            plans = [self._plan(settings, n) for n in range(N_LAYER + 2)]
            gpu = [plan for plan in plans if self._gpu_fits(plan)]
            return gpu[-1] if gpu and self.vram else plans[0]
        assert isinstance(settings.n_gpu_layers, int)
        return self._plan(settings, settings.n_gpu_layers)

    def _gpu_fits(self, plan: MemoryPlan) -> bool:
        return all(one.held_bytes + margin_bytes(one.total_bytes) <= one.free_bytes for one in plan.devices[1:])

    def _plan(self, settings: LoadSettings, n_gpu: int) -> MemoryPlan:
        n_ctx = settings.n_ctx or self.info.n_ctx_train
        kv = kv_bytes(self.info, CacheShape(n_ctx, settings.type_k, settings.type_v))
        on_gpu = kv.total * min(n_gpu, N_LAYER) // N_LAYER
        host = DevicePlan("CPU", (N_LAYER + 1 - n_gpu) * LAYER_BYTES, kv.total - on_gpu, 0, MIB, 0, self.ram, self.ram)
        gpu = DevicePlan("GPU0", n_gpu * LAYER_BYTES, on_gpu, 0, MIB if n_gpu else 0, 0, self.vram, self.vram)
        return MemoryPlan(n_cells(n_ctx), n_gpu, kv.k, kv.v, True, True, (host, gpu) if self.vram else (host,), ())


def choose(machine: Machine) -> Choice:
    return choose_settings(machine.info, LoadSettings(n_threads=3), machine.measure)


def test_with_plenty_everything_is_the_best(info: ModelInfo) -> None:
    choice = choose(Machine(info, vram=1000 * MIB, ram=1000 * MIB))
    assert (choice.home, choice.fits, choice.plan.n_gpu_layers) == (Home.GPU, True, N_LAYER + 1)
    assert choice.n_layer == N_LAYER + 1
    assert choice.settings.n_ctx == autofit.SENSIBLE_N_CTX[Home.GPU]
    assert choice.settings.type_k is choice.settings.type_v is CacheType.F16
    assert choice.settings.n_threads == 3, "what is not chosen is kept"
    assert "All 9 layers" in str(choice.reasons[0])
    assert len(choice.reasons) == 2


def test_types_give_way_to_context_and_context_to_layers(info: ModelInfo) -> None:
    weights = (N_LAYER + 1) * LAYER_BYTES
    short = kv_bytes(info, CacheShape(autofit.SHORT_N_CTX, CacheType.Q8_0, CacheType.Q8_0)).total
    # Just enough for all layers beside the short context in the compact type.
    tight = choose(Machine(info, vram=(weights + short + MIB) * 16 // 15 + MIB // 8, ram=1000 * MIB))
    assert tight.home is Home.GPU
    assert tight.settings.type_k is CacheType.Q8_0
    assert tight.settings.n_ctx is not None
    assert autofit.SHORT_N_CTX <= tight.settings.n_ctx < 2 * autofit.SHORT_N_CTX
    assert any("f16 would not" in str(reason) for reason in tight.reasons)
    # A little less, and a layer has to go; the context may then be longer.
    less = choose(Machine(info, vram=(weights + short) * 16 // 15, ram=1000 * MIB))
    assert less.home is Home.PARTLY
    assert less.plan.n_gpu_layers == N_LAYER
    assert "8 of 9 layers" in str(less.reasons[0])


def test_without_a_gpu(info: ModelInfo) -> None:
    choice = choose(Machine(info, vram=0, ram=1000 * MIB))
    assert (choice.home, choice.fits) == (Home.CPU, True)
    assert choice.settings.n_ctx == autofit.SENSIBLE_N_CTX[Home.CPU]
    assert "no GPU" in str(choice.reasons[0])


def test_no_context_beyond_the_trained_length(info: ModelInfo) -> None:
    choice = choose(Machine(replace(info, n_ctx_train=2048), vram=1000 * MIB, ram=1000 * MIB))
    assert choice.settings.n_ctx == 2048
    assert "trained" in str(choice.reasons[1])


def test_what_does_not_fit_says_by_how_much(info: ModelInfo) -> None:
    choice = choose(Machine(info, vram=0, ram=50 * MIB))
    assert not choice.fits
    assert "missing" in str(choice.reasons[0])
    assert "MiB" in str(choice.reasons[0])


@pytest.mark.parametrize("refuses", [(CacheType.Q8_0, CacheType.Q4_0), (CacheType.F16,), (CacheType.Q8_0,)])
@pytest.mark.parametrize("ram", [50 * MIB, 1000 * MIB])
def test_types_that_the_model_refuses_are_not_chosen(info: ModelInfo, refuses: tuple[CacheType, ...], ram: int) -> None:
    if CacheType.F16 in refuses and ram < 100 * MIB:
        refuses = (CacheType.Q8_0,)
    choice = choose(Machine(info, vram=0, ram=ram, refuses=refuses))
    assert choice.settings.type_k not in refuses
    assert choice.fits == (ram > 100 * MIB)


def test_a_model_that_can_t_be_loaded_at_all(info: ModelInfo) -> None:
    with pytest.raises(EngineError):
        choose(Machine(info, vram=0, ram=1000 * MIB, refuses=tuple(CacheType)))


@given(vram=st.integers(0, 4000), ram=st.integers(40, 4000), n_ctx_train=st.sampled_from([0, 512, 65_536]))
def test_what_is_evident_is_what_would_be_chosen(info: ModelInfo, vram: int, ram: int, n_ctx_train: int) -> None:
    info = replace(info, n_ctx_train=n_ctx_train, size_bytes=(N_LAYER + 1) * LAYER_BYTES)
    devices = [Device("CPU", "", "cpu", "CPU", ram * MIB, ram * MIB)]
    if vram:
        devices.append(Device("GPU0", "", "gpu", "CUDA", vram * MIB, vram * MIB))
    evident = evident_defaults(info, LoadSettings(n_threads=3), devices)
    if evident is not None:
        choice = choose_settings(info, LoadSettings(n_threads=3), Machine(info, vram * MIB, ram * MIB).measure)
        n_gpu_layers = choice.settings.n_gpu_layers
        assert (replace(evident.settings, n_gpu_layers=n_gpu_layers), evident.reasons) == (
            choice.settings,
            choice.reasons,
        )


def test_evident_is_what_takes_less_than_half_of_the_only_memory_that_counts(info: ModelInfo) -> None:
    info = replace(info, size_bytes=100 * MIB)
    cpu = Device("CPU", "", "cpu", "CPU", 4000 * MIB, 4000 * MIB)
    gpu = replace(cpu, name="GPU0", kind="gpu")
    assert evident_defaults(info, LoadSettings(), [cpu]) is not None
    assert evident_defaults(info, LoadSettings(), [cpu, gpu]) is not None
    assert evident_defaults(info, LoadSettings(), [replace(cpu, free_bytes=200 * MIB)]) is None
    assert evident_defaults(info, LoadSettings(), [cpu, replace(gpu, free_bytes=200 * MIB)]) is None
    assert evident_defaults(info, LoadSettings(), [cpu, gpu, gpu]) is None, "how it is spread takes a plan"
    assert evident_defaults(info, LoadSettings(), [cpu, replace(gpu, kind="igpu")]) is None, "its memory is the RAM"
    assert evident_defaults(info, LoadSettings(), []) is None


@given(vram=st.integers(0, 400), ram=st.integers(40, 400))
def test_a_choice_fits_with_its_margin_and_one_more_layer_does_not(info: ModelInfo, vram: int, ram: int) -> None:
    machine = Machine(info, vram * MIB, ram * MIB)
    choice = choose(machine)
    plan = machine.measure(choice.settings)
    assert plan == choice.plan
    if not choice.fits:
        assert not all(
            one.held_bytes + margin_bytes(one.total_bytes) <= one.free_bytes for one in plan.devices if one.held_bytes
        )
        return
    for device in plan.devices:
        if device.held_bytes:
            assert device.held_bytes + margin_bytes(device.total_bytes) <= device.free_bytes
    if vram and plan.n_gpu_layers <= N_LAYER:
        short = replace(
            choice.settings, n_ctx=autofit.SHORT_N_CTX, type_k=CacheType.Q8_0, type_v=CacheType.Q8_0,
            n_gpu_layers=plan.n_gpu_layers + 1,
        )  # fmt: skip
        gpu = machine.measure(short).devices[1]
        is_short = (choice.settings.n_ctx or 0) < autofit.SHORT_N_CTX
        assert is_short or gpu.held_bytes + margin_bytes(gpu.total_bytes) > gpu.free_bytes

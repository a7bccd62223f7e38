"""What a model and a context promise: fields exist, decodes stop, samplers repeat, and errors have a reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import llama_cpp.llama_cpp as llama
import numpy as np
import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.api.settings import CacheType, RopeScaling, SamplingSettings, SplitMode
from engine.cache.memory import DecodeStatus
from engine.native.context import NativeContext, set_fields
from engine.native.devices import Ggml
from engine.native.log import NativeLog
from engine.native.model import NativeModel
from engine.native.sampler import Sampler
from tests.native.contexts import SMALL, ContextMaker, native_log, new_context
from tests.tiny import TinySpec, vocabulary, write_tiny_model

__all__ = ["native_log", "new_context"]

PROMPT = [5 + i % 200 for i in range(48)]


@pytest.fixture
def model(native_log: NativeLog, tmp_path: Path) -> Iterator[NativeModel]:
    loaded = NativeModel(write_tiny_model(tmp_path / "model.gguf", TinySpec()), SMALL, native_log)
    yield loaded
    loaded.close()


def test_a_field_that_is_not_there_is_an_error() -> None:
    params = llama.llama_context_default_params()
    set_fields(params, n_ctx=5)
    assert params.n_ctx == 5
    with pytest.raises(AttributeError, match="use_mmap"):
        set_fields(llama.llama_model_default_params(), use_mmap=True)


def test_a_short_context_is_read_in_batches_of_the_cells_there_are(new_context: ContextMaker) -> None:
    context = new_context(TinySpec(), n_ctx=1, n_batch=256, n_ubatch=256)
    assert (context.traits.n_cells, context.n_batch, context.n_ubatch) == (256, 256, 256)


@pytest.mark.parametrize(
    "fields",
    [
        {"rope_scaling": RopeScaling.YARN, "rope_freq_base": 5000.0, "rope_freq_scale": 0.5},
        {"offload_kqv": False, "swa_full": True, "n_ctx": None},
        *({"type_k": cache_type, "type_v": cache_type} for cache_type in CacheType),
    ],
)
def test_every_setting_of_a_context_is_understood(
    native_log: NativeLog, model: NativeModel, fields: dict[str, object]
) -> None:
    context = NativeContext(model, replace(SMALL, **fields), native_log)
    assert context.decode(PROMPT, 0).status is DecodeStatus.DONE
    context.close()


@pytest.mark.parametrize(
    "fields",
    [
        {"split_mode": SplitMode.ROW, "main_gpu": 0, "tensor_split": (3.0, 1.0)},
        {"use_mmap": False, "use_extra_bufts": False},
    ],
)
def test_every_setting_of_a_model_is_understood(
    native_log: NativeLog, tmp_path: Path, fields: dict[str, object]
) -> None:
    path = write_tiny_model(tmp_path / "model.gguf", TinySpec())
    loaded = NativeModel(path, replace(SMALL, **fields), native_log)
    assert (loaded.n_layer, loaded.n_layer_gpu) == (2, 0)
    loaded.close()
    loaded.close()


def test_a_load_can_be_stopped_and_says_how_far_it_is(native_log: NativeLog, tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "model.gguf", TinySpec(n_layer=8))
    seen: list[float] = []

    def on_progress(fraction: float) -> bool:
        seen.append(fraction)
        return len(seen) < 3

    with pytest.raises(EngineError) as stopped:
        NativeModel(path, SMALL, native_log, on_progress=on_progress)
    assert stopped.value.code is ErrorCode.MODEL_LOAD_FAILED
    assert len(seen) == 3
    assert seen == sorted(seen)


def test_a_context_that_can_not_be_is_a_sentence_with_llama_cpp_s_reason(native_log: NativeLog, tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "model.gguf", TinySpec(head_size=48))
    odd = NativeModel(path, SMALL, native_log)
    with pytest.raises(EngineError) as refused:
        NativeContext(odd, replace(SMALL, type_k=CacheType.Q8_0), native_log)
    assert refused.value.code is ErrorCode.CONTEXT_FAILED
    assert "f16" in refused.value.message
    assert "48" in refused.value.detail or "q8_0" in refused.value.detail
    odd.close()


# Decoding


def test_a_stopped_decode_keeps_whole_micro_batches(new_context: ContextMaker) -> None:
    context = new_context(TinySpec(n_layer=16), n_ctx=512, n_batch=512, n_ubatch=16)
    tokens = [5 + i % 200 for i in range(400)]
    outcome = context.decode(tokens, 0, interrupt=lambda: True)
    assert outcome.status is DecodeStatus.INTERRUPTED
    assert outcome.n_done % 16 == 0
    assert outcome.n_done < 400
    assert context.last_position() == outcome.n_done - 1
    # It goes on from there as if nothing had been.
    assert context.decode(tokens[outcome.n_done :], outcome.n_done).status is DecodeStatus.DONE


def test_a_blank_evaluation_leaves_nothing_and_can_be_stopped(new_context: ContextMaker) -> None:
    context = new_context(TinySpec(n_layer=32), n_ctx=1024, n_batch=1024, n_ubatch=16)
    assert context.evaluate_blank(8)
    assert context.last_position() == -1
    assert not context.evaluate_blank(1000, interrupt=lambda: True)


def test_what_does_not_fit_a_batch_is_refused(new_context: ContextMaker) -> None:
    context = new_context(TinySpec())
    for n_tokens in (0, context.n_batch + 1):
        with pytest.raises(ValueError, match="tokens do not fit"):
            context.decode([5] * n_tokens, 0)


def test_without_room_nothing_is_kept(new_context: ContextMaker) -> None:
    context = new_context(TinySpec(), n_ctx=256, n_batch=256)
    assert context.decode([5] * 250, 0).status is DecodeStatus.DONE
    outcome = context.decode([5] * 100, 250)
    assert (outcome.status, outcome.n_done) == (DecodeStatus.NO_ROOM, 0)
    assert context.last_position() == 249


def test_a_later_snapshot_lies_where_the_one_before_it_lay_if_that_has_room(new_context: ContextMaker) -> None:
    context = new_context(TinySpec())
    context.decode(PROMPT, 0)
    first = context.snapshot()
    copied = bytes(first)
    context.decode(PROMPT[:8], len(PROMPT))
    later = context.snapshot(room=first)
    assert np.shares_memory(np.frombuffer(first, np.uint8), np.frombuffer(later, np.uint8))
    assert bytes(later) == bytes(context.snapshot())
    # What is smaller than half of it would hold memory for nothing, and what is larger does not fit.
    context.clear()
    context.decode(PROMPT[:8], 0)
    small = context.snapshot(room=later)
    assert not np.shares_memory(np.frombuffer(small, np.uint8), np.frombuffer(later, np.uint8))
    assert context.restore(copied)
    large = context.snapshot(room=small)
    assert not np.shares_memory(np.frombuffer(small, np.uint8), np.frombuffer(large, np.uint8))
    assert bytes(large) == copied
    # Of any other kind of bytes nothing is known.
    assert bytes(context.snapshot(room=bytearray(copied))) == copied


# Sampling


def sampled(context: NativeContext, settings: SamplingSettings, seed: int, n_tokens: int = 12) -> list[int]:
    context.clear()
    context.decode(PROMPT, 0)
    sampler = Sampler(settings, seed, n_vocab=len(vocabulary()), recent_tokens=PROMPT)
    tokens: list[int] = []
    while len(tokens) < n_tokens:
        tokens.append(context.sample(sampler))
        context.decode(tokens[-1:], len(PROMPT) + len(tokens) - 1)
    sampler.close()
    sampler.close()
    return tokens


WILD = SamplingSettings(temperature=2.0, top_k=0, top_p=1.0, min_p=0.0)


def test_a_seed_decides_and_zero_temperature_takes_the_best(new_context: ContextMaker) -> None:
    context = new_context(TinySpec())
    assert sampled(context, WILD, 1) == sampled(context, WILD, 1)
    assert sampled(context, WILD, 1) != sampled(context, WILD, 2)
    best = sampled(context, SamplingSettings(temperature=0.0), 1)
    assert best == sampled(context, SamplingSettings(temperature=0.0), 2)
    for one in (replace(WILD, top_k=1), replace(WILD, top_p=0.0), replace(WILD, min_p=1.0)):
        assert sampled(context, one, 3) == best
    context.clear()
    context.decode(PROMPT, 0)
    assert int(np.argmax(context.logits())) == best[0]


@pytest.mark.parametrize(
    "penalty", [{"repeat_penalty": 5.0}, {"presence_penalty": 5.0}, {"frequency_penalty": 5.0}], ids=str
)
def test_penalties_look_at_the_prompt_and_at_what_was_said(
    new_context: ContextMaker, penalty: dict[str, float]
) -> None:
    context = new_context(TinySpec())
    greedy = SamplingSettings(temperature=0.0)
    repeated = sampled(context, greedy, 1, 30)
    varied = sampled(context, replace(greedy, penalty_last_n=200, **penalty), 1, 30)
    assert len(set(varied)) > len(set(repeated))
    assert sampled(context, replace(greedy, penalty_last_n=0, **penalty), 1, 30) == repeated


def test_a_frequency_grows_with_each_appearance_and_a_presence_does_not(new_context: ContextMaker) -> None:
    context = new_context(TinySpec())
    greedy = SamplingSettings(temperature=0.0, penalty_last_n=200)
    repeated = sampled(context, greedy, 1, 30)
    assert sampled(context, replace(greedy, presence_penalty=0.1), 1, 30) == repeated
    assert sampled(context, replace(greedy, frequency_penalty=0.1), 1, 30) != repeated


# Devices and the log


def test_the_cpu_is_there_and_its_variants_are_ranked() -> None:
    ggml = Ggml()
    loaded = ggml.load_backends()
    assert "CPU" in loaded.names
    cpu = [device for device in ggml.devices() if device.kind == "cpu"]
    assert len(cpu) == 1
    assert 0 < cpu[0].free_bytes <= cpu[0].total_bytes


@pytest.mark.parametrize("endpoint", ["127.0.0.1:1", "nonsense", "127.0.0.1:99999", "127.0.0.1:x", ""])
def test_an_rpc_worker_that_is_not_there_is_a_sentence(native_log: NativeLog, endpoint: str) -> None:
    ggml = Ggml()
    if "RPC" not in ggml.backends():
        pytest.skip("this llama.cpp was built without RPC")
    with pytest.raises(EngineError) as refused:
        ggml.add_rpc_server(endpoint)
    assert refused.value.code is ErrorCode.BACKEND_MISSING
    assert endpoint in refused.value.message


def test_the_log_has_whole_lines_in_order_and_a_bounded_tail(native_log: NativeLog, model: NativeModel) -> None:
    assert any("loaded meta data" in line for line in model.load_log)
    assert not any("\n" in line for line in model.load_log)
    tail = native_log.tail(5)
    assert 0 < len(tail.splitlines()) <= 5


def test_structs_are_as_the_library_has_them() -> None:
    """A binding that is newer or older than its library would shift every field behind the first difference."""
    defaults = llama.llama_context_default_params()
    assert (defaults.n_ctx, defaults.n_batch, defaults.n_ubatch) == (512, 2048, 512)
    assert defaults.type_k == defaults.type_v == llama.GGML_TYPE_F16
    assert bool(defaults.offload_kqv)
    model_defaults = llama.llama_model_default_params()
    assert bool(model_defaults.use_extra_bufts)
    assert not bool(model_defaults.no_alloc)

"""Layers lie and compute elsewhere: on Vulkan over Mesa's software driver, and on an RPC worker on this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.messages import (
    EngineLost,
    EngineReady,
    Finished,
    FinishReason,
    ModelLoaded,
    Notice,
    NoticeCode,
    PrefillProgress,
    TextGenerated,
)
from engine.api.settings import FlashAttention, GpuLayers, LoadSettings, SamplingSettings
from tests.e2e.desk import Desk
from tests.rpc_server import rpc_server

pytestmark = pytest.mark.e2e

# One token at a time needs the fewest shaders, each of which Mesa compiles for seconds.
SETTINGS = LoadSettings(n_ctx=2048, n_batch=1, n_ubatch=1, flash_attn=FlashAttention.OFF, n_threads=1)
FOUR = SamplingSettings(temperature=0.0, max_tokens=4, ignore_eos=True)
N_LAYER = 3


@pytest.fixture(scope="module", params=["Vulkan", "RPC"])
def device_desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """An engine that has this device beside the CPU."""
    log_path = tmp_path_factory.mktemp("device") / "engine.log"
    with pytest.MonkeyPatch.context() as patch:
        # 0 takes the first device of any kind, Mesa's CPU driver too; an empty list takes none.
        patch.setenv("GGML_VK_VISIBLE_DEVICES", "0" if request.param == "Vulkan" else "")
        if request.param == "RPC":
            with rpc_server() as endpoint:
                yield from opened(Desk(log_path, rpc_servers=(endpoint,)), request.param)
        else:
            yield from opened(Desk(log_path), request.param)


def opened(desk: Desk, backend: str) -> Iterator[Desk]:
    try:
        ready = desk.heard.wait(EngineReady)
        if backend not in ready.backends:
            pytest.skip(f"this llama.cpp was built without {backend}")
        if not any(device.kind == "gpu" for device in ready.devices):
            pytest.skip(f"{backend} found no device here, not even Mesa's software driver")
        yield desk
    finally:
        desk.client.close()


@pytest.mark.parametrize(
    # llama.cpp counts the output layer, which goes first.
    ("n_gpu_layers", "n_expected"),
    [(0, 0), (2, 1), (GpuLayers.ALL, N_LAYER), (GpuLayers.AUTO, N_LAYER)],
)
def test_layers_lie_where_they_are_asked_to(
    device_desk: Desk, tiny_model: Callable[..., Path], n_gpu_layers: int | GpuLayers, n_expected: int
) -> None:
    facts = device_desk.load(tiny_model(n_layer=N_LAYER), replace(SETTINGS, n_gpu_layers=n_gpu_layers)).facts
    assert facts.n_layer_gpu == n_expected
    on_gpu = [memory for memory in facts.devices if memory.name != "CPU"]
    assert any(memory.kv_bytes for memory in on_gpu) == (n_expected > 0)
    assert sum(memory.kv_bytes for memory in facts.devices) == facts.kv_k_bytes + facts.kv_v_bytes
    finished = device_desk.answer("abc", FOUR)
    assert len(finished.token_ids) == 4


def test_the_answer_is_the_cpu_s(device_desk: Desk, tiny_model: Callable[..., Path]) -> None:
    ids = []
    for n_gpu_layers in (0, GpuLayers.ALL):
        device_desk.load(tiny_model(n_layer=N_LAYER), replace(SETTINGS, n_gpu_layers=n_gpu_layers))
        ids.append(device_desk.answer("abc", FOUR).token_ids)
    assert ids[0] == ids[1]


def test_a_long_prompt_goes_there_in_chunks_and_can_be_stopped(
    device_desk: Desk, tiny_model: Callable[..., Path]
) -> None:
    device_desk.load(tiny_model(n_layer=N_LAYER), replace(SETTINGS, n_gpu_layers=GpuLayers.ALL))
    request_id = device_desk.ask("abcdefghij" * 180, FOUR)
    device_desk.heard.wait(PrefillProgress, lambda event: event.n_done > 0)
    device_desk.stop(request_id)
    finished = device_desk.heard.wait(Finished)
    done = [event.n_done for event in device_desk.heard.of(PrefillProgress) if event.request_id == request_id]
    assert finished.reason is FinishReason.CANCELLED
    assert 0 < done[1] < finished.stats.n_prompt
    assert finished.stats.n_generated == 0
    assert device_desk.answer("abc", FOUR).reason is FinishReason.MAX_TOKENS


def test_an_rpc_worker_that_dies_takes_nothing_with_it(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "")
    with rpc_server() as endpoint:
        one = desk(rpc_servers=(endpoint,))
        if "RPC" not in one.heard.wait(EngineReady).backends:
            pytest.skip("this llama.cpp was built without RPC")
        facts = one.load(tiny_model(), replace(SETTINGS, n_gpu_layers=GpuLayers.ALL)).facts
        assert facts.n_layer_gpu == facts.n_layer
        request_id = one.ask("abc", replace(FOUR, max_tokens=None))
        one.heard.wait(TextGenerated)
    assert one.heard.wait(EngineLost).request_ids == (request_id,)
    # What it did is done here from now on.
    assert one.heard.wait(ModelLoaded).facts.n_layer_gpu == 0
    assert one.answer("abc", FOUR).reason is FinishReason.MAX_TOKENS


def test_where_a_driver_hangs_no_gpu_is_asked_for(desk: Callable[..., Desk], tiny_model: Callable[..., Path]) -> None:
    one = desk(without_gpu=True)
    facts = one.load(tiny_model(), replace(SETTINGS, n_gpu_layers=GpuLayers.ALL)).facts
    one.client.close()
    assert set(one.heard.of(EngineReady)[0].backends) <= {"CPU", "RPC", "BLAS"}
    assert facts.n_layer_gpu == 0
    # Who left the GPU out says so, and why.
    assert one.heard.of(Notice) == []


def test_without_a_device_the_person_learns_how_to_get_one(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "")
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        endpoints = ("127.0.0.1:1", f"127.0.0.1:{silent.getsockname()[1]}")
        one = desk(rpc_servers=endpoints)
        facts = one.load(tiny_model(), replace(SETTINGS, n_gpu_layers=GpuLayers.ALL)).facts
        one.client.close()
    assert facts.n_layer_gpu == 0
    told = [notice.message for notice in one.heard.of(Notice) if notice.code is NoticeCode.CPU_ONLY]
    assert len(told) == 1
    assert "driver" in told[0] or "make run GPU=" in told[0]
    unusable = [notice.message for notice in one.heard.of(Notice) if notice.code is NoticeCode.BACKEND_UNUSABLE]
    if "RPC" in one.heard.of(EngineReady)[0].backends:
        assert all(endpoint in message for endpoint, message in zip(endpoints, unusable, strict=True))

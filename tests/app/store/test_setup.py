"""Setups, presets, and the command line that says the same."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from app.settings.command_line import server_command
from app.store.setup import Setup, SetupPreset, preset_setup, setup_as_json, setup_from_json
from engine.api.declarations import checked
from engine.api.settings import (
    CacheType,
    FlashAttention,
    GpuLayers,
    LoadSettings,
    Policy,
    PolicySettings,
    RopeScaling,
    SamplingSettings,
    SplitMode,
)

ODD = Setup(
    LoadSettings(
        n_ctx=None, type_k=CacheType.Q8_0, type_v=CacheType.Q4_0, flash_attn=FlashAttention.ON, offload_kqv=False,
        swa_full=True, rope_scaling=RopeScaling.YARN, rope_freq_base=5e5, rope_freq_scale=0.5, n_threads=6,
        n_gpu_layers=20, split_mode=SplitMode.ROW, tensor_split=(3.0, 1.0), use_mmap=False, use_extra_bufts=False,
    ),
    PolicySettings(policy=Policy.STOP, n_sink=8, n_window=512, n_evict=64, keep_system=False),
)  # fmt: skip


@pytest.mark.parametrize("setup", [Setup(), ODD])
def test_a_setup_comes_back_from_a_file(setup):
    assert setup_from_json(setup_as_json(setup)) == (setup, ())


def test_what_makes_no_sense_in_a_file_becomes_the_default_and_is_told():
    setup, complaints = setup_from_json({"load": {"n_ctx": -5, "type_k": "q9"}, "policy": ["no"]})
    assert setup == Setup()
    assert len(complaints) == 2


def test_only_load_settings_need_a_reload():
    setup = Setup()
    assert not setup.needs_reload(setup.changed("n_sink", 8))
    assert setup.needs_reload(setup.changed("n_ctx", 512))


@pytest.mark.parametrize("preset", SetupPreset)
def test_presets_are_valid_and_leave_the_machine_settings_alone(preset):
    before = replace(ODD, load=replace(ODD.load, rope_scaling=None))
    setup = preset_setup(preset, before, 8192)
    checked(setup.load)
    checked(setup.policy)
    assert (setup.load.n_threads, setup.load.n_gpu_layers, setup.load.use_mmap) == (6, 20, False)
    assert setup.load.n_ctx is not None
    assert setup.load.n_ctx <= 8192
    assert not setup.load.type_v.is_quantized or setup.load.flash_attn is not FlashAttention.OFF


def test_a_preset_never_asks_for_more_than_the_model_was_trained_for():
    assert preset_setup(SetupPreset.LONG, Setup(), 2048).load.n_ctx == 2048
    assert preset_setup(SetupPreset.LONG, Setup(), None).load.n_ctx == 32_768


def options(command: str) -> dict[str, str | None]:
    words = shlex.split(command)
    assert words[0] == "llama-server"
    found: dict[str, str | None] = {}
    for word, following in zip(words[1:], [*words[2:], "--"], strict=True):
        if word.startswith("--"):
            found[word] = None if following.startswith("--") else following
    return found


def test_the_command_line_says_every_setting():
    found = options(server_command("/models/a model.gguf", ODD, SamplingSettings(seed=7, max_tokens=100)))
    expected = {
        "--model": "/models/a model.gguf", "--ctx-size": "0", "--cache-type-k": "q8_0", "--cache-type-v": "q4_0",
        "--flash-attn": "on", "--n-gpu-layers": "20", "--split-mode": "row", "--tensor-split": "3,1",
        "--threads": "6", "--rope-scaling": "yarn", "--rope-freq-base": "500000", "--rope-freq-scale": "0.5",
        "--no-kv-offload": None, "--swa-full": None, "--no-repack": None, "--load-mode": "none",
        "--no-context-shift": None, "--seed": "7", "--n-predict": "100", "--temp": "0.7",
    }  # fmt: skip
    assert expected.items() <= found.items()


def test_the_command_line_of_an_endless_chat_keeps_the_first_tokens():
    setup = Setup(LoadSettings(n_gpu_layers=GpuLayers.ALL), PolicySettings(policy=Policy.SINKS, n_sink=4))
    found = options(server_command("m.gguf", setup, SamplingSettings()))
    assert ("--context-shift" in found, found["--keep"], found["--n-gpu-layers"]) == (True, "4", "all")
    assert "--load-mode" not in found

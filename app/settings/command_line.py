"""The same settings as a command line of llama.cpp's own server."""

from __future__ import annotations

import shlex
import subprocess
import sys

from app.store.setup import Setup
from engine.api.settings import Policy, RopeScaling, SamplingSettings


def server_command(path: str, setup: Setup, sampling: SamplingSettings) -> str:
    """A command to paste into a shell of this system.

    llama-server knows one way to make room, shifting behind the first tokens, so the policies that evict become that
    one. A window smaller than the context, and how much is evicted at a time, have no counterpart there.
    """
    words = ["llama-server", "--model", path, *_load_words(setup), *_policy_words(setup), *_sampling_words(sampling)]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def _load_words(setup: Setup) -> list[str]:
    load = setup.load
    words = [
        "--ctx-size", str(load.n_ctx or 0),
        "--cache-type-k", load.type_k,
        "--cache-type-v", load.type_v,
        "--flash-attn", load.flash_attn,
        "--batch-size", str(load.n_batch),
        "--ubatch-size", str(load.n_ubatch),
        "--n-gpu-layers", str(load.n_gpu_layers),
        "--split-mode", load.split_mode,
        "--main-gpu", str(load.main_gpu),
    ]  # fmt: skip
    if load.tensor_split:
        words += ["--tensor-split", ",".join(f"{share:g}" for share in load.tensor_split)]
    if load.n_threads is not None:
        words += ["--threads", str(load.n_threads)]
    if load.rope_scaling is not None:
        words += ["--rope-scaling", RopeScaling(load.rope_scaling)]
    if load.rope_freq_base is not None:
        words += ["--rope-freq-base", f"{load.rope_freq_base:g}"]
    if load.rope_freq_scale is not None:
        words += ["--rope-freq-scale", f"{load.rope_freq_scale:g}"]
    for is_said, word in (
        (not load.offload_kqv, "--no-kv-offload"),
        (load.swa_full, "--swa-full"),
        (not load.use_extra_bufts, "--no-repack"),
    ):
        words += [word] if is_said else []
    return words if load.use_mmap else [*words, "--load-mode", "none"]


def _policy_words(setup: Setup) -> list[str]:
    policy = setup.policy
    if policy.policy is Policy.STOP:
        return ["--no-context-shift"]
    n_keep = 0 if policy.policy in (Policy.WINDOW, Policy.RECOMPUTE) else policy.n_sink
    return ["--context-shift", "--keep", str(n_keep)]


def _sampling_words(sampling: SamplingSettings) -> list[str]:
    words = [
        "--temp", f"{sampling.temperature:g}",
        "--top-k", str(sampling.top_k),
        "--top-p", f"{sampling.top_p:g}",
        "--min-p", f"{sampling.min_p:g}",
        "--repeat-penalty", f"{sampling.repeat_penalty:g}",
        "--presence-penalty", f"{sampling.presence_penalty:g}",
        "--frequency-penalty", f"{sampling.frequency_penalty:g}",
        "--repeat-last-n", str(sampling.penalty_last_n),
    ]  # fmt: skip
    if sampling.seed is not None:
        words += ["--seed", str(sampling.seed)]
    if sampling.max_tokens is not None:
        words += ["--n-predict", str(sampling.max_tokens)]
    return [*words, "--ignore-eos"] if sampling.ignore_eos else words

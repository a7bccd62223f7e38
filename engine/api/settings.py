"""The declarations of all engine settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.api.declarations import Applies, setting

GPU_LAYERS_MAX = 10_000
"""More layers than any model has; a bound for input, not a meaning."""
N_CTX_MAX = 2**27
"""134 million cells: beyond any model, well below the 32-bit count that llama.cpp wraps around."""
SEED_MAX = 2**32 - 2
"""llama.cpp reads 2**32 - 1 as "draw one yourself", which would hide the seed."""


class GpuLayers(StrEnum):
    """The values of ``n_gpu_layers`` that are not a number."""

    AUTO = "auto"
    ALL = "all"


class CacheType(StrEnum):
    """Element types that llama.cpp can store K and V in, from most to least exact."""

    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"
    Q8_0 = "q8_0"
    Q5_1 = "q5_1"
    Q5_0 = "q5_0"
    Q4_1 = "q4_1"
    Q4_0 = "q4_0"
    IQ4_NL = "iq4_nl"

    @property
    def is_quantized(self) -> bool:
        return self not in (CacheType.F32, CacheType.F16, CacheType.BF16)


class FlashAttention(StrEnum):
    AUTO = "auto"
    ON = "on"
    OFF = "off"


class RopeScaling(StrEnum):
    NONE = "none"
    LINEAR = "linear"
    YARN = "yarn"


class SplitMode(StrEnum):
    """How a model is spread over several GPUs (llama.cpp's ``llama_split_mode``)."""

    NONE = "none"
    LAYER = "layer"
    ROW = "row"


class Policy(StrEnum):
    """The cache policy: what happens when the cache is full."""

    STOP = "stop"
    WINDOW = "window"
    SINKS = "sinks"
    RECOMPUTE = "recompute"


class Align(StrEnum):
    """Whether an eviction may cut a turn in half."""

    TOKEN = "token"
    TURN = "turn"


_MODEL, _CACHE, _POLICY, _SAMPLING, _TIERS = "model", "cache", "policy", "sampling", "tiers"


@dataclass(frozen=True)
class LoadSettings:
    """The settings of a load; any change needs a reload (of the context at least)."""

    n_ctx: int | None = setting(
        4096,
        "Context window",
        "Tokens the cache has cells for, rounded up to a multiple of 256. KV memory grows in proportion.",
        group=_CACHE,
        unit="tokens",
        bounds=(1, N_CTX_MAX),
        none_label="as trained",
    )
    type_k: CacheType = setting(
        CacheType.F16,
        "K cache type",
        "How keys are stored. q8_0 takes 53 % of f16 at next to no loss; q4_0 takes 28 % and costs accuracy, in K more "
        "than in V.",
        group=_CACHE,
    )
    type_v: CacheType = setting(
        CacheType.F16,
        "V cache type",
        "How values are stored. A quantized V needs flash attention.",
        group=_CACHE,
    )
    flash_attn: FlashAttention = setting(
        FlashAttention.AUTO,
        "Flash attention",
        "Computes attention without the large score matrix: less compute memory, and a must for a quantized V.",
        group=_CACHE,
    )
    offload_kqv: bool = setting(
        True,
        "KV cache on the GPU",
        "Off keeps the KV cache of offloaded layers in RAM: frees VRAM, and every token becomes much slower.",
        group=_CACHE,
    )
    swa_full: bool = setting(
        False,
        "Full-size sliding-window cache",
        "Models with sliding-window layers keep only their window by default. On keeps everything: more memory, cheap "
        "edits.",
        group=_CACHE,
    )
    rope_scaling: RopeScaling | None = setting(
        None,
        "RoPE scaling",
        "Stretches positions so that a context beyond the trained length stays usable; short texts lose a little.",
        group=_CACHE,
        none_label="from model",
    )
    rope_freq_base: float | None = setting(
        None,
        "RoPE base",
        "Base frequency of the rotary position embedding.",
        group=_CACHE,
        bounds=(1.0, 1e9),
        none_label="from model",
    )
    rope_freq_scale: float | None = setting(
        None,
        "RoPE frequency scale",
        "0.5 stretches the trained length to twice its size.",
        group=_CACHE,
        bounds=(0.001, 1.0),
        none_label="from model",
    )
    n_batch: int = setting(
        2048,
        "Batch",
        "Most tokens handed to llama.cpp in one call while a prompt is read.",
        group=_MODEL,
        unit="tokens",
        bounds=(1, 65_536),
    )
    n_ubatch: int = setting(
        512,
        "Micro-batch",
        "Tokens computed at once. Larger reads prompts faster on a GPU and needs a larger compute buffer.",
        group=_MODEL,
        unit="tokens",
        bounds=(1, 65_536),
    )
    n_threads: int | None = setting(
        None,
        "Threads",
        "CPU threads for computing. Automatic takes one for each physical core.",
        group=_MODEL,
        bounds=(1, 512),
        none_label="automatic",
    )
    n_gpu_layers: int | GpuLayers = setting(
        GpuLayers.AUTO,
        "GPU layers",
        "Layers whose weights and KV cache lie on the GPU. Automatic takes as many as fit.",
        group=_MODEL,
        unit="layers",
        bounds=(0, GPU_LAYERS_MAX),
    )
    main_gpu: int = setting(
        0,
        "Main GPU",
        "The GPU that holds the whole model when it is not split.",
        group=_MODEL,
        bounds=(0, 15),
    )
    split_mode: SplitMode = setting(
        SplitMode.LAYER,
        "Split over GPUs",
        "How several GPUs share a model: by layers, by rows, or not at all.",
        group=_MODEL,
    )
    tensor_split: tuple[float, ...] = setting(
        (),
        "Share of each GPU",
        "Proportions such as 3,1; empty lets llama.cpp divide by free memory.",
        group=_MODEL,
    )
    use_mmap: bool = setting(
        True,
        "Map the file",
        "Reads weights straight from the file as they are needed: a fast start, and RAM that other programs can take "
        "back.",
        group=_MODEL,
    )
    use_extra_bufts: bool = setting(
        True,
        "Repack weights for the CPU",
        "Faster on the CPU, at the price of RAM that can't be shared with the file.",
        group=_MODEL,
    )

    def n_ctx_or(self, n_ctx_train: int) -> int:
        """The context window in tokens: the value set, or else the model's trained length."""
        return n_ctx_train if self.n_ctx is None else self.n_ctx


@dataclass(frozen=True)
class PolicySettings:
    """The cache policy's settings; a change takes effect with the next request."""

    policy: Policy | None = setting(
        None,
        "When the cache is full",
        "stop ends the answer · window keeps the latest tokens · sinks also keeps the first ones, which holds the "
        "quality · "
        "recompute drops the oldest turns and reads the rest again.",
        group=_POLICY,
        applies=Applies.LIVE,
        none_label="best for the model",
    )
    n_sink: int = setting(
        4,
        "Sinks",
        "First tokens that are never evicted. Four are enough to hold the quality (StreamingLLM).",
        group=_POLICY,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(0, N_CTX_MAX),
    )
    n_window: int | None = setting(
        None,
        "Window",
        "Most recent tokens kept beside the sinks. Smaller than the context window answers faster and forgets sooner.",
        group=_POLICY,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(2, N_CTX_MAX),
        none_label="all the room",
    )
    n_evict: int | None = setting(
        None,
        "Evicted at a time",
        "Cells freed at once when the window is full.",
        group=_POLICY,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(1, N_CTX_MAX),
        none_label="window ÷ 8",
    )
    keep_system: bool = setting(
        True,
        "Keep the system prompt",
        "The system prompt counts as sinks and is never evicted.",
        group=_POLICY,
        applies=Applies.LIVE,
    )
    align: Align = setting(
        Align.TOKEN,
        "Evict whole turns",
        "turn never leaves half a finished message in the cache; token frees exactly the chunk.",
        group=_POLICY,
        applies=Applies.LIVE,
    )


@dataclass(frozen=True)
class SamplingSettings:
    """The sampler's settings; a change takes effect with the next request."""

    temperature: float = setting(
        0.7,
        "Temperature",
        "0 always takes the most likely token.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0.0, 5.0),
    )
    top_k: int = setting(
        40,
        "Top-k",
        "Only the k most likely tokens; 0 is all.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0, 1_000_000),
    )
    top_p: float = setting(
        0.95,
        "Top-p",
        "The smallest set of tokens with this probability; 1 is all.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0.0, 1.0),
    )
    min_p: float = setting(
        0.05,
        "Min-p",
        "Drops tokens less likely than this share of the best one.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0.0, 1.0),
    )
    repeat_penalty: float = setting(
        1.0,
        "Repeat penalty",
        "Above 1 makes recent tokens less likely.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0.1, 5.0),
    )
    presence_penalty: float = setting(
        0.0,
        "Presence penalty",
        "Subtracted once a token has appeared.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(-5.0, 5.0),
    )
    frequency_penalty: float = setting(
        0.0,
        "Frequency penalty",
        "Subtracted for each appearance of a token.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(-5.0, 5.0),
    )
    penalty_last_n: int = setting(
        64,
        "Penalty range",
        "How many recent tokens the penalties look at.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(0, 1_000_000),
    )
    seed: int | None = setting(
        None,
        "Seed",
        "The same seed gives the same text. Random draws one and shows it.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0, SEED_MAX),
        none_label="random",
    )
    max_tokens: int | None = setting(
        None,
        "Longest answer",
        "The answer ends after this many tokens.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(1, 2**31 - 1),
        none_label="no limit",
    )
    ignore_eos: bool = setting(
        False,
        "Ignore the end of the turn",
        "Goes on after the model wants to stop; for measurements.",
        group=_SAMPLING,
        applies=Applies.LIVE,
    )


@dataclass(frozen=True)
class TierSettings:
    """The budgets for snapshots of chats that are not in the context; a change takes effect at once."""

    ram_mib: int = setting(
        1024,
        "Chats kept in RAM (MiB)",
        "Memory for the caches of chats that are not open, so that opening one again takes milliseconds. A chat whose "
        "cache is larger than this is kept on disk alone. Fewer are kept while other programs need the memory.",
        group=_TIERS,
        applies=Applies.LIVE,
        unit="MiB",
        bounds=(0, 1_048_576),
    )
    disk_gib: int = setting(
        4,
        "Chats kept on disk (GiB)",
        "Room for the same on disk, where they outlive the program. What was used longest ago is deleted first; 0 "
        "keeps none.",
        group=_TIERS,
        applies=Applies.LIVE,
        unit="GiB",
        bounds=(0, 16_384),
    )

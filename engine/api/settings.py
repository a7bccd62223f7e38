"""Every setting of the engine, declared once: type, default, bounds, words, and whether a change needs a reload.

The command line, the settings panel, the preferences file and the documentation are all derived from the declarations
here: ``declarations(LoadSettings)`` lists them.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeGuard, TypeVar, get_args, get_type_hints

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Sentence, Value, either, say

GPU_LAYERS_MAX = 10_000
"""More layers than any model has; a bound for input, not a meaning."""
N_CTX_MAX = 2**27
"""134 million cells: beyond any model, well below the 32-bit count that llama.cpp wraps around."""
SEED_MAX = 2**32 - 2
"""llama.cpp reads 2**32 - 1 as "draw one yourself", which would hide the seed."""


class Applies(StrEnum):
    """When a changed setting takes effect."""

    LIVE = "live"
    RELOAD = "reload"


class GpuLayers(StrEnum):
    """The two answers to "how many layers on the GPU" that are not a number."""

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
    """What happens when the cache is full."""

    STOP = "stop"
    WINDOW = "window"
    SINKS = "sinks"
    RECOMPUTE = "recompute"


class Align(StrEnum):
    """Whether an eviction may cut a turn in half."""

    TOKEN = "token"
    TURN = "turn"


@dataclass(frozen=True)
class Declaration:
    """One setting as declared: everything a panel, a command line or a file needs to know about it.

    ``optional`` settings may be None, which means what ``none_label`` says. ``words`` are the values that are not a
    number where a number is otherwise expected (GPU layers: auto, all).
    """

    name: str
    kind: type
    default: Any
    label: str
    help: str
    group: str
    applies: Applies
    unit: str
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    words: tuple[str, ...]
    optional: bool
    none_label: str

    @property
    def flag(self) -> str:
        """The command line's spelling, ``--n-ctx``."""
        return "--" + self.name.replace("_", "-")

    def parse(self, text: str) -> Any:
        """Read a value as a person types it; raises EngineError(SETTING_INVALID) with the bounds in the sentence."""
        word = text.strip()
        if self.optional and word.lower() in ("", "none", "auto", self.none_label.lower()):
            return self.check(None)
        if word in self.words or self.choices or self.kind is str:
            return self.check(word)
        try:
            if self.kind is bool:
                return self.check(
                    {"on": True, "true": True, "yes": True, "1": True}.get(word.lower(), False)
                    if word.lower() in _BOOLEAN_WORDS
                    else word
                )
            if self.kind is tuple:
                return self.check(tuple(float(part) for part in word.split(",") if word))
            return self.check(self.kind(word))
        except ValueError:
            raise self._invalid(text) from None

    def check(self, value: Any) -> Any:
        """Return the value in its declared type, or raise EngineError(SETTING_INVALID)."""
        if value is None and self.optional:
            return None
        if isinstance(value, str) and value in self.words:
            return GpuLayers(value)
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                raise self._invalid(value)
            return self.kind(value)
        if self.kind is tuple:
            return self._checked_tuple(value)
        if self.kind is bool or self.kind is str:
            if not isinstance(value, self.kind):
                raise self._invalid(value)
            return value
        return self._checked_number(value)

    def _checked_number(self, value: Any) -> Any:
        if not is_finite_number(value) or (self.kind is int and value != int(value)):
            raise self._invalid(value)
        if (self.minimum is not None and value < self.minimum) or (self.maximum is not None and value > self.maximum):
            raise self._invalid(value)
        return self.kind(value)

    def _checked_tuple(self, value: Any) -> tuple[float, ...]:
        if not isinstance(value, (tuple, list)) or len(value) > 64:
            raise self._invalid(value)
        numbers = tuple(self._as_share(part) for part in value)
        if numbers and not any(numbers):
            raise self._invalid(value)
        return numbers

    def _as_share(self, part: Any) -> float:
        if not is_finite_number(part) or part < 0:
            raise self._invalid(part)
        return float(part)

    def _invalid(self, value: Any) -> EngineError:
        label, given = Sentence(self.label), str(value)[:60]
        sentence = say("{0} can't be “{1}”: use {2}.", label, given, self.allowed())
        return EngineError(ErrorCode.SETTING_INVALID, sentence, f"{self.name}={value!r:.200}")

    def allowed(self) -> Value:
        """The values that would be right, in words."""
        if self.choices:
            return either([Sentence(choice) for choice in self.choices])
        if self.kind is bool:
            return say("on or off")
        if self.kind is tuple:
            return say("shares such as 3,1, not all of them zero")
        if self.kind is str:
            return say("text")
        number = say("a whole number") if self.kind is int else say("a number")
        if self.minimum is not None and self.maximum is not None:
            number = say("{0} from {1} to {2}", number, _plain(self.minimum), _plain(self.maximum))
        words = [*self.words, *([self.none_label] if self.optional else [])]
        return either([*map(Sentence, words), number])


_BOOLEAN_WORDS = frozenset({"on", "true", "yes", "1", "off", "false", "no", "0"})


def is_finite_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value out of a file is a number that can be counted with; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        # A whole number beyond every float.
        return False


def _plain(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else str(bound)


def _setting(  # noqa: PLR0913 - a declaration is flat, and each use names what it gives
    default: Any,
    label: str,
    help_text: str,
    *,
    group: str,
    applies: Applies = Applies.RELOAD,
    unit: str = "",
    bounds: tuple[float | None, float | None] = (None, None),
    none_label: str = "",
) -> Any:
    """A dataclass field that carries its declaration."""
    metadata = {
        "label": label,
        "help": help_text,
        "group": group,
        "applies": applies,
        "unit": unit,
        "minimum": bounds[0],
        "maximum": bounds[1],
        "none_label": none_label,
    }
    return dataclasses.field(default=default, metadata=metadata)


_Settings = TypeVar("_Settings")


def declarations(settings_class: type) -> tuple[Declaration, ...]:
    """Every setting of a settings class, in the order in which a person should meet them."""
    return _declared(settings_class)


@functools.cache
def _declared(settings_class: type) -> tuple[Declaration, ...]:
    # Settings are checked dozens of times for one plan, and type hints are slow to read.
    hints = get_type_hints(settings_class)
    return tuple(_declaration(field, hints[field.name]) for field in dataclasses.fields(settings_class))


def _declaration(field: dataclasses.Field[Any], hint: Any) -> Declaration:
    members = get_args(hint) if not getattr(hint, "__origin__", None) else ()
    kinds = [member for member in (members or (hint,)) if member is not type(None)]
    words = tuple(GpuLayers) if GpuLayers in kinds else ()
    kind = next(member for member in kinds if member is not GpuLayers)
    kind = getattr(kind, "__origin__", kind)
    choices = tuple(kind) if issubclass(kind, StrEnum) else ()
    return Declaration(
        name=field.name,
        kind=kind,
        default=field.default,
        choices=tuple(str(choice) for choice in choices),
        words=tuple(str(word) for word in words),
        optional=type(None) in members,
        **field.metadata,
    )


def checked(settings: _Settings) -> _Settings:
    """The same settings with every value validated against its declaration; raises EngineError(SETTING_INVALID)."""
    values = {d.name: d.check(getattr(settings, d.name)) for d in declarations(type(settings))}
    return type(settings)(**values)


def from_mapping(settings_class: type[_Settings], values: Mapping[str, Any]) -> tuple[_Settings, tuple[str, ...]]:
    """Settings from a file or message, and a sentence for each value that had to be replaced by its default."""
    good: dict[str, Any] = {}
    complaints: list[str] = []
    for declaration in declarations(settings_class):
        if declaration.name in values:
            try:
                good[declaration.name] = declaration.check(values[declaration.name])
            except EngineError as error:
                complaints.append(error.message)
    return settings_class(**good), tuple(complaints)


def to_mapping(settings: Any) -> dict[str, Any]:
    """JSON-ready values by name."""
    plain: dict[str, Any] = {}
    for declaration in declarations(type(settings)):
        value = getattr(settings, declaration.name)
        plain[declaration.name] = (
            list(value) if isinstance(value, tuple) else str(value) if isinstance(value, StrEnum) else value
        )
    return plain


_MODEL, _CACHE, _POLICY, _SAMPLING, _TIERS = "model", "cache", "policy", "sampling", "tiers"


@dataclass(frozen=True)
class LoadSettings:
    """What a model is loaded with; any change needs a reload (of the context at least)."""

    n_ctx: int | None = _setting(
        4096,
        "Context window",
        "Tokens the cache has cells for, rounded up to a multiple of 256. KV memory grows in proportion.",
        group=_CACHE,
        unit="tokens",
        bounds=(1, N_CTX_MAX),
        none_label="as trained",
    )
    type_k: CacheType = _setting(
        CacheType.F16,
        "K cache type",
        "How keys are stored. q8_0 takes 53 % of f16 at next to no loss; q4_0 takes 28 % and costs accuracy, in K more "
        "than in V.",
        group=_CACHE,
    )
    type_v: CacheType = _setting(
        CacheType.F16,
        "V cache type",
        "How values are stored. A quantized V needs flash attention.",
        group=_CACHE,
    )
    flash_attn: FlashAttention = _setting(
        FlashAttention.AUTO,
        "Flash attention",
        "Computes attention without the large score matrix: less compute memory, and a must for a quantized V.",
        group=_CACHE,
    )
    offload_kqv: bool = _setting(
        True,
        "KV cache on the GPU",
        "Off keeps the KV cache of offloaded layers in RAM: frees VRAM, and every token becomes much slower.",
        group=_CACHE,
    )
    swa_full: bool = _setting(
        False,
        "Full-size sliding-window cache",
        "Models with sliding-window layers keep only their window by default. On keeps everything: more memory, cheap "
        "edits.",
        group=_CACHE,
    )
    rope_scaling: RopeScaling | None = _setting(
        None,
        "RoPE scaling",
        "Stretches positions so that a context beyond the trained length stays usable; short texts lose a little.",
        group=_CACHE,
        none_label="from model",
    )
    rope_freq_base: float | None = _setting(
        None,
        "RoPE base",
        "Base frequency of the rotary position embedding.",
        group=_CACHE,
        bounds=(1.0, 1e9),
        none_label="from model",
    )
    rope_freq_scale: float | None = _setting(
        None,
        "RoPE frequency scale",
        "0.5 stretches the trained length to twice its size.",
        group=_CACHE,
        bounds=(0.001, 1.0),
        none_label="from model",
    )
    n_batch: int = _setting(
        2048,
        "Batch",
        "Most tokens handed to llama.cpp in one call while a prompt is read.",
        group=_MODEL,
        unit="tokens",
        bounds=(1, 65_536),
    )
    n_ubatch: int = _setting(
        512,
        "Micro-batch",
        "Tokens computed at once. Larger reads prompts faster on a GPU and needs a larger compute buffer.",
        group=_MODEL,
        unit="tokens",
        bounds=(1, 65_536),
    )
    n_threads: int | None = _setting(
        None,
        "Threads",
        "CPU threads for computing. Automatic takes one for each physical core.",
        group=_MODEL,
        bounds=(1, 512),
        none_label="automatic",
    )
    n_gpu_layers: int | GpuLayers = _setting(
        GpuLayers.AUTO,
        "GPU layers",
        "Layers whose weights and KV cache lie on the GPU. Automatic takes as many as fit.",
        group=_MODEL,
        unit="layers",
        bounds=(0, GPU_LAYERS_MAX),
    )
    main_gpu: int = _setting(
        0,
        "Main GPU",
        "The GPU that holds the whole model when it is not split.",
        group=_MODEL,
        bounds=(0, 15),
    )
    split_mode: SplitMode = _setting(
        SplitMode.LAYER,
        "Split over GPUs",
        "How several GPUs share a model: by layers, by rows, or not at all.",
        group=_MODEL,
    )
    tensor_split: tuple[float, ...] = _setting(
        (),
        "Share of each GPU",
        "Proportions such as 3,1; empty lets llama.cpp divide by free memory.",
        group=_MODEL,
    )
    use_mmap: bool = _setting(
        True,
        "Map the file",
        "Reads weights straight from the file as they are needed: a fast start, and RAM that other programs can take "
        "back.",
        group=_MODEL,
    )
    use_extra_bufts: bool = _setting(
        True,
        "Repack weights for the CPU",
        "Faster on the CPU, at the price of RAM that can't be shared with the file.",
        group=_MODEL,
    )

    def n_ctx_or(self, n_ctx_train: int) -> int:
        """The context window in tokens: what was asked for, or else the model's trained length."""
        return n_ctx_train if self.n_ctx is None else self.n_ctx


@dataclass(frozen=True)
class PolicySettings:
    """What leaves the cache when it is full; takes effect with the next request."""

    policy: Policy | None = _setting(
        None,
        "When the cache is full",
        "stop ends the answer · window keeps the latest tokens · sinks also keeps the first ones, which holds the "
        "quality · "
        "recompute drops the oldest turns and reads the rest again.",
        group=_POLICY,
        applies=Applies.LIVE,
        none_label="best for the model",
    )
    n_sink: int = _setting(
        4,
        "Sinks",
        "First tokens that are never evicted. Four are enough to hold the quality (StreamingLLM).",
        group=_POLICY,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(0, N_CTX_MAX),
    )
    n_window: int | None = _setting(
        None,
        "Window",
        "Most recent tokens kept beside the sinks. Smaller than the context window answers faster and forgets sooner.",
        group=_POLICY,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(2, N_CTX_MAX),
        none_label="all the room",
    )
    n_evict: int | None = _setting(
        None,
        "Evicted at a time",
        "Cells freed at once when the window is full.",
        group=_POLICY,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(1, N_CTX_MAX),
        none_label="window ÷ 8",
    )
    keep_system: bool = _setting(
        True,
        "Keep the system prompt",
        "The system prompt counts as sinks and is never evicted.",
        group=_POLICY,
        applies=Applies.LIVE,
    )
    align: Align = _setting(
        Align.TOKEN,
        "Evict whole turns",
        "turn never leaves half a finished message in the cache; token frees exactly the chunk.",
        group=_POLICY,
        applies=Applies.LIVE,
    )


@dataclass(frozen=True)
class SamplingSettings:
    """How the next token is chosen; takes effect with the next request."""

    temperature: float = _setting(
        0.7,
        "Temperature",
        "0 always takes the most likely token.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0.0, 5.0),
    )
    top_k: int = _setting(
        40,
        "Top-k",
        "Only the k most likely tokens; 0 is all.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0, 1_000_000),
    )
    top_p: float = _setting(
        0.95,
        "Top-p",
        "The smallest set of tokens with this probability; 1 is all.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0.0, 1.0),
    )
    min_p: float = _setting(
        0.05,
        "Min-p",
        "Drops tokens less likely than this share of the best one.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0.0, 1.0),
    )
    repeat_penalty: float = _setting(
        1.0,
        "Repeat penalty",
        "Above 1 makes recent tokens less likely.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0.1, 5.0),
    )
    presence_penalty: float = _setting(
        0.0,
        "Presence penalty",
        "Subtracted once a token has appeared.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(-5.0, 5.0),
    )
    frequency_penalty: float = _setting(
        0.0,
        "Frequency penalty",
        "Subtracted for each appearance of a token.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(-5.0, 5.0),
    )
    penalty_last_n: int = _setting(
        64,
        "Penalty range",
        "How many recent tokens the penalties look at.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(0, 1_000_000),
    )
    seed: int | None = _setting(
        None,
        "Seed",
        "The same seed gives the same text. Random draws one and shows it.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        bounds=(0, SEED_MAX),
        none_label="random",
    )
    max_tokens: int | None = _setting(
        None,
        "Longest answer",
        "The answer ends after this many tokens.",
        group=_SAMPLING,
        applies=Applies.LIVE,
        unit="tokens",
        bounds=(1, 2**31 - 1),
        none_label="no limit",
    )
    ignore_eos: bool = _setting(
        False,
        "Ignore the end of the turn",
        "Goes on after the model wants to stop; for measurements.",
        group=_SAMPLING,
        applies=Applies.LIVE,
    )


@dataclass(frozen=True)
class TierSettings:
    """What may be used to keep chats warm that are not open; takes effect at once."""

    ram_mib: int = _setting(
        1024,
        "Chats kept in RAM (MiB)",
        "Memory for the caches of chats that are not open, so that opening one again takes milliseconds. A chat whose "
        "cache is larger than this is kept on disk alone. Fewer are kept while other programs need the memory.",
        group=_TIERS,
        applies=Applies.LIVE,
        unit="MiB",
        bounds=(0, 1_048_576),
    )
    disk_gib: int = _setting(
        4,
        "Chats kept on disk (GiB)",
        "Room for the same on disk, where they outlive the program. What was used longest ago is deleted first; 0 "
        "keeps none.",
        group=_TIERS,
        applies=Applies.LIVE,
        unit="GiB",
        bounds=(0, 16_384),
    )

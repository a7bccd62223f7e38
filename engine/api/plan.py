"""What a load takes in memory, as told before it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.api.facts import DeviceMemory
from engine.api.sentences import Said, Sentence
from engine.api.settings import LoadSettings


class PlanWarningCode(StrEnum):
    """What a person should know before a load that is possible all the same."""

    SLOW_CACHE_TYPES = "slow_cache_types"
    FLASH_ATTENTION_FORCED = "flash_attention_forced"
    BEYOND_TRAINED_LENGTH = "beyond_trained_length"
    COMPUTE_GROWS = "compute_grows"
    SETTING_ADJUSTED = "setting_adjusted"


@dataclass(frozen=True)
class PlanWarning(Said):
    code: PlanWarningCode
    sentence: Sentence


@dataclass(frozen=True)
class Refusal(Said):
    """A value that this model can't be used with beside the other settings: the setting's name, and a sentence why."""

    setting: str
    value: str
    sentence: Sentence


@dataclass(frozen=True)
class DevicePlan(DeviceMemory):
    """What one device will hold, beside what is free there now: other programs' use is counted.

    ``fits`` says whether its share of the plan is no more than ``free_bytes``.
    """

    free_bytes: int
    total_bytes: int

    @property
    def fits(self) -> bool:
        return self.held_bytes <= self.free_bytes


@dataclass(frozen=True)
class MemoryPlan:
    """What a model takes with one set of settings; all sums are over ``devices``, in bytes.

    ``n_ctx`` are the cells there will really be; ``n_gpu_layers`` the layers that will really lie on GPUs, the output
    layer among them. ``can_shift``: kept tokens can be given new positions without evaluating them again.
    ``refusals`` are the values of a single setting that would make the load fail, or of the policy that this model's
    memory can't follow; ``types_must_match``: K and V are one, so their types change together.
    """

    n_ctx: int
    n_gpu_layers: int
    kv_bytes_k: int
    kv_bytes_v: int
    can_shift: bool
    flash_attn: bool
    devices: tuple[DevicePlan, ...]
    warnings: tuple[PlanWarning, ...]
    refusals: tuple[Refusal, ...] = ()
    types_must_match: bool = False

    @property
    def kv_bytes(self) -> int:
        return self.kv_bytes_k + self.kv_bytes_v

    @property
    def recurrent_bytes(self) -> int:
        return sum(device.recurrent_bytes for device in self.devices)

    @property
    def weights_bytes(self) -> int:
        return sum(device.weights_bytes for device in self.devices)

    @property
    def compute_bytes(self) -> int:
        return sum(device.compute_bytes for device in self.devices)

    @property
    def output_bytes(self) -> int:
        return sum(device.output_bytes for device in self.devices)

    @property
    def total_bytes(self) -> int:
        return sum(device.held_bytes for device in self.devices)

    @property
    def fits(self) -> bool:
        """Every device has room for its share."""
        return all(device.fits for device in self.devices)


@dataclass(frozen=True)
class Proposal:
    """Settings that fit, with what they take."""

    settings: LoadSettings
    plan: MemoryPlan


@dataclass(frozen=True)
class Fit:
    """What would fit: the largest context with the settings as they are otherwise (None: not even the smallest), and,
    where they don't fit, changes that do, smallest loss first."""

    largest_n_ctx: int | None
    proposals: tuple[Proposal, ...]


class Home(StrEnum):
    """Where a model's layers lie: all on GPUs, some of them, none."""

    GPU = "gpu"
    PARTLY = "partly"
    CPU = "cpu"


@dataclass(frozen=True)
class Choice:
    """Settings chosen for the memory that is free, with what they take and sentences that say why.

    ``n_layer`` counts the output layer, as ``plan.n_gpu_layers`` does. Without ``fits`` these are the smallest settings
    there are, and they don't fit.
    """

    settings: LoadSettings
    plan: MemoryPlan
    home: Home
    n_layer: int
    fits: bool
    reasons: tuple[Sentence, ...]


@dataclass(frozen=True)
class Defaults:
    """What a model is loaded with while nobody has set it otherwise, with sentences that say why."""

    settings: LoadSettings
    reasons: tuple[Sentence, ...] = ()

"""The memory plan of a load, made before the load."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.api.facts import DeviceMemory
from engine.api.sentences import Said, Sentence
from engine.api.settings import LoadSettings


class PlanWarningCode(StrEnum):
    """A disadvantage of a load that is possible nevertheless."""

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
    """A setting's value that is impossible with this model and the other settings, with a sentence that says why."""

    setting: str
    value: str
    sentence: Sentence


@dataclass(frozen=True)
class DevicePlan(DeviceMemory):
    """The planned bytes of one device and the bytes that are free there now, other programs' use subtracted.

    ``fits`` says whether its share of the plan is no more than ``free_bytes``.
    """

    free_bytes: int
    total_bytes: int

    @property
    def fits(self) -> bool:
        return self.held_bytes <= self.free_bytes


@dataclass(frozen=True)
class MemoryPlan:
    """The memory that a model takes with one set of settings; all sums are over ``devices``, in bytes.

    ``n_ctx`` is the effective number of cells; ``n_gpu_layers`` the effective number of offloaded layers, the output
    layer included. ``can_shift``: kept tokens can be renumbered by a K-shift, without a recompute.
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
        """Whether every device has room for its share."""
        return all(device.fits for device in self.devices)


@dataclass(frozen=True)
class Proposal:
    """Settings that fit, with their memory plan."""

    settings: LoadSettings
    plan: MemoryPlan


@dataclass(frozen=True)
class Fit:
    """What fits: the largest context with the other settings unchanged (None: not even the smallest), and proposals
    of changed settings if the given ones don't fit, smallest loss first."""

    largest_n_ctx: int | None
    proposals: tuple[Proposal, ...]


class Home(StrEnum):
    """How many of a model's layers are on GPUs: all, some or none."""

    GPU = "gpu"
    PARTLY = "partly"
    CPU = "cpu"


@dataclass(frozen=True)
class Choice:
    """Settings chosen for the free memory, with their memory plan and the reasons as sentences.

    ``n_layer`` counts the output layer, as ``plan.n_gpu_layers`` does. If ``fits`` is False, these are the smallest
    possible settings.
    """

    settings: LoadSettings
    plan: MemoryPlan
    home: Home
    n_layer: int
    fits: bool
    reasons: tuple[Sentence, ...]


@dataclass(frozen=True)
class Defaults:
    """The default settings of a model, with the reasons as sentences."""

    settings: LoadSettings
    reasons: tuple[Sentence, ...] = ()

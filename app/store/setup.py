"""Everything that a model is set to, as one value, and presets of it, which change only what they are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from engine.api.declarations import from_mapping, to_mapping
from engine.api.settings import CacheType, FlashAttention, LoadSettings, Policy, PolicySettings


@dataclass(frozen=True)
class Setup:
    """``load`` takes effect with the next load, ``policy`` with the next request."""

    load: LoadSettings = field(default_factory=LoadSettings)
    policy: PolicySettings = field(default_factory=PolicySettings)

    def needs_reload(self, other: Setup) -> bool:
        """Whether going from this to the other means loading again."""
        return self.load != other.load

    def changed(self, name: str, value: Any) -> Setup:
        """The same with another value of one setting."""
        if hasattr(self.load, name):
            return replace(self, load=replace(self.load, **{name: value}))
        return replace(self, policy=replace(self.policy, **{name: value}))

    def with_changes(self, before: Setup, after: Setup) -> Setup:
        """The same with every setting that differs between two others as it is in the second."""
        changed = self
        for old, new in ((before.load, after.load), (before.policy, after.policy)):
            for one in fields(old):
                if getattr(new, one.name) != getattr(old, one.name):
                    changed = changed.changed(one.name, getattr(new, one.name))
        return changed


def setup_as_json(setup: Setup) -> dict[str, Any]:
    """Ready for a file."""
    return {"load": to_mapping(setup.load), "policy": to_mapping(setup.policy)}


def setup_from_json(content: Mapping[str, Any]) -> tuple[Setup, tuple[str, ...]]:
    """A setup from a file, and a sentence for each value that had to be replaced by its default."""
    load, load_complaints = from_mapping(LoadSettings, _section(content, "load"))
    policy, policy_complaints = from_mapping(PolicySettings, _section(content, "policy"))
    return Setup(load, policy), (*load_complaints, *policy_complaints)


def _section(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = content.get(name, {})
    return section if isinstance(section, dict) else {}


class SetupPreset(StrEnum):
    """The presets that come with Kvasir."""

    EXACT = "exact"
    CHAT = "chat"
    LONG = "long"
    SMALL = "small"


LONG_N_CTX = 32_768
CHAT_N_CTX = 4096
SMALL_N_CTX = 2048
SMALL_UBATCH = 128


def preset_setup(preset: SetupPreset, setup: Setup, n_ctx_train: int | None) -> Setup:
    """``setup`` changed as the preset says; no context is longer than the model was trained for, if that is known."""

    def at_most(n_ctx: int) -> int:
        return min(n_ctx, n_ctx_train) if n_ctx_train else n_ctx

    load, policy = setup.load, setup.policy
    endless = replace(policy, policy=Policy.SINKS, n_sink=4, n_window=None, n_evict=None, keep_system=True)
    match preset:
        case SetupPreset.EXACT:
            load = _with_types(load, CacheType.F16)
            return Setup(
                replace(load, n_ctx=at_most(2 * CHAT_N_CTX), swa_full=True), replace(policy, policy=Policy.STOP)
            )
        case SetupPreset.CHAT:
            return Setup(replace(_with_types(load, CacheType.F16), n_ctx=at_most(CHAT_N_CTX), swa_full=False), endless)
        case SetupPreset.LONG:
            return Setup(replace(_with_types(load, CacheType.Q8_0), n_ctx=at_most(LONG_N_CTX), swa_full=False), endless)
        case SetupPreset.SMALL:
            load = _with_types(load, CacheType.Q4_0)
            return Setup(replace(load, n_ctx=at_most(SMALL_N_CTX), n_ubatch=SMALL_UBATCH, swa_full=False), endless)


def _with_types(load: LoadSettings, kind: CacheType) -> LoadSettings:
    flash = FlashAttention.AUTO if kind.is_quantized else load.flash_attn
    return replace(load, type_k=kind, type_v=kind, flash_attn=flash)

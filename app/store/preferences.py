"""Everything that a person can choose for the window and for models, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from app.store.setup import Setup
from engine.api.settings import PolicySettings, SamplingSettings, TierSettings

_Kept = TypeVar("_Kept")
MAX_KEPT = 100
MAX_RECENT = 10
MAX_SYSTEM_PROMPT = 200_000


@dataclass(frozen=True)
class RecentModel:
    """A model file that was loaded once, with what the picker says about it without opening it again."""

    path: str
    name: str = ""
    quantization: str = ""
    size_bytes: int = 0


@dataclass(frozen=True)
class Preferences:
    """Everything that is remembered between two starts; ``last_model`` None is the starter model.

    ``model_folders`` are those beside Kvasir's own that hold models. ``setups`` by file; ``policies`` are those of
    models whose load is left to Kvasir.
    ``finish_when_left``: an answer goes on being written while another chat is open, instead of being stopped.
    """

    theme: str = "system"
    text_scale: float = 1.0
    accent: str = "blue"
    language: str = "system"
    window_geometry: str = ""
    window_state: str = ""
    last_model: str | None = None
    recent_models: tuple[RecentModel, ...] = ()
    model_folders: tuple[str, ...] = ()
    system_prompt: str = ""
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    finish_when_left: bool = True
    tiers: TierSettings = field(default_factory=TierSettings)
    log_folder: str | None = None
    setups: Mapping[str, Setup] = field(default_factory=dict)
    policies: Mapping[str, PolicySettings] = field(default_factory=dict)
    presets: Mapping[str, Setup] = field(default_factory=dict)

    def setup(self, path: str | None) -> Setup:
        """What the model of this file was last set to; the defaults for one that never was."""
        return self.setups.get(path or "", Setup(policy=self.policies.get(path or "", PolicySettings())))

    def with_setup(self, path: str, setup: Setup) -> Preferences:
        """The same with this setup for the model of this file; the ones set longest ago are forgotten."""
        return replace(self, setups=_with_newest(self.setups, path, setup), policies=_without(self.policies, path))

    def with_policy(self, path: str, policy: PolicySettings) -> Preferences:
        """The same with this policy for the model of this file, and its load left to Kvasir."""
        others = _without(self.policies, path)
        policies = others if policy == PolicySettings() else _with_newest(others, path, policy)
        return replace(self, setups=_without(self.setups, path), policies=policies)

    def with_preset(self, name: str, setup: Setup) -> Preferences:
        """The same with a preset of the person's own."""
        return replace(self, presets=_with_newest(self.presets, name, setup))

    def without_preset(self, name: str) -> Preferences:
        """The same without one of the person's own presets."""
        return replace(self, presets=_without(self.presets, name))

    def with_recent(self, model: RecentModel) -> Preferences:
        """The same with this model as the last one and first among the recent ones."""
        others = tuple(known for known in self.recent_models if known.path != model.path)
        return replace(self, last_model=model.path, recent_models=(model, *others)[:MAX_RECENT])

    def without_recent(self, path: str) -> Preferences:
        """The same without this file among the recent ones."""
        kept = tuple(known for known in self.recent_models if known.path != path)
        return replace(self, recent_models=kept)


def _with_newest(kept: Mapping[str, _Kept], key: str, newest: _Kept) -> dict[str, _Kept]:
    """The same with this value last; those that were set longest ago are forgotten."""
    return dict([*_without(kept, key).items(), (key, newest)][-MAX_KEPT:])


def _without(kept: Mapping[str, _Kept], key: str) -> dict[str, _Kept]:
    """The same without the value of a key."""
    return {known: value for known, value in kept.items() if known != key}

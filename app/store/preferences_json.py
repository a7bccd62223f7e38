"""Preferences as JSON, and back: values that make no sense are left out one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.store.preferences import MAX_KEPT, MAX_RECENT, MAX_SYSTEM_PROMPT, Preferences, RecentModel
from app.store.setup import Setup, setup_as_json, setup_from_json
from engine.api.declarations import from_mapping, is_finite_number, to_mapping
from engine.api.settings import SamplingSettings, TierSettings

FORMAT_VERSION = 1
MAX_FOLDERS = 50


def as_json(preferences: Preferences) -> dict[str, Any]:
    """What the file holds."""
    return {
        "version": FORMAT_VERSION,
        "appearance": {
            "theme": preferences.theme,
            "text_scale": preferences.text_scale,
            "accent": preferences.accent,
            "language": preferences.language,
        },
        "window": {"geometry": preferences.window_geometry, "state": preferences.window_state},
        "models": {
            "last": preferences.last_model,
            "recent": [
                {"path": m.path, "name": m.name, "quantization": m.quantization, "size_bytes": m.size_bytes}
                for m in preferences.recent_models
            ],
            "folders": list(preferences.model_folders),
        },
        "chat": {
            "system_prompt": preferences.system_prompt,
            "sampling": to_mapping(preferences.sampling),
            "finish_when_left": preferences.finish_when_left,
        },
        "tiers": to_mapping(preferences.tiers),
        "setups": [{"path": path, **setup_as_json(setup)} for path, setup in preferences.setups.items()],
        "policies": [{"path": path, "policy": to_mapping(policy)} for path, policy in preferences.policies.items()],
        "presets": [{"name": name, **setup_as_json(setup)} for name, setup in preferences.presets.items()],
        "log_folder": preferences.log_folder,
    }


class PreferencesReader:
    """Takes values of the right type and notes the others in ``wrong``."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def preferences(self, content: Mapping[str, Any]) -> Preferences:
        default = Preferences()
        appearance = self._section(content, "appearance")
        window = self._section(content, "window")
        models = self._section(content, "models")
        chat = self._section(content, "chat")
        sampling, complaints = from_mapping(SamplingSettings, self._section(chat, "sampling"))
        tiers, tier_complaints = from_mapping(TierSettings, self._section(content, "tiers"))
        self.wrong += complaints + tier_complaints
        return Preferences(
            theme=self._choice(appearance, "theme", ("system", "light", "dark")),
            text_scale=self._scale(appearance, default.text_scale),
            accent=self._text(appearance, "accent", default.accent, 40),
            language=self._text(appearance, "language", default.language, 40),
            window_geometry=self._text(window, "geometry", "", 10_000),
            window_state=self._text(window, "state", "", 10_000),
            last_model=self._optional_text(models, "last"),
            recent_models=self._recent(models),
            model_folders=self._folders(models),
            system_prompt=self._text(chat, "system_prompt", "", MAX_SYSTEM_PROMPT),
            sampling=sampling,
            finish_when_left=self._flag(chat, "finish_when_left", default.finish_when_left),
            tiers=tiers,
            log_folder=self._optional_text(content, "log_folder"),
            setups=self._setups(content, "setups", "path"),
            policies={path: kept.policy for path, kept in self._setups(content, "policies", "path").items()},
            presets=self._setups(content, "presets", "name"),
        )

    def _setups(self, content: Mapping[str, Any], name: str, key: str) -> dict[str, Setup]:
        entries = content.get(name, [])
        if not isinstance(entries, list):
            self._refuse(name, entries)
            return {}
        found: dict[str, Setup] = {}
        for entry in entries[:MAX_KEPT]:
            if not isinstance(entry, dict) or not (label := self._text(entry, key, "", 10_000)):
                self._refuse(name, entry)
                continue
            found[label], complaints = setup_from_json(entry)
            self.wrong += complaints
        return found

    def _section(self, content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        section = content.get(name, {})
        if isinstance(section, dict):
            return section
        self._refuse(name, section)
        return {}

    def _refuse(self, name: str, value: Any) -> None:
        self.wrong.append(f"{name}: {value!r:.80}")

    def _text(self, section: Mapping[str, Any], name: str, default: str, limit: int) -> str:
        value = section.get(name, default)
        if isinstance(value, str) and len(value) <= limit and _is_clean(value):
            return value
        self._refuse(name, value)
        return default

    def _optional_text(self, section: Mapping[str, Any], name: str) -> str | None:
        return self._text(section, name, "", 10_000) or None if section.get(name) is not None else None

    def _flag(self, section: Mapping[str, Any], name: str, default: bool) -> bool:
        value = section.get(name, default)
        if isinstance(value, bool):
            return value
        self._refuse(name, value)
        return default

    def _choice(self, section: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
        value = section.get(name, choices[0])
        if value in choices:
            return str(value)
        self._refuse(name, value)
        return choices[0]

    def _scale(self, section: Mapping[str, Any], default: float) -> float:
        value = section.get("text_scale", default)
        if is_finite_number(value):
            return min(2.0, max(0.8, float(value)))
        self._refuse("text_scale", value)
        return default

    def _recent(self, models: Mapping[str, Any]) -> tuple[RecentModel, ...]:
        entries = models.get("recent", [])
        if not isinstance(entries, list):
            self._refuse("recent", entries)
            return ()
        return tuple(model for entry in entries[:MAX_RECENT] if (model := self._recent_model(entry)) is not None)

    def _folders(self, models: Mapping[str, Any]) -> tuple[str, ...]:
        folders = models.get("folders", [])
        if not isinstance(folders, list) or not all(isinstance(one, str) and _is_clean(one) for one in folders):
            self._refuse("folders", folders)
            return ()
        return tuple(folders[:MAX_FOLDERS])

    def _recent_model(self, entry: Any) -> RecentModel | None:
        if not isinstance(entry, dict) or not (path := self._text(entry, "path", "", 10_000)):
            self._refuse("recent", entry)
            return None
        size = entry.get("size_bytes", 0)
        return RecentModel(
            path=path,
            name=self._text(entry, "name", "", 500),
            quantization=self._text(entry, "quantization", "", 100),
            size_bytes=size if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**60 else 0,
        )


def _is_clean(text: str) -> bool:
    """Without NUL, which no path or prompt may hold."""
    return "\0" not in text

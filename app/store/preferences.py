"""The preferences file: readable JSON with a version, replaced in one step, and renamed when it makes no sense."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from app.store.setup import Setup, setup_as_json, setup_from_json
from engine.api.declarations import from_mapping, is_finite_number, to_mapping
from engine.api.settings import PolicySettings, SamplingSettings, TierSettings
from engine.api.valid import valid_text
from engine.disk.foreign_json import read_json
from engine.disk.whole_file import write_whole

_Kept = TypeVar("_Kept")
FORMAT_VERSION = 1
MAX_FILE_BYTES = 1_000_000
MAX_KEPT = 100
MAX_RECENT = 10
MAX_FOLDERS = 50
MAX_SYSTEM_PROMPT = 200_000


class ProblemKind(StrEnum):
    """What was wrong with the preferences file."""

    DAMAGED = "damaged"
    FROM_THE_FUTURE = "from_the_future"
    WRONG_VALUES = "wrong_values"
    UNREADABLE = "unreadable"
    NOT_SAVED = "not_saved"


@dataclass(frozen=True)
class Problem:
    """``kept_as``: where the old file is now, if it was renamed; ``detail`` is for the log."""

    kind: ProblemKind
    path: Path
    kept_as: Path | None = None
    detail: str = ""


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


class PreferencesStore:
    """The preferences in force and the file they are kept in.

    ``on_problem`` hears of a file that could not be read or written, once for each kind; nothing is raised, since no
    person wants to lose a chat over a settings file.
    """

    def __init__(self, path: Path, on_problem: Callable[[Problem], None]) -> None:
        self._path = path
        self.on_problem = on_problem
        self._told: set[ProblemKind] = set()
        self._can_write = True
        self._current = Preferences()

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path

    @property
    def current(self) -> Preferences:
        """What is in force."""
        return self._current

    def load(self) -> Preferences:
        """Read the file; whatever is wrong with it, the answer is usable."""
        try:
            with self._path.open("rb") as file:
                raw = file.read(MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return self._current
        except OSError as error:
            # Written by somebody who may want it back: nothing is written over it.
            self._can_write = False
            self._tell(Problem(ProblemKind.UNREADABLE, self._path, detail=str(error)))
            return self._current
        self._current = self._understand(raw)
        return self._current

    def set(self, preferences: Preferences) -> None:
        """Put new preferences in force and write them."""
        if preferences == self._current:
            return
        self._current = preferences
        if self._can_write:
            self._save(preferences)

    def update(self, **changes: Any) -> None:
        """Change single fields."""
        self.set(replace(self._current, **changes))

    def _understand(self, raw: bytes) -> Preferences:
        try:
            if len(raw) > MAX_FILE_BYTES:
                raise ValueError("the file is larger than any preferences file")
            content = read_json(raw)
            version = content["version"]
            if not isinstance(version, int) or isinstance(version, bool) or version < 1:
                raise ValueError(f"version {version!r:.40}")
        except (ValueError, KeyError, TypeError) as error:
            self._put_aside(ProblemKind.DAMAGED, str(error)[:500])
            return Preferences()
        if version > FORMAT_VERSION:
            self._put_aside(ProblemKind.FROM_THE_FUTURE, f"version {version}")
            return Preferences()
        reader = _Reader()
        preferences = reader.preferences(content)
        if reader.wrong:
            self._put_aside(ProblemKind.WRONG_VALUES, "\n".join(reader.wrong))
        return preferences

    def _put_aside(self, kind: ProblemKind, detail: str) -> None:
        kept_as = next(
            path
            for path in (self._path.with_name(f"{self._path.name}.damaged-{n}") for n in range(1, 1_000_000))
            if not path.exists()
        )
        try:
            self._path.rename(kept_as)
        except OSError:
            self._can_write = False
            self._tell(Problem(kind, self._path, detail=detail))
            return
        if kind is ProblemKind.WRONG_VALUES:
            # What could be read stays in force, and in the file.
            with contextlib.suppress(OSError):
                shutil.copyfile(kept_as, self._path)
        self._tell(Problem(kind, self._path, kept_as, detail))

    def _save(self, preferences: Preferences) -> None:
        text = json.dumps(_as_json(preferences), indent=2, ensure_ascii=False) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # A path may have bytes that are no text.
            write_whole(self._path, [valid_text(text).encode()])
        except OSError as error:
            self._tell(Problem(ProblemKind.NOT_SAVED, self._path, detail=str(error)))

    def _tell(self, problem: Problem) -> None:
        if problem.kind not in self._told:
            self._told.add(problem.kind)
            self.on_problem(problem)


def _with_newest(kept: Mapping[str, _Kept], key: str, newest: _Kept) -> dict[str, _Kept]:
    """The same with this value last; those that were set longest ago are forgotten."""
    return dict([*_without(kept, key).items(), (key, newest)][-MAX_KEPT:])


def _without(kept: Mapping[str, _Kept], key: str) -> dict[str, _Kept]:
    """The same without the value of a key."""
    return {known: value for known, value in kept.items() if known != key}


def _as_json(preferences: Preferences) -> dict[str, Any]:
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


class _Reader:
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

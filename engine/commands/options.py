"""Command-line options shared by several commands, derived from the settings' declarations."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path
from typing import Any

from engine.api.declarations import Declaration, declarations
from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.api.settings import LoadSettings, PolicySettings, SamplingSettings
from engine.models.gguf import read_model_info, require_chat_model
from engine.models.starter import STARTER, starter_path
from engine.plan.check import check_policy_of_model
from engine.plan.ram import require_countable


def add_settings(
    parser: argparse.ArgumentParser, settings_class: type, *, title: str, only: Collection[str] | None = None
) -> None:
    """One option for each setting: ``--n-ctx N``; on/off settings also without a value, ``--swa-full``."""
    group = parser.add_argument_group(title)
    for declaration in declarations(settings_class):
        if only is None or declaration.name in only:
            _add_setting(group, declaration)


def _add_setting(group: argparse._ArgumentGroup, declaration: Declaration) -> None:
    default = declaration.none_label if declaration.default is None else declaration.default
    words = declaration.help.replace("%", "%%") + f" ({declaration.allowed()}; default {_shown(default)})".replace(
        "%", "%%"
    )
    flags = [declaration.flag, *(_SHORT.get(declaration.name, ()))]
    if declaration.kind is bool:
        group.add_argument(
            *flags, dest=declaration.name, nargs="?", const="on", default=None, metavar="on|off", help=words
        )
    else:
        metavar = "|".join(declaration.choices) or declaration.unit.upper() or "VALUE"
        group.add_argument(*flags, dest=declaration.name, default=None, metavar=metavar, help=words)


_SHORT = {"n_threads": ("--threads",)}


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return "empty" if default == () else str(default)


def settings_from(args: argparse.Namespace, settings_class: type, *, only: Collection[str] | None = None) -> Any:
    """The settings given as options, the rest at their defaults; raises EngineError(SETTING_INVALID)."""
    given = {}
    for declaration in declarations(settings_class):
        text = getattr(args, declaration.name, None)
        if text is not None and (only is None or declaration.name in only):
            given[declaration.name] = declaration.parse(text)
    return settings_class(**given)


def add_cache_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide the cache's content and size."""
    add_settings(parser, LoadSettings, title="model and cache")
    add_settings(parser, PolicySettings, title="when the cache is full")


def load_settings(args: argparse.Namespace) -> LoadSettings:
    settings: LoadSettings = settings_from(args, LoadSettings)
    return settings


def policy_settings(args: argparse.Namespace) -> PolicySettings:
    settings: PolicySettings = settings_from(args, PolicySettings)
    return settings


def sampling_settings(args: argparse.Namespace) -> SamplingSettings:
    settings: SamplingSettings = settings_from(args, SamplingSettings)
    return settings


def add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", help=f"a GGUF file, or “{STARTER}” for the model that comes with Kvasir"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def model_path(args: argparse.Namespace) -> Path:
    """The file that MODEL names; raises EngineError (STARTER_MISSING, or MODEL_NOT_FOUND where it names none)."""
    if not args.model:
        message = say("MODEL is empty: give the path of a GGUF file, or “{0}”.", STARTER)
        raise EngineError(ErrorCode.MODEL_NOT_FOUND, message)
    return starter_path() if args.model == STARTER else Path(args.model)


def require_chat(path: Path, load: LoadSettings, policy: PolicySettings) -> None:
    """Check model and settings against the header, before a process is started; raises EngineError."""
    info = read_model_info(path)
    require_chat_model(info)
    check_policy_of_model(info, load, policy)
    require_countable(info, load)

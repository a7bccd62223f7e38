"""What is released: the version, which the engine's `__version__` alone says, and the time of its sources."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True)
class Release:
    """A version, and the time of its sources in seconds since 1970, which is what its packages say of their files."""

    version: str
    time_s: int

    @property
    def date(self) -> datetime:
        return datetime.fromtimestamp(self.time_s, UTC)

    @classmethod
    def of(cls, root: Path, environ: Mapping[str, str]) -> Release:
        """The release that the clone `root` would be now."""
        return cls(version(root), _time_of_sources(root, environ))


def version(root: Path) -> str:
    """Kvasir's version, read without importing anything of it."""
    tree = ast.parse((root / "engine" / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__version__")], value=value):
                return str(ast.literal_eval(value))
    raise LookupError("engine/__init__.py does not say __version__")


def _time_of_sources(root: Path, environ: Mapping[str, str]) -> int:
    """The last commit's time, or the changelog's where there is no repository."""
    said = environ.get("SOURCE_DATE_EPOCH")
    if said:
        return int(said)
    command = ["git", "-C", str(root), "log", "-1", "--format=%ct"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    if asked.returncode == 0 and asked.stdout.strip():
        return int(asked.stdout)
    return int((root / "packaging" / "CHANGELOG.md").stat().st_mtime)

"""Whether `.venv` is already what is asked for, told in milliseconds."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Wish:
    """What a command wants from `.venv`. The `gpu` "auto" is content with whatever was built."""

    dev: bool = False
    gpu: str = "auto"
    cmake_args: str = ""

    @classmethod
    def of(cls, environ: Mapping[str, str], dev: bool) -> Wish:
        """The wish that the environment's GPU and CMAKE_ARGS express, in one spelling."""
        names = {name.strip().lower() for name in environ.get("GPU", "").split(",")} - {""}
        cmake_args = shlex.join(shlex.split(environ.get("CMAKE_ARGS", "")))
        return cls(dev, ",".join(sorted(names)) or "auto", cmake_args)


@dataclass(frozen=True)
class Stamp:
    """What `.venv` was made from and for; written last, so that there is none after an interrupted set-up."""

    inputs: str
    python: str
    dev: bool
    gpu: str
    cmake_args: str
    recipe: str

    def satisfies(self, wish: Wish, root: Path) -> bool:
        """Whether nothing needs to be installed for `wish`."""
        return (
            self.inputs == digest_of_inputs(root)
            and self.python == python_behind(root)
            and (self.dev or not wish.dev)
            and wish.gpu in {"auto", self.gpu}
            and wish.cmake_args in {"", self.cmake_args}
        )

    def write(self, root: Path) -> None:
        """Leave the stamp in `.venv`, in one step."""
        path = _stamp_file(root)
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        draft.replace(path)


def read_stamp(root: Path) -> Stamp | None:
    """The stamp in `.venv`, or None if there is none that can be understood."""
    try:
        return Stamp(**json.loads(_stamp_file(root).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _stamp_file(root: Path) -> Path:
    return root / ".venv" / "kvasir-setup.json"


def venv_python(root: Path) -> Path:
    """The interpreter of `.venv`."""
    return root / ".venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def python_behind(root: Path) -> str | None:
    """The interpreter that `.venv` stands on, or None if it is gone (a system upgrade takes it away)."""
    python = venv_python(root)
    return str(python.resolve()) if python.exists() else None


def digest_of_inputs(root: Path) -> str:
    """A digest of every file that the set-up depends on."""
    files = [root / "pyproject.toml", root / "constraints.txt", *sorted((root / "tools").glob("*.py"))]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()

"""The wheel of llama-cpp-python: built once on a machine, kept for every later clone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.gpu import GpuBuild
from tools.machine import Machine
from tools.ownership import owning
from tools.prerequisites import SetupError, require_compiler
from tools.progress import BuildProgress
from tools.subprocesses import run_to_log

# One build for every CPU: each variant is a library of its own, and llama.cpp loads the best at run time.
PORTABLE_FLAGS = ("-DGGML_NATIVE=OFF", "-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON", "-DGGML_RPC=ON")
# Minutes on one core, measured; CUDA's depends on the number of card generations.
CORE_MINUTES = {"": 20, "vulkan": 4, "cuda": 120, "hip": 60, "metal": 1}
BACKEND_FILE = re.compile(r"(?:^|[\\/])(?:lib)?ggml-([a-z]+)(?:-\w+)?\.(?:so|dll|dylib)$")


@dataclass(frozen=True)
class Recipe:
    """What a wheel is built from. Two recipes with the same key give interchangeable wheels."""

    version: str
    gpu: GpuBuild = GpuBuild()
    extra_flags: tuple[str, ...] = ()
    # The wheel is for any Python 3 (its tag is py3-none), so of Python only the platform counts.
    platform: str = sysconfig.get_platform()

    @property
    def flags(self) -> tuple[str, ...]:
        """The CMake flags that shape the result."""
        return (*PORTABLE_FLAGS, *self.gpu.flags, *self.extra_flags)

    @property
    def key(self) -> str:
        """The name of this recipe's folder among the kept wheels."""
        content = json.dumps([self.version, self.platform, sorted(self.flags)])
        digest = hashlib.sha256(content.encode()).hexdigest()[:10]
        platform = re.sub(r"\W", "_", self.platform)
        return "-".join([self.version, platform, *(self.gpu.names or ["cpu"]), digest])

    @property
    def backends(self) -> set[str]:
        """The back ends that the wheel must hold, by llama.cpp's names for their files."""
        return {"cpu", "rpc", *self.gpu.names}

    def covers(self, other: Recipe) -> bool:
        """Whether this one's wheel has all that the other's has.

        Back ends are loaded at run time, and those without a device stay out, so more is never wrong.
        """
        same = (self.version, self.platform) == (other.version, other.platform)
        return same and set(self.flags).issuperset(other.flags)

    def as_json(self) -> str:
        """The recipe as text, without what is only about this machine."""
        gpu = {"names": self.gpu.names, "flags": self.gpu.flags}
        fields = {
            "version": self.version,
            "gpu": gpu,
            "extra_flags": self.extra_flags,
            "platform": self.platform,
        }
        return json.dumps(fields, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Recipe | None:
        """What `as_json` wrote, or None."""
        try:
            fields = json.loads(text)
            gpu = GpuBuild(tuple(fields["gpu"]["names"]), tuple(fields["gpu"]["flags"]))
            return cls(fields["version"], gpu, tuple(fields["extra_flags"]), fields["platform"])
        except (ValueError, KeyError, TypeError):
            return None

    @property
    def cmake_args(self) -> str:
        """The value of CMAKE_ARGS for the build."""
        return shlex.join([*PORTABLE_FLAGS, *self.gpu.flags, *self.gpu.local_flags, *self.extra_flags])


def backends_in(file_names: Iterable[str]) -> set[str]:
    """The back ends whose libraries are among the files."""
    return {found[1] for name in file_names if (found := BACKEND_FILE.search(name))}


class WheelStore:
    """The folder of kept wheels: one folder for each recipe, made whole or not at all."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.folder = machine.cache_dir() / "llama-cpp-python"

    def kept(self, recipe: Recipe) -> Path | None:
        """The wheel of a recipe, or None."""
        return next(iter(sorted((self.folder / recipe.key).glob("*.whl"))), None)

    def recipes(self) -> list[Recipe]:
        """The recipes of all kept wheels."""
        notes = sorted(self.folder.glob("*/recipe.json"))
        recipes = [Recipe.from_json(note.read_text(encoding="utf-8", errors="replace")) for note in notes]
        return [recipe for recipe in recipes if recipe is not None and self.kept(recipe)]

    def keep(self, recipe: Recipe, wheel: Path) -> Path:
        """Take a built wheel into the store, in one step, and return its new path.

        Raises SetupError if it lacks a back end.
        """
        with zipfile.ZipFile(wheel) as archive:
            missing = recipe.backends - backends_in(archive.namelist())
        if missing:
            raise SetupError(
                f"llama-cpp-python was built, but without {', '.join(sorted(missing))}: "
                "the build ignored its flags; please report this together with your system and compiler."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".keeping-", dir=self.folder) as staging:
            whole = Path(staging, recipe.key)
            whole.mkdir()
            shutil.copy2(wheel, whole)
            (whole / "recipe.json").write_text(recipe.as_json(), encoding="utf-8")
            destination = self.folder / recipe.key
            if destination.exists():
                shutil.rmtree(destination)
            whole.rename(destination)
        return destination / wheel.name

    def build(self, recipe: Recipe, python: Path) -> Path:
        """Build a wheel with `python`'s pip, or wait for a process that is doing so; returns its path."""
        require_compiler(self._machine)
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = self.folder / f"{recipe.key}.lock"
        with owning(lock, "Another set-up is building the same llama.cpp; waiting for it."):
            ready = self.kept(recipe)
            return ready or self._build_owned(recipe, python)

    def _build_owned(self, recipe: Recipe, python: Path) -> Path:
        workplace = self.folder / f"{recipe.key}.building"
        log = self.folder / f"{recipe.key}.log"
        shutil.rmtree(workplace, ignore_errors=True)  # what a killed build left
        workplace.mkdir()
        command = [str(python), "-m", "pip", "wheel", "-v", "--no-input", "--no-cache-dir", "--no-deps"]
        # pip's own cache of wheels does not look at the flags, hence no cache, and nothing prebuilt.
        command += [
            "--no-binary",
            "llama-cpp-python",
            "-w",
            str(workplace),
            f"llama-cpp-python=={recipe.version}",
        ]
        environ = dict(self._machine.environ) | {"CMAKE_ARGS": recipe.cmake_args}
        if self._machine.system != "Windows":  # there the deeper folder would make paths too long
            environ["TMPDIR"] = str(workplace)  # so that nothing is left elsewhere, however this ends
        try:
            with BuildProgress("Building llama.cpp") as progress:
                status = run_to_log(command, environ, log, progress.read_line)
            wheel = next(iter(workplace.glob("*.whl")), None)
            if status != 0 or wheel is None:
                without = "" if recipe.gpu.names == () else " 'GPU=none' builds it for the CPU alone."
                raise SetupError(
                    f"llama.cpp could not be built; the compiler's words are at the end of {log}.{without}"
                )
            kept = self.keep(recipe, wheel)
            log.unlink()
            return kept
        finally:
            shutil.rmtree(workplace, ignore_errors=True)


def expected_minutes(recipe: Recipe, n_cores: int | None = None) -> int:
    """About how long a build takes on this machine."""
    cores = n_cores or os.cpu_count() or 1
    return max(1, round(sum(CORE_MINUTES[name] for name in ["", *recipe.gpu.names]) / cores))

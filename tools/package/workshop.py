"""Where packages are made: an environment with the pinned packages, llama.cpp, the starter model and PyInstaller."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from dataclasses import replace
from pathlib import Path

from tools.environment import ENGINE, STARTER, pinned, requirements
from tools.gpu import choose
from tools.llama_wheel import Recipe, WheelStore, expected_minutes
from tools.machine import Machine
from tools.prerequisites import SetupError, install_lines
from tools.stamp import Wish
from tools.subprocesses import run_to_log

DEFAULT_GPU = {"Darwin": "metal"}
SYSTEM_PYTHON = Path("/usr/bin/python3")
# Asks a Python whether it can be carried along: it needs venv, and its own shared library.
CAN_BE_CARRIED = """
import ctypes, ensurepip, sys, sysconfig, venv
assert sys.version_info >= (3, 11)
if sys.platform != "win32" and not sysconfig.get_config_var("PYTHONFRAMEWORK"):
    ctypes.CDLL(sysconfig.get_config_var("INSTSONAME"))
"""


def package_recipe(root: Path, machine: Machine) -> Recipe:
    """What llama.cpp in a package is built from.

    Vulkan is always in it (Metal on a Mac), since it serves every card; GPU=cuda adds CUDA, GPU=none leaves all out.
    """
    wish = Wish.of(machine.environ, dev=False)
    default = DEFAULT_GPU.get(machine.system, "vulkan")
    request = {"auto": default, "none": "none"}.get(wish.gpu, f"{wish.gpu},{default}")
    gpu = choose(request, machine)
    # For every card there is, not for those of this machine.
    gpu = replace(gpu, flags=tuple(flag for flag in gpu.flags if "CUDA_ARCHITECTURES" not in flag))
    return Recipe(pinned(root, ENGINE), gpu, tuple(shlex.split(wish.cmake_args)))


class Workshop:
    """The folder build/package of one clone, where packages are made."""

    def __init__(self, root: Path, machine: Machine) -> None:
        self._root = root
        self._machine = machine
        self.folder = root / "build" / "package"
        self._venv = self.folder / "venv"

    @property
    def python(self) -> Path:
        """The interpreter with everything that is packaged."""
        return self._venv / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    @property
    def site(self) -> Path:
        """The folder of its Python packages."""
        found = [*self._venv.glob("lib/python*/site-packages"), self._venv / "Lib" / "site-packages"]
        return found[0]

    def prepare(self, recipe: Recipe) -> None:
        """Make the environment, or keep it if nothing changed. Raises SetupError with the way out."""
        self.folder.mkdir(parents=True, exist_ok=True)
        base = self._base_python()
        wheel = self._wheel(recipe, base)
        wanted = [*requirements(self._root, dev=False), *self._tools(), str(wheel)]
        inputs = [str(base), *wanted, (self._root / "constraints.txt").read_text(encoding="utf-8")]
        digest = hashlib.sha256("\0".join(inputs).encode()).hexdigest()
        stamp = self._venv / "kvasir-inputs"
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
            return
        print("Package: installing what goes into it.", flush=True)
        shutil.rmtree(self._venv, ignore_errors=True)
        self._run("venv.log", str(base), "-m", "venv", str(self._venv))
        pip = [str(self.python), "-m", "pip", "--no-input", "--disable-pip-version-check", "install"]
        self._run("pip.log", *pip, "-c", str(self._root / "constraints.txt"), *wanted)
        starter = f"{STARTER}=={pinned(self._root, STARTER)}"
        self._run("pip.log", *pip, "--no-deps", starter)  # its dependencies are a tool of its own
        stamp.write_text(digest, encoding="utf-8")

    def compile_translations(self) -> None:
        """Compile the window's translations, which are no part of the repository. May raise SetupError."""
        self._run("translations.log", str(self.python), str(self._root / "tools" / "translations.py"), "build")

    def _wheel(self, recipe: Recipe, base: Path) -> Path:
        store = WheelStore(self._machine)
        kept = store.kept(recipe)
        if kept is not None:
            return kept
        if recipe.gpu.obstacles:
            raise SetupError(recipe.gpu.obstacles[0])
        print(f"llama.cpp: building, about {expected_minutes(recipe)} minutes; it is kept for later.", flush=True)
        return store.build(recipe, base)

    def _tools(self) -> list[str]:
        project = tomllib.loads((self._root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return list(project["optional-dependencies"]["package"])

    def _base_python(self) -> Path:
        """The Python that is carried in the package: rather the system's, which holds no paths of this machine."""
        for python in (SYSTEM_PYTHON, Path(sys.executable)):
            if python.exists():
                asked = subprocess.run([str(python), "-c", CAN_BE_CARRIED], capture_output=True, check=False)
                if asked.returncode == 0:
                    return python
        name = f"python{sysconfig.get_python_version()}"
        lines = install_lines(
            f"{name}-venv lib{name}", "python3-libs", "'brew install python'", "'winget install Python.Python.3.12'"
        )
        raise SetupError(f"A package carries Python's shared library, and no Python here has one: {lines}.")

    def _run(self, log_name: str, *command: str) -> None:
        log = self.folder / log_name
        if run_to_log(command, self._machine.environ, log) != 0:
            raise SetupError(f"The package's environment could not be made; the reason is at the end of {log}.")

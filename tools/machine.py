"""What this computer has: its system, its programs and its compilers."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """The computer as the set-up sees it; tests make one with a PATH and directories of their own."""

    system: str = field(default_factory=platform.system)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    prefixes: tuple[Path, ...] = (Path("/usr"), Path("/usr/local"), Path("/opt/homebrew"))

    def which(self, name: str) -> str | None:
        """Where a program is, or None."""
        return shutil.which(name, path=self.environ.get("PATH", ""))

    def output(self, *command: str) -> str | None:
        """What a short command prints, or None if there is no such command, or it fails."""
        program = self.which(command[0])
        if program is None:
            return None
        try:
            done = subprocess.run(
                [program, *command[1:]],
                env=dict(self.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=20,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout if done.returncode == 0 else None

    def cache_dir(self) -> Path:
        """Kvasir's folder for what can be made again: KVASIR_CACHE_DIR, or the system's place for such."""
        own = self.environ.get("KVASIR_CACHE_DIR")
        if own:
            return Path(own).expanduser().resolve()
        home = Path.home()
        if self.system == "Windows":
            return Path(self.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "kvasir" / "Cache"
        if self.system == "Darwin":
            return home / "Library" / "Caches" / "kvasir"
        return Path(self.environ.get("XDG_CACHE_HOME") or home / ".cache") / "kvasir"

    def compiler(self) -> str | None:
        """The C++ compiler, or None. A Mac always has `c++`, which works only with the command line tools."""
        if self.system == "Windows":
            return self.which("cl") or self.which("clang++") or self._visual_studio()
        if self.system == "Darwin" and self.output("xcode-select", "-p") is None:
            return None
        names = [self.environ.get("CXX", ""), "c++", "g++", "clang++"]
        return next((found for name in names if name and (found := self.which(name))), None)

    def _visual_studio(self) -> str | None:
        installer = Path(self.environ.get("ProgramFiles(x86)", "")) / "Microsoft Visual Studio" / "Installer"
        tools = "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"
        found = self.output(
            str(installer / "vswhere.exe"), "-latest", "-requires", tools, "-property", "installationPath"
        )
        return (found or "").strip() or None

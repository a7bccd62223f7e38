"""The Windows installer, by NSIS."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tools.machine import Machine
from tools.package.freeze import size_bytes
from tools.package.release import Release
from tools.prerequisites import SetupError


def build_installer(root: Path, program: Path, release: Release, output: Path, machine: Machine) -> Path:
    """Make setup.exe of the program's folder and return its path. May raise SetupError."""
    makensis = machine.which("makensis") or machine.which(r"C:\Program Files (x86)\NSIS\makensis.exe")
    if makensis is None:
        raise SetupError("The installer is made by NSIS, which is not here: 'winget install NSIS.NSIS'.")
    installer = output / f"Kvasir-{release.version}-setup.exe"
    script = root / "packaging" / "windows" / "kvasir.nsi"
    defines = {
        "VERSION": release.version,
        "PROGRAM": str(program),
        "INSTALLER": str(installer),
        "SIZE_KB": str(size_bytes(program) // 1024),
        "LICENCE": str(root / "LICENSE"),
    }
    command = [makensis, "-V2", "-INPUTCHARSET", "UTF8", *(f"-D{name}={value}" for name, value in defines.items())]
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"NSIS could not go on: {(done.stdout + done.stderr).strip()[-1000:]}")
    return installer

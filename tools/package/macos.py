"""The macOS disk image with the signed program in it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tools.machine import Machine
from tools.package.release import Release
from tools.prerequisites import SetupError

# "-" signs for this machine alone; a Developer ID signs for everyone.
IDENTITY_VARIABLE, AD_HOC = "KVASIR_CODESIGN_IDENTITY", "-"


def build_dmg(root: Path, app: Path, release: Release, output: Path, machine: Machine) -> Path:
    """Sign Kvasir.app, put it into an image beside a link to Applications, return its path. May raise SetupError."""
    identity = machine.environ.get(IDENTITY_VARIABLE) or AD_HOC
    (app / "Contents" / "MacOS" / "kvasir-engine").symlink_to("kvasir")
    sign(root, app, identity)
    folder = output / "dmg"
    folder.mkdir()
    shutil.copytree(app, folder / app.name, symlinks=True)
    (folder / "Applications").symlink_to("/Applications")
    shutil.copyfile(root / "resources" / "licences.txt", folder / "Licences.txt")
    image = output / f"Kvasir-{release.version}-{machine_name()}.dmg"
    _run("hdiutil", "create", "-volname", "Kvasir", "-srcfolder", str(folder), "-format", "UDZO", str(image))
    shutil.rmtree(folder)
    if identity != AD_HOC:
        _run("codesign", "--sign", identity, "--timestamp", str(image))
    return image


def sign(root: Path, app: Path, identity: str) -> None:
    """Sign every library, then the program around them, as Apple's notary wants it."""
    inner = [path for path in sorted(app.rglob("*")) if path.suffix in {".so", ".dylib"} and not path.is_symlink()]
    allowed = str(root / "packaging" / "macos" / "entitlements.plist")
    for path in [*inner, app]:
        entitlements = ["--entitlements", allowed] if path == app else []
        timestamp = "--timestamp=none" if identity == AD_HOC else "--timestamp"
        _run("codesign", "--force", "--sign", identity, "--options", "runtime", timestamp, *entitlements, str(path))


def machine_name() -> str:
    """arm64 or x86_64."""
    return _run("uname", "-m").strip()


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"{command[0]} could not go on: {done.stderr.strip()[-1000:]}")
    return done.stdout

"""`make package`: the packages of the system that it runs on, their sums, and what is in them."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from tools.machine import Machine
from tools.package import deb, macos, portable, windows
from tools.package.components import Component, components
from tools.package.freeze import freeze
from tools.package.icon import program_icon
from tools.package.notices import FILE as NOTICES_FILE
from tools.package.notices import notices
from tools.package.release import Release
from tools.package.sbom import bill_of_materials
from tools.package.sizes import Limits, parts_of, report
from tools.package.workshop import Workshop, package_recipe
from tools.prerequisites import QT_LIBRARIES, WAYLAND_LIBRARIES, X11_LIBRARIES, SetupError, can_load

# Of the Linux package, without the starter model and the GPU back ends.
LIMITS = Limits(download_bytes=50_000_000, installed_bytes=190_000_000)
PROGRAMS = {"Linux": ("readelf", "strip"), "Darwin": ("codesign", "hdiutil"), "Windows": ()}


def make_packages(root: Path, machine: Machine) -> None:
    """Build everything into dist/. Raises SetupError with the way out."""
    _require_tools(machine)
    workshop, release = _prepare(root, machine)
    workshop.compile_translations()
    parts = components(root, workshop.site)
    _require_true_notices(root, parts, machine)
    output = root / "dist"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir()
    print("Package: collecting the program.", flush=True)
    # What PyInstaller would take from the clock and from chance.
    environ = dict(machine.environ) | {"SOURCE_DATE_EPOCH": str(release.time_s), "PYTHONHASHSEED": "1"}
    icon = program_icon(root, workshop.python, workshop.folder, machine)
    if icon is not None:
        environ["KVASIR_ICON"] = str(icon)
    program = freeze(root, workshop.python, workshop.folder, environ)
    files = _packages(root, program, release, workshop.folder, machine)
    if machine.system == "Linux":
        parts += portable.system_libraries(program)
    bill = output / f"kvasir-{release.version}.cdx.json"
    bill.write_text(bill_of_materials(parts, release.time_s), encoding="utf-8")
    _write_sums(output, [*files, bill])
    for line in report(files, parts_of(program), LIMITS if machine.system == "Linux" else None):
        print(line, flush=True)


def write_notices(root: Path, machine: Machine) -> None:
    """Write resources/licences.txt from what a package would hold now."""
    workshop, _release = _prepare(root, machine)
    (root / NOTICES_FILE).write_text(notices(components(root, workshop.site)), encoding="utf-8")
    print(f"{NOTICES_FILE} says what is in the package.", flush=True)


def _prepare(root: Path, machine: Machine) -> tuple[Workshop, Release]:
    workshop = Workshop(root, machine)
    workshop.prepare(package_recipe(root, machine))
    return workshop, Release.of(root, machine.environ)


def _packages(root: Path, program: Path, release: Release, workplace: Path, machine: Machine) -> list[Path]:
    output = root / "dist"
    if machine.system == "Darwin":
        return [macos.build_dmg(root, program.parent / "Kvasir.app", release, output, machine)]
    if machine.system == "Windows":
        return [windows.build_installer(root, program, release, output, machine)]
    files = []
    if deb.can_build_deb():
        print("Package: making the .deb.", flush=True)
        files.append(deb.build_deb(root, program, release, output, workplace))
    else:
        print("No .deb is made: dpkg-dev is not here.", flush=True)
    libraries = portable.system_libraries(program)
    (program / portable.NOTICE).write_text(notices(libraries), encoding="utf-8")
    runtime = machine.environ.get(portable.RUNTIME_VARIABLE, "")
    if portable.can_build_appimage(runtime):
        print("Package: making the AppImage.", flush=True)
        files.append(portable.build_appimage(root, program, release, output, Path(runtime)))
    else:
        hint = f"with mksquashfs, {portable.RUNTIME_VARIABLE}=FILE makes an AppImage instead"
        print(f"Package: making the archive ({hint}).", flush=True)
        files.append(portable.build_archive(root, program, release, output))
    return files


def _require_tools(machine: Machine) -> None:
    missing = [name for name in PROGRAMS.get(machine.system, ()) if machine.which(name) is None]
    if missing:
        raise SetupError(
            f"Packages need {', '.join(missing)}: 'sudo apt install binutils' (Debian, Ubuntu), "
            "'sudo dnf install binutils' (Fedora), 'xcode-select --install' (macOS)."
        )
    libraries = QT_LIBRARIES | X11_LIBRARIES | WAYLAND_LIBRARIES
    missing = [name for name in libraries if machine.system == "Linux" and not can_load(name)]
    if missing:
        apt = " ".join(dict.fromkeys(libraries[name][0] for name in missing))
        dnf = " ".join(dict.fromkeys(libraries[name][1] for name in missing))
        raise SetupError(
            "A package says which system libraries it needs, and to find that out they must be here: "
            f"'sudo apt install {apt}' (Debian, Ubuntu), 'sudo dnf install {dnf}' (Fedora)."
        )


def _require_true_notices(root: Path, parts: Sequence[Component], machine: Machine) -> None:
    # NumPy's wheels for other systems hold other libraries, and so another text; the one in the repository is Linux's.
    if machine.system == "Linux" and (root / NOTICES_FILE).read_text(encoding="utf-8") != notices(parts):
        raise SetupError(f"{NOTICES_FILE} no longer says what is in the package: 'make licences' writes it again.")


def _write_sums(output: Path, files: Sequence[Path]) -> None:
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (output / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")

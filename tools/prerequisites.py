"""What must be there before the set-up can work."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from tools.machine import Machine


class SetupError(Exception):
    """Why the set-up can't go on: one sentence for the person, with the way out."""


def install_lines(apt: str, dnf: str, mac: str, windows: str) -> str:
    """How to get something on each system, as the end of a sentence."""
    linux = f"'sudo apt install {apt}' (Debian, Ubuntu), 'sudo dnf install {dnf}' (Fedora)"
    return f"{linux}, {mac} (macOS), {windows} (Windows)"


def require_compiler(machine: Machine) -> None:
    """Raise SetupError without a C++ compiler."""
    if machine.compiler() is None:
        lines = install_lines(
            "build-essential",
            "gcc-c++ make",
            "'xcode-select --install'",
            "'winget install Microsoft.VisualStudio.2022.BuildTools' with its C++ workload",
        )
        raise SetupError(f"Kvasir builds llama.cpp and finds no C++ compiler: {lines}.")


def require_venv(modules: Sequence[str] = ("venv", "ensurepip")) -> None:
    """Raise SetupError on a Python that can't make virtual environments, as Debian's is without a package."""
    if any(find_spec(name) is None for name in modules):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        lines = install_lines(
            f"python{version}-venv",
            "python3-libs",
            f"'brew install python@{version}'",
            f"'winget install Python.Python.{version}'",
        )
        raise SetupError(f"This Python ({sys.executable}) lacks the venv module: {lines}.")


QT_LIBRARIES = {
    # soname: (Debian's package, Fedora's)
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libX11.so.6": ("libx11-6", "libX11"),
}
X11_LIBRARIES = {
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
}
WAYLAND_LIBRARIES = {
    "libwayland-client.so.0": ("libwayland-client0", "libwayland-client"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor"),
}


def can_load(soname: str) -> bool:
    """Whether the system has a shared library."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def require_qt_libraries(machine: Machine, windowed: bool, is_here: Callable[[str], bool] = can_load) -> None:
    """Raise SetupError naming the packages of the system libraries that Qt's wheel needs and does not bring.

    `windowed` asks for those of the display in use too; Qt itself blames xcb-cursor whichever is missing.
    """
    if machine.system != "Linux":
        return
    needed = dict(QT_LIBRARIES)
    if windowed and not machine.environ.get("QT_QPA_PLATFORM"):
        needed |= WAYLAND_LIBRARIES if machine.environ.get("WAYLAND_DISPLAY") else X11_LIBRARIES
    missing = [soname for soname in needed if not is_here(soname)]
    if missing:
        apt = " ".join(dict.fromkeys(needed[soname][0] for soname in missing))
        dnf = " ".join(dict.fromkeys(needed[soname][1] for soname in missing))
        raise SetupError(
            f"The window needs system libraries that are missing ({', '.join(missing)}): "
            f"'sudo apt install {apt}' (Debian, Ubuntu), 'sudo dnf install {dnf}' (Fedora); "
            "macOS and Windows have them."
        )

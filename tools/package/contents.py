"""Which of the files that PyInstaller finds belong into the program."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

# Imported somewhere in our dependencies, and never in Kvasir.
MODULES_LEFT_OUT = [
    "tkinter",
    "unittest",
    "pydoc",
    "readline",
    "setuptools",
    "PIL",
    "llama_cpp.server",
    # Kvasir downloads by itself, so that a download can be resumed and checked.
    "hf_xet",
    # NumPy loads these when they are first asked for.
    "numpy.f2py",
    "numpy.fft",
    "numpy.random",
    "PySide6.QtDBus",
    "PySide6.QtNetwork",
]
# Qt's plugins by folder; what is not named stays out, and with it the libraries that only it needs.
QT_PLUGINS = {
    "iconengines": {"qsvgicon"},
    "imageformats": {"qsvg", "qjpeg", "qico", "qicns"},
    # Chinese, Japanese and Korean are typed through ibus, accents through compose.
    "platforminputcontexts": {"composeplatforminputcontextplugin", "ibusplatforminputcontextplugin"},
    "platforms": {"qxcb", "qwayland", "qoffscreen", "qwindows", "qcocoa"},
    "platformthemes": {"qxdgdesktopportal"},
    "styles": {"qmodernwindowsstyle", "qmacstyle"},
    "wayland-decoration-client": {"adwaita", "bradient"},
    "wayland-shell-integration": {"xdg-shell"},
}
# Qt's own words, those of its file dialog for example, in the languages of the window.
QT_TRANSLATION = re.compile(r"^qtbase_(en|zh_CN)\.qm$")
# These are the system's in every package. A second copy beside the graphics driver's breaks the driver; every desktop
# has them, and its services expect their own.
SYSTEM_LIBRARY = re.compile(
    r"^lib(stdc\+\+|gcc_s|vulkan|GL|GLX|EGL|GLdispatch|OpenGL|drm|gbm|wayland-[a-z]+|X11|X11-xcb|xcb"
    r"|fontconfig|freetype|expat|z|glib-2\.0|gthread-2\.0|dbus-1|cuda|nvidia-ml)\.so"
)
# The wheel holds each of llama.cpp's libraries up to six times; one name of each is loaded.
LLAMA_LIBRARY = re.compile(
    r"^(libllama\.so|libggml\.so\.0|libggml-base\.so\.0"
    r"|lib(llama|ggml\.0|ggml-base\.0)\.dylib|(llama|ggml|ggml-base)\.dll)$"
)


# Of llama.cpp's code for each kind of processor, that for two which were hardly sold; they run that of the one before.
RARE_BACKEND = re.compile(r"ggml-cpu-(cannonlake|cooperlake)\b")


def is_wanted(name: str) -> bool:
    """Whether the file `name`, a path inside the program, belongs into it."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.parts[:2] == ("llama_cpp", "lib"):
        return LLAMA_LIBRARY.match(path.name) is not None
    if path.parts[0] == "resources" and (path.suffix == ".ts" or path.name == ".gitignore"):
        return False
    if RARE_BACKEND.search(path.name) or path.name.startswith("_multiarray_tests"):
        return False
    if path.parts[0] == "PySide6" and "plugins" in path.parts:
        folder = path.parts[path.parts.index("plugins") + 1]
        plugin = path.name.split(".")[0].removeprefix("lib")
        return plugin in QT_PLUGINS.get(folder, set())
    if path.parts[0] == "PySide6" and "translations" in path.parts:
        return QT_TRANSLATION.match(path.name) is not None
    return SYSTEM_LIBRARY.match(path.name) is None

"""The window's command line, and where its files lie."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from app.process.one_window import Request
from engine import __version__
from engine.api.valid import valid_text

ACTIVATION_VARIABLE = "XDG_ACTIVATION_TOKEN"
"""Where the desktop puts its leave to come to the front, and Qt looks for it."""


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    model: Path | None
    data_dir: Path | None
    screenshot: Path | None
    texts: tuple[str, ...]
    export: Path | None = None

    def request(self) -> Request:
        """What the window is to do, also one that was started from another folder."""
        return Request(
            str(self.model) if self.model is not None else None,
            self.texts,
            str(self.screenshot.absolute()) if self.screenshot is not None else None,
            os.environ.get(ACTIVATION_VARIABLE),
        )


class _Parser(argparse.ArgumentParser):
    """Answers a mistake with one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"kvasir: {message}. “kvasir --help” lists what there is.\n")


def parse(arguments: list[str]) -> Options:
    """Read the command line; ends the process with a sentence if it makes no sense."""
    parser = _Parser(prog="kvasir", description="A desktop chat for local models whose KV cache you can see and steer.")
    parser.add_argument("--version", action="version", version=f"Kvasir {__version__}")
    # File managers give the file without an option, and start the program with nothing when there is none.
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE.gguf", help="the same as --model FILE.gguf")
    parser.add_argument("--model", type=Path, metavar="PATH", help="the GGUF file to load")
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="keep all files of the user in this folder")
    parser.add_argument(
        "--screenshot",
        type=Path,
        metavar="FILE.png",
        help="load, draw, save a picture (after the last answer, with --send), quit",
    )
    parser.add_argument(
        "--send",
        action="append",
        default=[],
        metavar="TEXT",
        help="send this once the model is ready; repeatable, each after the answer before",
    )
    parser.add_argument(
        "--export", type=Path, metavar="FILE.json", help="write all chats to this file, without a window, and quit"
    )
    found = parser.parse_args(arguments)
    model = found.model or found.file
    if model is not None and not model.is_file():
        parser.exit(1, f"kvasir: there is no file {model}. Give --model the path of a GGUF file.\n")
    model = model.absolute() if model is not None else None
    return Options(model, found.data_dir, found.screenshot, tuple(map(valid_text, found.send)), found.export)


@dataclass(frozen=True)
class Folders:
    """Where settings, data and logs lie."""

    config: Path
    data: Path
    logs: Path


def folders(data_dir: Path | None) -> Folders:
    """The platform's folders, or all in the one that was given."""
    if data_dir is not None:
        root = data_dir.absolute()
        return Folders(root, root, root / "logs")
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("kvasir", appauthor=False)
    return Folders(Path(dirs.user_config_dir), Path(dirs.user_data_dir), Path(dirs.user_log_dir))

"""Recognizes other file formats that are mistaken for GGUF, so that the error can name them."""

from __future__ import annotations

import stat
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Sentence, say

PEEK_BYTES = 512

_GGUF = b"GGUF"
_OLD_GGML = (b"lmgg", b"fmgg", b"tjgg", b"algg")
_ARCHIVES = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")


def regular_file_bytes(path: Path) -> int:
    """Size of the file at `path`; raises MODEL_NOT_FOUND, MODEL_IS_DIRECTORY or MODEL_UNREADABLE."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise EngineError(
            ErrorCode.MODEL_NOT_FOUND,
            say(
                "There is no file “{0}” in “{1}”. It may have been moved: choose it again.", path.name, str(path.parent)
            ),
            f"{path!r}: {error!r}",
        ) from error
    except OSError as error:
        raise unreadable(path, error.strerror or str(error), repr(error)) from error
    if stat.S_ISDIR(status.st_mode):
        raise EngineError(
            ErrorCode.MODEL_IS_DIRECTORY,
            say("“{0}” is a folder. Choose the .gguf file in it.", path.name or str(path)),
            str(path),
        )
    if not stat.S_ISREG(status.st_mode):
        # Opening a pipe or a device may block for ever.
        raise EngineError(
            ErrorCode.MODEL_UNREADABLE,
            say("“{0}” is a pipe or a device, not a file. Choose the .gguf file itself.", path.name),
            f"{path}: mode {status.st_mode:o}",
        )
    return status.st_size


def refuse_other_formats(name: str, start: bytes) -> None:
    """Raise the EngineError that says what the file is, unless `start` begins a GGUF file."""
    if start.startswith(_GGUF):
        return
    if not start:
        raise EngineError(
            ErrorCode.MODEL_EMPTY,
            say("“{0}” is empty: its download never began. Download it again.", name),
            "0 bytes",
        )
    if _GGUF.startswith(start):
        raise EngineError(
            ErrorCode.MODEL_TRUNCATED,
            say("“{0}” is incomplete: only its first bytes are there. Download it again.", name),
            f"{len(start)} bytes",
        )
    if start[:4] in _OLD_GGML:
        raise EngineError(
            ErrorCode.MODEL_VERSION_UNSUPPORTED,
            say("“{0}” is in a format older than GGUF, which is no longer read. Download the model as .gguf.", name),
            repr(start[:4]),
        )
    raise EngineError(
        ErrorCode.MODEL_NOT_GGUF,
        _what_it_is(name, start),
        f"it starts with {start[:32]!r}",
    )


def _what_it_is(name: str, start: bytes) -> Sentence:
    # Whole sentences, since fragments can't be translated.
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<script")):
        return say(
            "“{0}” is not a GGUF model: it is a web page, often a login or error page. Sign in and download "
            "the model again.",
            name,
        )
    if text.startswith(b"version https://git-lfs"):
        return say(
            "“{0}” is not a GGUF model: it is a git-lfs pointer, which only stands for the file. Run “git lfs pull”.",
            name,
        )
    if text.startswith(b"{"):
        return say(
            "“{0}” is not a GGUF model: it is JSON: settings, or a server's error message. Choose the .gguf file.", name
        )
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") < 1 << 32:
        return say("“{0}” is not a GGUF model: it is a safetensors file. Look for the model's GGUF version.", name)
    if start.startswith(b"PK"):
        return say(
            "“{0}” is not a GGUF model: it is a zip archive or a PyTorch checkpoint. Look for the model's "
            "GGUF version.",
            name,
        )
    if start[:1] == b"\x80" and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return say(
            "“{0}” is not a GGUF model: it is a Python pickle, which can run programs. Look for the model's "
            "GGUF version.",
            name,
        )
    if start.startswith(_ARCHIVES):
        return say("“{0}” is not a GGUF model: it is a compressed archive. Unpack it first.", name)
    if not start.strip(b"\0"):
        return say(
            "“{0}” is not a GGUF model: its beginning is blank, as in an unfinished download. Download it again.", name
        )
    return say(
        "“{0}” is not a GGUF model: it begins with something else. Choose a file that ends in .gguf, or "
        "download it again.",
        name,
    )


def unreadable(path: Path, why: str, detail: str) -> EngineError:
    """The MODEL_UNREADABLE error to raise for `path`."""
    return EngineError(
        ErrorCode.MODEL_UNREADABLE,
        say("“{0}” could not be read: {1}. Check the disk and the file's permissions.", path.name, why),
        f"{path}: {detail}",
    )

"""Detects truncated native libraries, which would crash the process when opened."""

from __future__ import annotations

import struct
from pathlib import Path

ELF_MAGIC = b"\x7fELF"
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
"""ELF's header for 64 bits, little-endian: the magic and identification, then what the machine needs to know."""


def is_whole(path: Path) -> bool:
    """Whether the file is as long as its ELF header says; True for other formats, whose loaders check it themselves.

    The linker maps the file, and reading a mapped page beyond the file's end raises SIGBUS instead of an error.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except OSError:
        return False
    if head[: len(ELF_MAGIC)] != ELF_MAGIC:
        # On Linux the linker refuses a library without the magic number.
        return True
    if len(head) < _HEADER.size:
        return False
    _type, _machine, _version, _entry, _phoff, shoff, _flags, _ehsize, _phentsize, _phnum, shentsize, shnum, _ = (
        _HEADER.unpack(head)
    )
    # Linkers write the section header table last.
    return bool(shoff + shentsize * shnum <= size)

"""Whether the file of a native library is all there: opening one that is cut short ends the process."""

from __future__ import annotations

import struct
from pathlib import Path

ELF_MAGIC = b"\x7fELF"
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
"""ELF's header for 64 bits, little-endian: the magic and identification, then what the machine needs to know."""


def is_whole(path: Path) -> bool:
    """Whether the file reaches as far as its ELF header says; True for other formats, whose loaders look themselves.

    The linker maps the file, and reading a mapped page beyond the file's end is a SIGBUS and no error.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except OSError:
        return False
    if head[: len(ELF_MAGIC)] != ELF_MAGIC:
        # On Linux a library without the magic is refused by the linker.
        return True
    if len(head) < _HEADER.size:
        return False
    _type, _machine, _version, _entry, _phoff, shoff, _flags, _ehsize, _phentsize, _phnum, shentsize, shnum, _ = (
        _HEADER.unpack(head)
    )
    # The table of sections comes last in what linkers write.
    return bool(shoff + shentsize * shnum <= size)

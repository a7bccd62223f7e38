"""ICU's data without what the window never asks for."""

from __future__ import annotations

import re
import struct
from pathlib import Path

# Names of currencies, languages, regions, units and time zones in languages that the window does not speak; what any
# text needs of its language (sorting, upper case) lies elsewhere. Then what Qt has by itself or never asks for:
# dictionaries of word borders, transliterations, numbers spelled out, and encodings but for UTF, Latin and China's.
UNUSED = re.compile(
    r"^\w+/(curr|lang|region|unit|zone)/(?!(root|pool|res_index|en|zh|tzdbNames)\b|en_|zh_)"
    r"|^\w+/(translit|rbnf)/(?!(root|res_index|en)\.res$)|^\w+/translit/root\.res$"
    r"|\.dict$|^\w+/(?!gb18030)[^/]*\.cnv$"
)
_ENTRY = struct.Struct("<II")
"""Of a name and of its data: bytes from the table's beginning."""


def silence(library: Path) -> int:
    """Blank the unused items in a libicudata, and take them out of its table of contents; the bytes blanked.

    The library keeps its size, and blanks compress to nothing. Where ICU finds a locale missing it takes what is there
    for all. A library of another form is left as it is.
    """
    data = bytearray(library.read_bytes())
    table = _table(data)
    if table is None:
        return 0
    (count,) = struct.unpack_from("<I", data, table)
    entries = [_ENTRY.unpack_from(data, table + 4 + _ENTRY.size * index) for index in range(count)]
    starts = [start for _name, start in entries]
    kept, n_blanked = [], 0
    for index, (name, start) in enumerate(entries):
        text = data[table + name : data.index(0, table + name)].decode("ascii")
        # The last item's end is not told: it stays.
        if index + 1 < count and UNUSED.search(text):
            end = starts[index + 1]
            data[table + start : table + end] = bytes(end - start)
            n_blanked += end - start
        else:
            kept.append((name, start))
    struct.pack_into("<I", data, table, len(kept))
    for index, entry in enumerate(kept):
        _ENTRY.pack_into(data, table + 4 + _ENTRY.size * index, *entry)
    library.write_bytes(data)
    return n_blanked


def _table(data: bytearray) -> int | None:
    """Where the table of contents begins: behind a header that says its length, with this format's name at byte 12."""
    found = data.find(b"CmnD")
    header = found - 12
    if found < 0 or data[header + 2 : header + 4] != b"\xda\x27":
        return None
    table = header + int.from_bytes(data[header : header + 2], "little")
    (count,) = struct.unpack_from("<I", data, table)
    starts = [_ENTRY.unpack_from(data, table + 4 + _ENTRY.size * index)[1] for index in range(count)]
    return table if starts == sorted(starts) else None

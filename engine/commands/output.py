"""Machine-readable output: one JSON object per line."""

from __future__ import annotations

import json
from typing import Any

_LINE_ENDS = str.maketrans({character: f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"})
"""Characters that many readers take for the end of a line, and that JSON lets stand: a model may write them."""


def json_line(content: dict[str, Any]) -> str:
    """The object as JSON on one line, without any Unicode line separator."""
    return json.dumps(content, ensure_ascii=False).translate(_LINE_ENDS)

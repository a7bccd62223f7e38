"""Reads JSON from untrusted files, with all text and numbers made safe to use."""

from __future__ import annotations

import json
import math
from typing import Any

from engine.api.valid import valid_text

MAX_BITS = 64
_SHOWN = 40
_DEEPEST = 200
"""Levels of lists and mappings in which half a surrogate pair is looked for: no file of use has as many."""


def read_json(text: str | bytes) -> Any:
    """Parse JSON; raises ValueError.

    All strings in the result are valid Unicode. A number of more than 64 bits, infinity and NaN become strings of their
    first digits, which are refused wherever a number is expected.
    """
    text = valid_text(text) if isinstance(text, str) else text.decode("utf-8-sig")
    try:
        plain = json.loads(text, parse_int=_whole_number, parse_float=_number, parse_constant=str)
        return _valid(plain, _DEEPEST) if "\\ud" in text or "\\uD" in text else plain
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _whole_number(digits: str) -> int | str:
    if len(digits) <= _SHOWN and (number := int(digits)).bit_length() <= MAX_BITS:
        return number
    return digits[:_SHOWN]


def _number(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits[:_SHOWN]


def _valid(plain: Any, n_levels: int) -> Any:
    """The same value with lone surrogates (from JSON escapes) replaced."""
    if n_levels == 0:
        raise RecursionError
    if isinstance(plain, str):
        return valid_text(plain)
    if isinstance(plain, list):
        return [_valid(value, n_levels - 1) for value in plain]
    if isinstance(plain, dict):
        return {valid_text(key): _valid(value, n_levels - 1) for key, value in plain.items()}
    return plain

"""Typed, bounded access to a header's metadata, which is untrusted."""

from __future__ import annotations

import math
from collections.abc import Mapping

from engine.api.errors import EngineError
from engine.models.header import GgufArray, MetadataValue, damaged

_MAX_COUNT = 2**31 - 1


class Metadata:
    """The metadata of one model file; a value of the wrong type or size raises MODEL_DAMAGED.

    Keys that begin with a dot belong to the architecture: `.block_count` is `llama.block_count`.
    """

    def __init__(self, values: Mapping[str, MetadataValue], file_name: str) -> None:
        self._values = values
        self._file_name = file_name
        self.architecture = self.text("general.architecture")
        if not self.architecture:
            raise self.damaged("the header names no architecture")

    def has(self, key: str) -> bool:
        return self._full(key) in self._values

    def text(self, key: str, default: str = "") -> str:
        """A string; the default if it is missing or not a string."""
        value = self._values.get(self._full(key))
        return value if isinstance(value, str) else default

    def number(self, key: str, default: float) -> float:
        value = self._values.get(self._full(key), default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.damaged(f"{key!r} is {value!r}, not a number")
        return float(value)

    def count(self, key: str, default: int, limit: int = _MAX_COUNT) -> int:
        """A whole number from 0 to `limit`."""
        return self._checked(key, self._values.get(self._full(key), default), limit)

    def required_count(self, key: str, limit: int = _MAX_COUNT) -> int:
        """A whole number from 1 to `limit` that the file must give."""
        count = self.count(key, 0, limit)
        if count == 0:
            raise self.damaged(f"{self._full(key)!r} is missing or zero")
        return count

    def counts(self, key: str, n: int, default: tuple[int, ...], limit: int = _MAX_COUNT) -> tuple[int, ...]:
        """`n` whole numbers: a list of the file's, one number of the file's repeated, or the default."""
        value = self._values.get(self._full(key))
        if value is None:
            return default
        if not isinstance(value, GgufArray):
            return (self._checked(key, value, limit),) * n
        if value.numbers is None or value.count != n:
            raise self.damaged(f"{self._full(key)!r} has {value.count} values for {n} layers")
        return tuple(self._checked(key, number, limit) for number in value.numbers)

    def is_list(self, key: str) -> bool:
        return isinstance(self._values.get(self._full(key)), GgufArray)

    def list_length(self, key: str) -> int:
        value = self._values.get(self._full(key))
        return value.count if isinstance(value, GgufArray) else 0

    def numbers(self, key: str) -> tuple[int | float, ...]:
        """A short list of numbers; empty if it is missing."""
        value = self._values.get(self._full(key))
        return value.numbers or () if isinstance(value, GgufArray) else ()

    def optional_count(self, key: str) -> int | None:
        """A whole number; None if it is missing or means "none", such as 2^32 - 1 for a token id."""
        value = self._values.get(self._full(key))
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT:
            return value
        return None

    def damaged(self, detail: str) -> EngineError:
        return damaged(self._file_name, detail)

    def _full(self, key: str) -> str:
        return self.architecture + key if key.startswith(".") else key

    def _checked(self, key: str, value: MetadataValue, limit: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= limit:
            raise self.damaged(f"{self._full(key)!r} is {value!r}, not a whole number up to {limit}")
        return value

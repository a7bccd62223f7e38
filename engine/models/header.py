"""Reads the header of one GGUF file, with bounds on time and memory whatever the file claims.

Layout, little-endian: magic, version u32, tensor count u64, pair count u64; pairs of key string, type u32,
value; tensors of name string, dimension count u32, dimensions u64, type u32, offset u64; padding; data.
A string is a u64 length and its bytes. Source: the GGUF specification, and what gguf.cpp refuses.
"""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.models import file_formats, ggml

MAGIC = b"GGUF"
SUPPORTED_VERSIONS = (2, 3)

# Bounds well beyond any real model; a file that exceeds them counts as damaged. Together they limit the parsing of
# any header to a second or two and 64 MB.
MAX_PAIRS = 16_384
MAX_TENSORS = 65_536
MAX_KEY_BYTES = 256
MAX_TEXT_BYTES = 4 << 20
MAX_ALL_TEXT_BYTES = 8 << 20
MAX_SKIPPED_STRINGS = 4_000_000
MAX_KEPT_NUMBERS = 1024
MAX_ALL_KEPT_NUMBERS = 65_536
MAX_ELEMENTS = 2**62
MAX_ALIGNMENT = 1 << 20
_TENSOR_NAME_BYTES = 64
_MAX_DIMENSIONS = 4
CHUNK_BYTES = 1 << 20

_STRING, _ARRAY, _BOOL = 8, 9, 7
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")


@dataclasses.dataclass(frozen=True)
class GgufArray:
    """A list in the metadata; `numbers` is filled only for short lists of numbers (per-layer values)."""

    count: int
    numbers: tuple[int | float, ...] | None


MetadataValue = bool | int | float | str | GgufArray


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """One tensor: `shape` has the row length first, `offset` counts from the start of the data."""

    name: str
    shape: tuple[int, ...]
    type: ggml.GgmlType
    offset: int
    n_elements: int
    n_bytes: int


@dataclasses.dataclass(frozen=True)
class GgufHeader:
    """The header of one file; every tensor lies within `file_bytes`."""

    version: int
    metadata: Mapping[str, MetadataValue]
    tensors: tuple[TensorInfo, ...]
    data_offset: int
    file_bytes: int


class ByteSource(Protocol):
    """A source of header bytes; every read returns all the bytes requested, fewer only at the end."""

    def read(self, n_bytes: int, /) -> bytes: ...
    def seek(self, position: int, /) -> int: ...


def read_header(path: Path) -> GgufHeader:
    """Read the header of the file at `path`.

    Raises EngineError: MODEL_NOT_FOUND, MODEL_IS_DIRECTORY, MODEL_UNREADABLE, MODEL_EMPTY, MODEL_NOT_GGUF,
    MODEL_VERSION_UNSUPPORTED, MODEL_TRUNCATED, MODEL_DAMAGED.
    """
    size = file_formats.regular_file_bytes(path)
    try:
        with path.open("rb") as file:
            return read_header_from(file, path.name, size)
    except OSError as error:
        raise file_formats.unreadable(path, error.strerror or str(error), repr(error)) from error


def read_header_from(source: ByteSource, name: str, file_bytes: int) -> GgufHeader:
    """Read a header of a file of `file_bytes` bytes from any source; raises EngineError as `read_header` does."""
    return _HeaderReader(source, name, file_bytes).read()


def damaged(file_name: str, detail: str) -> EngineError:
    """The MODEL_DAMAGED error to raise for a header that makes no sense."""
    return EngineError(
        ErrorCode.MODEL_DAMAGED,
        say("“{0}” is damaged: its header makes no sense. Download it again.", file_name),
        detail,
    )


class _HeaderReader:
    """Parses the header in one pass, in chunks, so that neither a huge file nor a huge count takes memory."""

    def __init__(self, file: ByteSource, name: str, size: int) -> None:
        self._file = file
        self._name = name
        self._size = size
        self._buffer = b""
        self._at = 0
        self._buffer_end = 0
        self._text_bytes = 0
        self._skipped_strings = 0
        self._kept_numbers = 0

    def read(self) -> GgufHeader:
        file_formats.refuse_other_formats(self._name, self._peek(file_formats.PEEK_BYTES))
        self._take(len(MAGIC))
        version = self._read_version()
        n_tensors, n_pairs = self._u64(), self._u64()
        if n_pairs > MAX_PAIRS or n_tensors > MAX_TENSORS:
            raise self._damaged(f"it claims {n_pairs} pairs and {n_tensors} tensors")
        metadata = self._read_pairs(n_pairs)
        alignment = self._alignment(metadata)
        tensors, end = self._read_tensors(n_tensors, alignment)
        data_offset = -(-self._position // alignment) * alignment
        if tensors and data_offset + end > self._size:
            raise self._truncated(f"its tensors end at byte {data_offset + end}")
        return GgufHeader(version, metadata, tensors, data_offset, self._size)

    # --- parts ---

    def _read_version(self) -> int:
        version = self._u32()
        if version in SUPPORTED_VERSIONS:
            return version
        if version & 0xFFFF == 0 and version != 0:
            problem = say(
                "“{0}” is stored for big-endian machines. Download its little-endian version instead.", self._name
            )
        elif version == 1:
            problem = say(
                "“{0}” is in the first GGUF format, which is no longer read. Download a newer file.", self._name
            )
        elif version > max(SUPPORTED_VERSIONS):
            problem = say(
                "“{0}” is in a newer GGUF format than this Kvasir can read. Update Kvasir to use it.", self._name
            )
        else:
            raise self._damaged(f"GGUF version {version}")
        raise EngineError(ErrorCode.MODEL_VERSION_UNSUPPORTED, problem, f"GGUF version {version:#x}")

    def _read_pairs(self, count: int) -> dict[str, MetadataValue]:
        metadata: dict[str, MetadataValue] = {}
        for _ in range(count):
            key = self._short_text(MAX_KEY_BYTES, "a key")
            if not key or key in metadata:
                raise self._damaged(f"the key {key!r} is empty or appears twice")
            metadata[key] = self._read_value(key, self._u32())
        return metadata

    def _read_value(self, key: str, kind: int) -> MetadataValue:
        if kind == _STRING:
            return self._text(key)
        if kind == _ARRAY:
            return self._read_array(key, self._u32(), self._u64())
        if kind not in _NUMBERS:
            raise self._damaged(f"the value of {key!r} has the unknown type {kind}")
        form = "<" + _NUMBERS[kind]
        number: int | float = struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return bool(number) if kind == _BOOL else number

    def _read_array(self, key: str, kind: int, count: int) -> GgufArray:
        if kind == _STRING:
            self._skip_strings(count, key)
            return GgufArray(count, None)
        if kind not in _NUMBERS:
            raise self._damaged(f"the list {key!r} has the unknown element type {kind}")
        n_bytes = count * struct.calcsize(_NUMBERS[kind])
        if count > MAX_KEPT_NUMBERS or self._kept_numbers + count > MAX_ALL_KEPT_NUMBERS:
            self._skip(n_bytes)
            return GgufArray(count, None)
        self._kept_numbers += count
        return GgufArray(count, struct.unpack(f"<{count}{_NUMBERS[kind]}", self._take(n_bytes)))

    def _alignment(self, metadata: Mapping[str, MetadataValue]) -> int:
        alignment = metadata.get("general.alignment", 32)
        if (
            isinstance(alignment, bool)
            or not isinstance(alignment, int)
            or not 0 < alignment <= MAX_ALIGNMENT
            or alignment & (alignment - 1)
        ):
            raise self._damaged(f"the alignment {alignment!r} is no power of two")
        return alignment

    def _read_tensors(self, count: int, alignment: int) -> tuple[tuple[TensorInfo, ...], int]:
        """The tensors and the end offset of their data; they must be contiguous, as llama.cpp requires."""
        tensors: list[TensorInfo] = []
        names: set[str] = set()
        next_offset = end = 0
        for _ in range(count):
            tensor = self._read_tensor()
            if tensor.name in names:
                raise self._damaged(f"the tensor {tensor.name!r} appears twice")
            if tensor.offset != next_offset:
                raise self._damaged(f"the tensor {tensor.name!r} lies at {tensor.offset}, not {next_offset}")
            names.add(tensor.name)
            tensors.append(tensor)
            end = tensor.offset + tensor.n_bytes
            next_offset = -(-end // alignment) * alignment
        return tuple(tensors), end

    def _read_tensor(self) -> TensorInfo:
        name = self._short_text(_TENSOR_NAME_BYTES - 1, "a tensor's name")
        n_dimensions = self._u32()
        if n_dimensions > _MAX_DIMENSIONS:
            raise self._damaged(f"the tensor {name!r} has {n_dimensions} dimensions")
        shape: tuple[int, ...] = struct.unpack(f"<{n_dimensions}Q", self._take(8 * n_dimensions))
        kind = self._u32()
        offset = self._u64()
        n_elements = math.prod(shape)
        if max(shape, default=0) > MAX_ELEMENTS or n_elements > MAX_ELEMENTS:
            raise self._damaged(f"the tensor {name!r} has the shape {shape}")
        if kind not in ggml.TYPES:
            raise EngineError(
                ErrorCode.MODEL_VERSION_UNSUPPORTED,
                say(
                    "“{0}” stores its weights in a format that this version of Kvasir does not know. Update Kvasir, "
                    "or download the model in another quantization.",
                    self._name,
                ),
                f"the tensor {name!r} has the type {kind}",
            )
        packing = ggml.TYPES[kind]
        row = shape[0] if shape else 1
        if not packing.can_hold_row(row):
            raise self._damaged(f"the tensor {name!r} has rows of {row} elements in {packing.name}")
        n_bytes = n_elements // packing.block_size * packing.block_bytes
        return TensorInfo(name, shape, packing, offset, n_elements, n_bytes)

    # --- strings ---

    def _short_text(self, limit: int, what: str) -> str:
        length = self._u64()
        if length > limit:
            raise self._damaged(f"{what} of {length} bytes at byte {self._position}")
        try:
            return self._take(length).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._damaged(f"{what} is not text: {error}") from error

    def _text(self, key: str) -> str:
        length = self._u64()
        self._text_bytes += length
        if length > MAX_TEXT_BYTES or self._text_bytes > MAX_ALL_TEXT_BYTES:
            raise self._damaged(f"the text of {key!r} has {length} bytes")
        return self._take(length).decode("utf-8", errors="replace")

    def _skip_strings(self, count: int, key: str) -> None:
        """Skip a list of strings; a vocabulary has hundreds of thousands, so the inner loop is optimized."""
        self._skipped_strings += count
        if self._skipped_strings > MAX_SKIPPED_STRINGS:
            raise self._damaged(f"the list {key!r} claims {count} texts")
        unpack = _U64.unpack_from
        left = count
        while left:
            buffer, at, end = self._buffer, self._at, len(self._buffer)
            last = end - 8
            while left and at <= last:
                following = at + 8 + unpack(buffer, at)[0]
                if following > end:
                    break
                at = following
                left -= 1
            self._at = at
            if left:  # the next string reaches beyond the buffer
                self._skip(self._u64())
                left -= 1

    # --- bytes ---

    @property
    def _position(self) -> int:
        return self._buffer_end - len(self._buffer) + self._at

    def _u32(self) -> int:
        return int(_U32.unpack(self._take(4))[0])

    def _u64(self) -> int:
        return int(_U64.unpack(self._take(8))[0])

    def _take(self, count: int) -> bytes:
        if self._position + count > self._size:
            raise self._truncated(f"{count} bytes were expected at byte {self._position}")
        taken = self._peek(count)
        if len(taken) < count:
            raise self._truncated(f"it shrank while it was read, at byte {self._position}")
        self._at += count
        return taken

    def _peek(self, count: int) -> bytes:
        """The next `count` bytes, fewer at the end of the file, without consuming them."""
        if len(self._buffer) - self._at < count:
            kept = self._buffer[self._at :]
            more = self._file.read(max(count - len(kept), CHUNK_BYTES))
            self._buffer, self._at = kept + more, 0
            self._buffer_end += len(more)
        return self._buffer[self._at : self._at + count]

    def _skip(self, count: int) -> None:
        target = self._position + count
        if target > self._size:
            raise self._truncated(f"{count} bytes were expected at byte {self._position}")
        if target <= self._buffer_end:
            self._at += count
        else:
            self._file.seek(target)
            self._buffer, self._at, self._buffer_end = b"", 0, target

    # --- errors ---

    def _damaged(self, detail: str) -> EngineError:
        return damaged(self._name, detail)

    def _truncated(self, detail: str) -> EngineError:
        return EngineError(
            ErrorCode.MODEL_TRUNCATED,
            say("“{0}” is incomplete: it ends too early, as in a broken download. Download it again.", self._name),
            f"the file has {self._size} bytes, but {detail}",
        )

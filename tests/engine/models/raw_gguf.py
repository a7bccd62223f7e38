"""Builds GGUF headers byte by byte, wrong ones too, which a proper writer refuses to make."""

from __future__ import annotations

import struct
from collections.abc import Sequence

U8, U32, I32, F32, BOOL, STRING, ARRAY, U64 = 0, 4, 5, 6, 7, 8, 9, 10
_FORMATS = {U8: "<B", U32: "<I", I32: "<i", F32: "<f", BOOL: "<?", U64: "<Q"}

F32_TENSOR = 0


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def pair(key: str | bytes, kind: int, value: bytes | str | float) -> bytes:
    """A pair; the value is packed as `kind` says, or taken as it is when it is bytes."""
    if isinstance(value, str):
        packed = text(value)
    elif isinstance(value, bytes):
        packed = value
    else:
        packed = struct.pack(_FORMATS[kind], value)
    return text(key) + struct.pack("<I", kind) + packed


def array(kind: int, values: Sequence[float | str], count: int | None = None) -> bytes:
    """The value of an array pair, which may claim another count than it has."""
    items = b"".join(text(one) if isinstance(one, str) else struct.pack(_FORMATS[kind], one) for one in values)
    return struct.pack("<IQ", kind, len(values) if count is None else count) + items


def tensor(name: str | bytes, shape: Sequence[int], kind: int = F32_TENSOR, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def gguf(
    pairs: Sequence[bytes] = (),
    tensors: Sequence[bytes] = (),
    *,
    version: int = 3,
    n_pairs: int | None = None,
    n_tensors: int | None = None,
    data: bytes = b"",
) -> bytes:
    """A whole file: the header, padded to 32 bytes when there are tensors, and the data."""
    counts = (
        len(tensors) if n_tensors is None else n_tensors,
        len(pairs) if n_pairs is None else n_pairs,
    )
    header = b"GGUF" + struct.pack("<IQQ", version, *counts) + b"".join(pairs) + b"".join(tensors)
    return header + bytes(-len(header) % 32 if tensors else 0) + data


def llama_pairs(*more: bytes, n_layer: int = 1) -> list[bytes]:
    """The least that a llama model's header needs."""
    return [
        pair("general.architecture", STRING, "llama"),
        pair("llama.block_count", U32, n_layer),
        pair("llama.context_length", U32, 512),
        pair("llama.embedding_length", U32, 64),
        pair("llama.attention.head_count", U32, 2),
        *more,
    ]


def model(*more: bytes) -> bytes:
    """A sound llama file with one tensor, and more pairs."""
    return gguf(llama_pairs(*more), [tensor("token_embd.weight", (64, 4))], data=bytes(1024))


def model_bytes(n_tokens: int = 10, n_layer: int = 1) -> bytes:
    """A llama model whose header grows with its vocabulary."""
    pairs = llama_pairs(
        pair("tokenizer.ggml.tokens", ARRAY, array(STRING, [f"token {number}" for number in range(n_tokens)])),
        pair("tokenizer.ggml.scores", ARRAY, array(F32, [0.0] * n_tokens)),
        n_layer=n_layer,
    )
    return gguf(pairs, [tensor("token_embd.weight", (64, 100_000))], data=bytes(64 * 100_000 * 4))

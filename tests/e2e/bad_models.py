"""Files that are offered as models and are none, each of another kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.api.errors import ErrorCode
from tests.engine.models import raw_gguf

BAD_MODELS: dict[str, tuple[ErrorCode, str]] = {
    "missing": (ErrorCode.MODEL_NOT_FOUND, "no file"),
    "folder": (ErrorCode.MODEL_IS_DIRECTORY, "folder"),
    "empty": (ErrorCode.MODEL_EMPTY, "empty"),
    "page": (ErrorCode.MODEL_NOT_GGUF, "web page"),
    "pointer": (ErrorCode.MODEL_NOT_GGUF, "git-lfs"),
    "truncated": (ErrorCode.MODEL_TRUNCATED, "ends too early"),
    "damaged": (ErrorCode.MODEL_DAMAGED, "damaged"),
    "projector": (ErrorCode.MODEL_IS_PROJECTOR, "pictures"),
    "embedding": (ErrorCode.MODEL_IS_EMBEDDING, "embedding"),
    "shard": (ErrorCode.MODEL_SHARD_MISSING, "-of-"),
    "future": (ErrorCode.MODEL_ARCHITECTURE_UNKNOWN, "newer Kvasir"),
}
"""Kind -> the code of its error, and a word of its sentence."""


def write_bad_model(kind: str, folder: Path, tiny_model: Callable[..., Path]) -> Path:
    """Write such a file; its path."""
    path = folder / f"{kind}.gguf"
    whole = tiny_model().read_bytes()
    if kind == "folder":
        path.mkdir()
    elif kind == "shard":
        first = tiny_model(max_tensors_per_shard=8)
        path = folder / first.name
        path.write_bytes(first.read_bytes())
    elif kind != "missing":
        path.write_bytes(_content(kind, whole))
    return path


def _content(kind: str, whole: bytes) -> bytes:
    weights = [raw_gguf.tensor("token_embd.weight", [8, 4])]
    kind_of = {"projector": "clip", "embedding": "bert"}
    if kind in kind_of:
        name = kind_of[kind]
        sizes = ("context_length", "embedding_length", "block_count", "attention.head_count", "feed_forward_length")
        pairs = [raw_gguf.pair(f"{name}.{size}", raw_gguf.U32, 4) for size in sizes]
        pairs.append(raw_gguf.pair("general.architecture", raw_gguf.STRING, name))
        return raw_gguf.gguf(pairs, weights, data=bytes(128))
    return {
        "empty": b"",
        "page": b"<!DOCTYPE html><html><head><title>Sign in</title></head></html>",
        "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 98362432\n",
        "truncated": whole[:-1000],
        "damaged": whole[:24] + b"\xff" * 16 + whole[40:],
        "future": whole.replace(b"llama", b"zzama"),
    }[kind]

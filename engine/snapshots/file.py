"""The snapshot file format: signed, checksummed, with every number bounds-checked on reading.

::

    magic | sizes | signature | JSON | tokens | states of the checkpoints | state
                              |  what is signed | what the JSON has the SHA-256 of |

The signature's key is stored in the folder, so that files from elsewhere are refused. Nothing is compressed: zlib
takes seconds to make 47 MB of f16 a thirteenth smaller, while writing or reading them takes a fraction of one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from engine.api.messages import SpanState
from engine.cache.checkpoints import Checkpoint
from engine.cache.memory import StateBytes
from engine.cache.sequence import TokenRun, TokenSequence
from engine.cache.snapshot import TOKEN_BYTES, Outline, Snapshot

MAGIC = b"KVASIR-2"
SLICE_BYTES = 4 << 20
"""Bytes written or read between two cancellation checks."""
JSON_BYTES_MAX = 4 << 20
TOKENS_MAX = 1 << 27
POSITION_MAX = 1 << 30
_PREFIX = struct.Struct("<8sII32s")
_NUMBERS = array("i")
assert _NUMBERS.itemsize == TOKEN_BYTES


class SnapshotUnusable(Exception):
    """The file is damaged, has a foreign signature, or reading it was cancelled."""


@dataclass(frozen=True)
class Head:
    """A snapshot file's header. ``body_digest``: SHA-256 of the states; ``sizes``: their bytes, the full state last."""

    chat_id: str
    binding: str
    outline: Outline
    checkpoints: tuple[Checkpoint, ...]
    sizes: tuple[int, ...]
    body_digest: str
    n_bytes: int
    """Of the whole file."""
    body_start: int


# Writing


def write(file: BinaryIO, chat_id: str, binding: str, snapshot: Snapshot, key: bytes) -> Iterator[None]:
    """Write in slices, with a ``yield`` after each."""
    digest = hashlib.sha256()
    parts = [*(checkpoint.state for checkpoint in snapshot.checkpoints), snapshot.state]
    for part in _slices(parts):
        digest.update(part)
        yield
    sequence = snapshot.outline.sequence
    content = {
        "chat_id": chat_id,
        "binding": binding,
        "runs": [[run.start, run.end, str(run.state), run.first_position] for run in sequence.runs],
        "window_start": snapshot.outline.window_start,
        "checkpoints": [[kept.index, kept.next_position, kept.removed] for kept in snapshot.checkpoints],
        "sizes": [len(part) for part in parts],
        "body_digest": digest.hexdigest(),
    }
    text = json.dumps(content).encode()
    signed = text + array("i", sequence.tokens()).tobytes()
    file.write(_PREFIX.pack(MAGIC, len(text), len(sequence), _signature(signed, key)))
    file.write(signed)
    for part in _slices(parts):
        file.write(part)
        yield


def _slices(parts: Sequence[StateBytes]) -> Iterator[memoryview]:
    for part in parts:
        view = memoryview(part)
        for start in range(0, len(view), SLICE_BYTES):
            yield view[start : start + SLICE_BYTES]


def _signature(signed: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(signed, key=key, digest_size=32).digest()


# Reading


def read_head(path: Path, key: bytes) -> Head:
    """The header, with signature and bounds verified; raises SnapshotUnusable."""
    try:
        n_bytes = path.stat().st_size
        with path.open("rb") as file:
            magic, n_text, n_tokens, signature = _PREFIX.unpack(file.read(_PREFIX.size))
            _require(magic == MAGIC and n_text <= JSON_BYTES_MAX and n_tokens <= TOKENS_MAX)
            n_signed = n_text + TOKEN_BYTES * n_tokens
            _require(_PREFIX.size + n_signed <= n_bytes)
            signed = file.read(n_signed)
        _require(hmac.compare_digest(signature, _signature(signed, key)))
        return _head(json.loads(signed[:n_text]), signed[n_text:], n_bytes, _PREFIX.size + n_signed)
    except (OSError, struct.error, ValueError, TypeError, KeyError, RecursionError) as error:
        raise SnapshotUnusable(repr(error)) from error


def _head(content: dict[str, Any], tokens: bytes, n_bytes: int, body_start: int) -> Head:
    sequence = _sequence(array("i", tokens).tolist(), content["runs"])
    sizes = tuple(_whole(size, n_bytes) for size in content["sizes"])
    checkpoints = tuple(_checkpoint(entry, len(sequence)) for entry in content["checkpoints"])
    indices = tuple(checkpoint.index for checkpoint in checkpoints)
    _require(len(sizes) == len(checkpoints) + 1 and body_start + sum(sizes) == n_bytes)
    _require(all(one < other for one, other in pairwise(indices)))
    _require(sequence.n_cached > 0)
    window_start = _whole(content["window_start"], sequence.next_position)
    return Head(
        chat_id=str(content["chat_id"]),
        binding=str(content["binding"]),
        outline=Outline(sequence, window_start, indices),
        checkpoints=checkpoints,
        sizes=sizes,
        body_digest=str(content["body_digest"]),
        n_bytes=n_bytes,
        body_start=body_start,
    )


def _sequence(tokens: list[int], runs: list[list[Any]]) -> TokenSequence:
    """The sequence; checks that its runs cover the tokens in order at rising positions."""
    _require(all(token >= 0 for token in tokens))
    sequence, next_position = TokenSequence(), 0
    for start, end, state, first_position in runs:
        run = TokenRun(_whole(start, len(tokens)), _whole(end, len(tokens)), SpanState(state))
        _require(run.start == len(sequence) and run.length > 0)
        if run.state is SpanState.CACHED:
            position = _whole(first_position, POSITION_MAX)
            _require(position >= next_position)
            next_position = position + run.length
            sequence.append_cached(tokens[run.start : run.end], position)
        elif run.state is SpanState.EVICTED:
            sequence.append_evicted(tokens[run.start : run.end])
        else:
            sequence.append_skipped(tokens[run.start : run.end])
    _require(len(sequence) == len(tokens))
    return sequence


def _checkpoint(entry: list[Any], n_tokens: int) -> Checkpoint:
    """A checkpoint without its state, which is read later."""
    index, next_position, removed = entry
    ranges = [(_whole(p0, POSITION_MAX), _whole(p1, POSITION_MAX)) for p0, p1 in removed]
    _require(all(p0 < p1 for p0, p1 in ranges))
    return Checkpoint(_whole(index, n_tokens), _whole(next_position, POSITION_MAX), b"", ranges)


def read_snapshot(path: Path, head: Head, is_unwanted: Callable[[], bool]) -> Snapshot:
    """The whole snapshot; raises SnapshotUnusable, also if ``is_unwanted`` returns True meanwhile."""
    digest, states = hashlib.sha256(), [bytearray(size) for size in head.sizes]
    try:
        with path.open("rb") as file:
            file.seek(head.body_start)
            for part in _slices(states):
                _require(not is_unwanted())
                _require(file.readinto(part) == len(part))
                digest.update(part)
    except OSError as error:
        raise SnapshotUnusable(repr(error)) from error
    _require(digest.hexdigest() == head.body_digest)
    checkpoints = tuple(
        Checkpoint(kept.index, kept.next_position, state, list(kept.removed))
        for kept, state in zip(head.checkpoints, states[:-1], strict=True)
    )
    return Snapshot(head.outline, checkpoints, states[-1])


def _whole(value: Any, most: int) -> int:
    _require(type(value) is int and 0 <= value <= most)
    return int(value)


def _require(is_right: bool) -> None:
    if not is_right:
        raise SnapshotUnusable("the file is not a snapshot of this folder, or it is damaged")

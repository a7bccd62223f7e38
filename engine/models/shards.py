"""Finds all files of a model that was split into shards, given any one of them."""

from __future__ import annotations

import re
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.models.header import GgufHeader, read_header

# `model-00002-of-00003.gguf`, the only naming that llama.cpp finds its shards by.
_SHARD_NAME = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf\Z", re.DOTALL)
_MAX_SHARDS = 1000


def read_shards(path: Path) -> tuple[tuple[Path, GgufHeader], ...]:
    """The headers of all the model's files in order, just the one when it isn't split.

    Raises the errors of `read_header`, and MODEL_SHARD_MISSING, which names the missing file.
    """
    header = read_header(path)
    count = header.metadata.get("split.count", 0)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= _MAX_SHARDS:
        raise _damaged(path, f"split.count is {count!r}")
    if count <= 1:
        return ((path, header),)
    match = _SHARD_NAME.match(path.name)
    if match is None or int(match["count"]) != count:
        raise EngineError(
            ErrorCode.MODEL_SHARD_MISSING,
            say(
                "“{0}” is one of {1} files of a model, but was renamed. Give it back its original name, which "
                "ends in “-0000N-of-{2}.gguf”.",
                path.name,
                count,
                f"{count:05d}",
            ),
            str(path),
        )
    names = [f"{match['stem']}-{number:05d}-of-{count:05d}.gguf" for number in range(1, count + 1)]
    paths = [path.with_name(name) for name in names]
    for shard in paths:
        if not shard.exists():
            raise EngineError(
                ErrorCode.MODEL_SHARD_MISSING,
                say(
                    "“{0}” is missing: the model is split into {1} files. Download it into the folder of the others.",
                    shard.name,
                    count,
                ),
                str(shard),
            )
    shards = tuple((shard, header if shard == path else read_header(shard)) for shard in paths)
    for number, (shard, one) in enumerate(shards):
        if one.metadata.get("split.count") != count or one.metadata.get("split.no") != number:
            raise _damaged(shard, f"it is not shard {number} of {count} by its own header")
    return shards


def _damaged(path: Path, detail: str) -> EngineError:
    return EngineError(
        ErrorCode.MODEL_DAMAGED,
        say("“{0}” does not fit the other files of its model. Download it again.", path.name),
        detail,
    )

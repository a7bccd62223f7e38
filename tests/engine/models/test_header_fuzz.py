"""Ten thousand damaged headers: each gives a typed error or a sound report, and none costs memory."""

from __future__ import annotations

import random
import struct
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.models.inspect import inspect_report, inspect_table

N_HEADERS = 10_000
N_MEASURED = 250
SEED = 20_240

SMALL = {"n_layer": 2, "head_size": 8, "n_head": 2, "n_head_kv": 1, "n_ctx_train": 64}
BASES = [
    {},
    {"arch": "gemma3"},
    {"arch": "lfm2", "n_head_kv": (0, 1)},
    {"arch": "mamba"},
    {"arch": "deepseek2"},
    {"arch": "deci", "n_head": (2, 2), "n_head_kv": (1, 0)},
    {"arch": "gpt2"},
    {"arch": "qwen2vl", "head_size": 16},
]
EXPECTED = {code for code in ErrorCode if code.startswith("model_")} | {"read"}
EDGES = (0, 1, 2, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, -1)


def damaged(content: bytes, header_bytes: int, rng: random.Random) -> bytes:
    """The file with one kind of damage in its header, or with its end cut off."""
    kind = rng.randrange(6)
    result = bytearray(content)
    at = rng.randrange(4, header_bytes)
    if kind == 0:
        for _ in range(rng.randint(1, 8)):
            result[rng.randrange(header_bytes)] = rng.randrange(256)
    elif kind == 1:
        width, form = rng.choice([(8, "<Q"), (4, "<I")])
        result[at : at + width] = struct.pack(form, rng.choice(EDGES) % 2 ** (8 * width))
    elif kind == 2:
        del result[rng.choice([at, rng.randrange(len(result))]) :]
    elif kind == 3:
        del result[at : at + rng.randint(1, 64)]
    elif kind == 4:
        result[at:at] = rng.randbytes(rng.randint(1, 64))
    else:
        other = rng.randrange(header_bytes)
        result[at : at + 64] = content[other : other + 64]
    return bytes(result)


def outcome(path: Path) -> str:
    """The code of a typed error, or "read" for a report that makes sense."""
    try:
        report = inspect_report(path)
    except EngineError as error:
        return error.code if error.message else "error without a sentence"
    assert inspect_table(report)
    assert all(cost is None or cost >= 0 for cost in report["kv_bytes"].values())
    assert report["recurrent_bytes"] >= 0
    return "read"


@pytest.fixture(scope="module")
def bases(tiny_model) -> list[tuple[bytes, int]]:
    """Each small model's bytes, and where its header ends."""
    contents = [tiny_model(**(SMALL | base)).read_bytes() for base in BASES]
    return [(content, content.rindex(b"blk.1.") + 64) for content in contents]


@pytest.fixture
def rewrite(tmp_path):
    """Gives one file new content in place: a fresh file each time would wait for the disk."""
    path = tmp_path / "damaged.gguf"
    with path.open("w+b", buffering=0) as file:

        def put(content: bytes) -> Path:
            file.seek(0)
            file.write(content)
            file.truncate()
            return path

        yield put


def test_ten_thousand_damaged_headers(bases, rewrite):
    rng = random.Random(SEED)
    outcomes: Counter[str] = Counter()
    for _ in range(N_HEADERS):
        outcomes[outcome(rewrite(damaged(*rng.choice(bases), rng)))] += 1
    assert outcomes.keys() <= EXPECTED
    # The damage is of every kind, or this test proves little.
    assert outcomes["read"] > N_HEADERS // 20
    assert outcomes[ErrorCode.MODEL_DAMAGED] > N_HEADERS // 20
    assert outcomes[ErrorCode.MODEL_TRUNCATED] > N_HEADERS // 20


def test_damage_costs_no_memory(bases, rewrite):
    rng = random.Random(SEED + 1)
    for _ in range(N_MEASURED):
        content = damaged(*rng.choice(bases), rng)
        path = rewrite(content)
        tracemalloc.start()
        outcome(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < len(content) + (64 << 20)

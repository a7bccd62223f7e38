"""The header reader: what it reads, what it refuses, and that no claim of a file is believed."""

from __future__ import annotations

import contextlib
import os
import random
import struct
import tracemalloc
from pathlib import Path

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.models import header
from engine.models.header import GgufArray, read_header
from tests.engine.models import raw_gguf as raw


@pytest.fixture
def write(tmp_path: Path):
    def write_file(content: bytes, name: str = "model.gguf") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write_file


def refusal(path: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        read_header(path)
    assert caught.value.message.strip(), "a person gets a sentence"
    assert path.name in caught.value.message
    return caught.value


class TestWhatIsRead:
    def test_values_of_every_kind(self, write):
        pairs = [
            raw.pair("a.text", raw.STRING, "häuser 房子"),
            raw.pair("a.count", raw.U32, 7),
            raw.pair("a.negative", raw.I32, -7),
            raw.pair("a.big", raw.U64, 2**63),
            raw.pair("a.number", raw.F32, 0.5),
            raw.pair("a.flag", raw.BOOL, True),
            raw.pair("a.layers", raw.ARRAY, raw.array(raw.U32, [1, 0, 2])),
            raw.pair("a.flags", raw.ARRAY, raw.array(raw.BOOL, [True, False])),
            raw.pair("a.words", raw.ARRAY, raw.array(raw.STRING, ["x", "", "yz"])),
            raw.pair("a.after", raw.U32, 9),
        ]
        metadata = read_header(write(raw.gguf(pairs))).metadata
        assert metadata == {
            "a.text": "häuser 房子",
            "a.count": 7,
            "a.negative": -7,
            "a.big": 2**63,
            "a.number": 0.5,
            "a.flag": True,
            "a.layers": GgufArray(3, (1, 0, 2)),
            "a.flags": GgufArray(2, (1, 0)),
            "a.words": GgufArray(3, None),
            "a.after": 9,
        }
        assert metadata["a.flag"] is True

    def test_tensors_and_where_their_data_is(self, write):
        tensors = [raw.tensor("a", (3, 5)), raw.tensor("b", (64,), kind=8, offset=64)]
        read = read_header(write(raw.gguf([raw.pair("k", raw.U32, 1)], tensors, data=bytes(64 + 68))))
        a, b = read.tensors
        assert (a.shape, a.type.name, a.n_elements, a.n_bytes) == ((3, 5), "f32", 15, 60)
        assert (b.type.name, b.offset, b.n_bytes) == ("q8_0", 64, 68)
        assert read.data_offset % 32 == 0
        assert read.data_offset + 64 + 68 == read.file_bytes

    def test_long_lists_are_counted_but_not_kept(self, write):
        words = [f"word {number}" for number in range(200_000)]
        pairs = [
            raw.pair("words", raw.ARRAY, raw.array(raw.STRING, words)),
            raw.pair("numbers", raw.ARRAY, raw.array(raw.F32, [0.0] * 100_000)),
            raw.pair("after", raw.STRING, "still in step"),
        ]
        metadata = read_header(write(raw.gguf(pairs))).metadata
        assert metadata["words"] == GgufArray(200_000, None)
        assert metadata["numbers"] == GgufArray(100_000, None)
        assert metadata["after"] == "still in step"

    @pytest.mark.parametrize("length", [header.CHUNK_BYTES - 40, header.CHUNK_BYTES, 3 * header.CHUNK_BYTES + 5])
    def test_a_string_longer_than_a_chunk_is_stepped_over(self, write, length):
        pairs = [
            raw.pair("words", raw.ARRAY, raw.array(raw.STRING, ["x" * length, "y"])),
            raw.pair("after", raw.U32, 5),
        ]
        assert read_header(write(raw.gguf(pairs))).metadata["after"] == 5

    def test_a_string_may_end_anywhere_near_a_chunks_end(self, write, monkeypatch):
        monkeypatch.setattr(header, "CHUNK_BYTES", 64)
        rng = random.Random(1)
        for longest in range(200):
            words = ["x" * rng.randint(0, longest) for _ in range(100)]
            pairs = [
                raw.pair("words", raw.ARRAY, raw.array(raw.STRING, words)),
                raw.pair("after", raw.U32, 5),
                raw.pair("numbers", raw.ARRAY, raw.array(raw.U8, [0] * (longest + 1025))),
                raw.pair("last", raw.U32, 6),
            ]
            metadata = read_header(write(raw.gguf(pairs))).metadata
            assert (metadata["after"], metadata["last"]) == (5, 6)

    @pytest.mark.parametrize("version", [2, 3])
    def test_both_current_versions(self, write, version):
        assert read_header(write(raw.gguf(version=version))).version == version


class TestOtherFiles:
    @pytest.mark.parametrize(
        ("content", "code", "word"),
        [
            (b"", ErrorCode.MODEL_EMPTY, "empty"),
            (b"GG", ErrorCode.MODEL_TRUNCATED, "incomplete"),
            (b"<!DOCTYPE html><html>Sign in</html>", ErrorCode.MODEL_NOT_GGUF, "web page"),
            (b"\n  <html><body>403", ErrorCode.MODEL_NOT_GGUF, "web page"),
            (b"version https://git-lfs.github.com/spec/v1\n", ErrorCode.MODEL_NOT_GGUF, "git-lfs"),
            (b'{"error": "gated"}', ErrorCode.MODEL_NOT_GGUF, "JSON"),
            (struct.pack("<Q", 64) + b'{"weight": {}}', ErrorCode.MODEL_NOT_GGUF, "safetensors"),
            (b"PK\x03\x04" + bytes(40), ErrorCode.MODEL_NOT_GGUF, "PyTorch"),
            (b"\x80\x02}q\x00", ErrorCode.MODEL_NOT_GGUF, "pickle"),
            (b"\x1f\x8b\x08" + bytes(40), ErrorCode.MODEL_NOT_GGUF, "archive"),
            (bytes(4096), ErrorCode.MODEL_NOT_GGUF, "unfinished download"),
            (b"just some words", ErrorCode.MODEL_NOT_GGUF, ".gguf"),
            (b"tjgg" + bytes(40), ErrorCode.MODEL_VERSION_UNSUPPORTED, "older than GGUF"),
        ],
    )
    def test_is_told_by_what_it_is(self, write, content, code, word):
        error = refusal(write(content))
        assert error.code is code
        assert word in error.message

    def test_a_missing_file(self, tmp_path):
        assert refusal(tmp_path / "gone.gguf").code is ErrorCode.MODEL_NOT_FOUND

    def test_a_file_below_a_file(self, write):
        assert refusal(write(b"x") / "model.gguf").code is ErrorCode.MODEL_NOT_FOUND

    def test_a_folder(self, tmp_path):
        assert refusal(tmp_path).code is ErrorCode.MODEL_IS_DIRECTORY

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
    def test_a_pipe_does_not_block(self, tmp_path):
        pipe = tmp_path / "pipe.gguf"
        os.mkfifo(pipe)
        assert refusal(pipe).code is ErrorCode.MODEL_UNREADABLE

    @pytest.mark.parametrize(
        ("version", "word"),
        [(1, "first GGUF format"), (4, "newer GGUF format"), (0x03000000, "big-endian")],
    )
    def test_other_versions(self, write, version, word):
        error = refusal(write(raw.gguf(version=version)))
        assert error.code is ErrorCode.MODEL_VERSION_UNSUPPORTED
        assert word in error.message

    def test_an_unknown_tensor_type(self, write):
        error = refusal(write(raw.gguf([], [raw.tensor("a", (32,), kind=99)], data=bytes(999))))
        assert error.code is ErrorCode.MODEL_VERSION_UNSUPPORTED


class TestDamage:
    @pytest.mark.parametrize(
        "content",
        [
            raw.gguf(version=0),
            raw.gguf(n_pairs=2**60),
            raw.gguf(n_tensors=2**60),
            raw.gguf([raw.pair("", raw.U32, 1)]),
            raw.gguf([raw.pair("k", raw.U32, 1)] * 2),
            raw.gguf([raw.pair("k" * 300, raw.U32, 1)]),
            raw.gguf([raw.pair(b"\xff\xfe", raw.U32, 1)]),
            raw.gguf([raw.pair("k", 77, b"1234")]),
            raw.gguf([raw.pair("k", raw.STRING, struct.pack("<Q", 2**62))]),
            raw.gguf([raw.pair("k", raw.ARRAY, raw.array(raw.STRING, [], count=2**62))]),
            raw.gguf([raw.pair("k", raw.ARRAY, raw.array(raw.ARRAY, [], count=1))]),
            raw.gguf([raw.pair("general.alignment", raw.U32, 0)]),
            raw.gguf([raw.pair("general.alignment", raw.U32, 48)]),
            raw.gguf([raw.pair("general.alignment", raw.U64, 2**63)]),
            raw.gguf([raw.pair("general.alignment", raw.BOOL, True)]),
            raw.gguf([], [raw.tensor("a", (1, 1, 1, 1, 1))]),
            raw.gguf([], [raw.tensor("a", (2**63, 2**63))]),
            raw.gguf([], [raw.tensor("a", (33,), kind=8)], data=bytes(99)),
            raw.gguf([], [raw.tensor("a", (8,), offset=32)], data=bytes(99)),
            raw.gguf([], [raw.tensor("a", (8,)), raw.tensor("a", (8,), offset=32)], data=bytes(99)),
            raw.gguf([], [raw.tensor("n" * 64, (8,))], data=bytes(99)),
        ],
        ids=lambda content: content[24:64].hex(),
    )
    def test_a_senseless_header_is_damaged(self, write, content):
        assert refusal(write(content)).code is ErrorCode.MODEL_DAMAGED

    @pytest.mark.parametrize(
        "content",
        [
            raw.gguf()[:-1],
            raw.gguf(n_pairs=1),
            raw.gguf([raw.pair("k", raw.STRING, struct.pack("<Q", 1000) + b"short")]),
            raw.gguf([raw.pair("k", raw.ARRAY, raw.array(raw.U64, [1, 2], count=3))]),
            raw.gguf([raw.pair("k", raw.ARRAY, raw.array(raw.U64, [], count=2**61))]),
            raw.gguf([raw.pair("k", raw.ARRAY, raw.array(raw.STRING, ["a"], count=2))]),
            raw.gguf([raw.pair("k", raw.ARRAY, raw.array(raw.STRING, []) + b"")], n_pairs=2),
        ],
        ids=lambda content: content[24:64].hex(),
    )
    def test_a_header_that_ends_too_early_is_truncated(self, write, content):
        assert refusal(write(content)).code is ErrorCode.MODEL_TRUNCATED

    def test_missing_weights_are_found_from_the_header(self, write):
        whole = raw.gguf([], [raw.tensor("a", (64, 4))], data=bytes(1024))
        read_header(write(whole))
        assert refusal(write(whole[:-1])).code is ErrorCode.MODEL_TRUNCATED

    def test_padding_after_the_last_tensor_may_be_missing(self, write):
        content = raw.gguf([], [raw.tensor("a", (3,))], data=bytes(12))
        assert read_header(write(content)).tensors[0].n_bytes == 12

    def test_memory_follows_the_file_and_not_its_claims(self, write):
        megabytes = 1 << 20
        hostile = [
            raw.gguf([raw.pair("k", raw.STRING, b"\xff" * 8)], n_pairs=header.MAX_PAIRS),
            raw.gguf([raw.pair("k", raw.STRING, raw.text(b"\xff" * (4 * megabytes - 1)))]),
            raw.gguf([raw.pair(f"k{n}", raw.STRING, raw.text(b"\xf0" * megabytes)) for n in range(8)]),
            raw.gguf([raw.pair(f"k{n}", raw.ARRAY, raw.array(raw.U8, [0] * 1024)) for n in range(70)]),
            raw.gguf([], [raw.tensor(f"t{n}", (0,)) for n in range(4_000)]),
            raw.gguf([raw.pair("k", raw.ARRAY, raw.array(raw.STRING, [""] * 100_000))]),
        ]
        for content in hostile:
            path = write(content)
            tracemalloc.start()
            with contextlib.suppress(EngineError):
                read_header(path)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < len(content) + 64 * megabytes

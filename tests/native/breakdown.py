"""llama.cpp's own count of what a context holds, to the byte: the oracle for planned and allocated memory.

`llama_get_memory_breakdown` is exported but returns a C++ map, whose nodes are walked here as libstdc++ lays them out;
so it serves tests on Linux only.
"""

from __future__ import annotations

import ctypes
import dataclasses
import sys
from collections.abc import Iterator

import llama_cpp.llama_cpp as llama
import pytest


@dataclasses.dataclass(frozen=True)
class BufferTypeBytes:
    """Bytes in buffers of one type."""

    weights: int
    context: int
    compute: int


class _Node(ctypes.Structure):
    _fields_ = (
        ("color", ctypes.c_int),
        ("parent", ctypes.c_void_p),
        ("left", ctypes.c_void_p),
        ("right", ctypes.c_void_p),
        ("buffer_type", ctypes.c_void_p),
        ("weights", ctypes.c_size_t),
        ("context", ctypes.c_size_t),
        ("compute", ctypes.c_size_t),
    )


class _Map(ctypes.Structure):
    _fields_ = (
        ("compare", ctypes.c_void_p),
        ("color", ctypes.c_int),
        ("root", ctypes.c_void_p),
        ("leftmost", ctypes.c_void_p),
        ("rightmost", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
    )


def memory_breakdown(context: int) -> dict[str, BufferTypeBytes]:
    """What a `llama_context` (its pointer) holds, by the name of the buffer type."""
    if sys.platform != "linux":
        pytest.skip("llama.cpp's memory breakdown is a C++ map, and only libstdc++'s layout is known here")
    result = _Map()
    # A class returned by value is built where the hidden first argument points. Its nodes leak, a few dozen bytes.
    function = llama._lib["_Z26llama_get_memory_breakdownPK13llama_context"]
    function.restype, function.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
    function(ctypes.byref(result), context)
    name_of = ctypes.CDLL(f"{llama._base_path}/libggml-base.so.0")["ggml_backend_buft_name"]
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
    return {
        name_of(node.buffer_type).decode(): BufferTypeBytes(node.weights, node.context, node.compute)
        for node in _nodes(result.root)
    }


def _nodes(address: int | None) -> Iterator[_Node]:
    if address:
        node = _Node.from_address(address)
        yield from _nodes(node.left)
        yield node
        yield from _nodes(node.right)

"""Contexts of tiny models: opened with one thread on the CPU, closed after each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.settings import LoadSettings
from engine.native.context import NativeContext
from engine.native.devices import Ggml
from engine.native.log import NativeLog
from engine.native.model import NativeModel
from tests.tiny import TinySpec, write_tiny_model

SMALL = LoadSettings(n_ctx=256, n_batch=64, n_ubatch=16, n_threads=1, n_gpu_layers=0)

ContextMaker = Callable[..., NativeContext]


@pytest.fixture(scope="module")
def native_log() -> Iterator[NativeLog]:
    """llama.cpp's log and its back ends, for the tests of a module."""
    log = NativeLog(write_to=None)
    Ggml().load_backends()
    yield log
    log.close()


@pytest.fixture
def new_context(native_log: NativeLog, tmp_path: Path) -> Iterator[ContextMaker]:
    """`new_context(spec, type_k=…)` opens a context of a tiny model; the fields are those of LoadSettings."""
    with ExitStack() as opened:
        models: dict[TinySpec, NativeModel] = {}

        def make(spec: TinySpec, **fields: object) -> NativeContext:
            settings = replace(SMALL, **fields)
            if spec not in models:
                path = write_tiny_model(tmp_path / f"{len(models)}.gguf", spec)
                models[spec] = opened.enter_context(closing(NativeModel(path, settings, native_log)))
            return opened.enter_context(closing(NativeContext(models[spec], settings, native_log)))

        yield make

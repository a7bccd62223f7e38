"""Prepares a process for importing llama.cpp."""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Iterator
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode
from engine.api.options import EngineOptions
from engine.api.sentences import say

LOG_BYTES_MAX = 4 << 20
"""A log larger than this is renamed when a process starts."""


def set_environment(options: EngineOptions) -> None:
    """Set the environment variables that llama.cpp and OpenMP read once, when they are loaded."""
    # Otherwise an abort starts a debugger to print a backtrace.
    os.environ["GGML_NO_BACKTRACE"] = "1"
    # Threads that spin while other programs need the cores are slower than one thread alone.
    os.environ.setdefault("GOMP_SPINCOUNT", str(options.gomp_spin_count))


def prepare_process(options: EngineOptions) -> None:
    """Set the environment and redirect native output, before llama.cpp is imported."""
    set_environment(options)
    with contextlib.suppress(OSError):
        log_path = Path(options.log_path)
        log_path.parent.mkdir(parents=True, exist_ok=True)
        if log_path.exists() and log_path.stat().st_size > LOG_BYTES_MAX:
            log_path.replace(log_path.with_suffix(".old.log"))
        descriptor = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        # Native code prints to both streams; a window has neither, and a command's own output must stay clean.
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        os.close(descriptor)


@contextlib.contextmanager
def loading_library() -> Iterator[None]:
    """Convert errors of the first llama.cpp import in the block to EngineError(ENGINE_START_FAILED)."""
    try:
        yield
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        message = say("llama.cpp can't be loaded: install Kvasir again.")
        raise EngineError(ErrorCode.ENGINE_START_FAILED, message, traceback.format_exc()) from error

"""What is said where llama.cpp can't be loaded."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say


@contextmanager
def loading_library() -> Iterator[None]:
    """Around whatever may be the first to import llama.cpp; raises EngineError(ENGINE_START_FAILED)."""
    try:
        yield
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        message = say("llama.cpp can't be loaded: install Kvasir again.")
        raise EngineError(ErrorCode.ENGINE_START_FAILED, message, traceback.format_exc()) from error

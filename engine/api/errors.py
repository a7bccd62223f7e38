"""The engine's typed errors: a code for programs, a sentence for the person, a detail for the log."""

from __future__ import annotations

import contextlib
import logging
import threading
import traceback
from collections.abc import Iterator
from enum import StrEnum

from engine.api.sentences import Said, Sentence, require_sentence, say

log = logging.getLogger("kvasir")


class ErrorCode(StrEnum):
    """What went wrong, decided where the error is raised; error texts are never parsed to find out."""

    # The file
    MODEL_NOT_FOUND = "model_not_found"
    MODEL_IS_DIRECTORY = "model_is_directory"
    MODEL_UNREADABLE = "model_unreadable"
    MODEL_EMPTY = "model_empty"
    MODEL_NOT_GGUF = "model_not_gguf"
    MODEL_TRUNCATED = "model_truncated"
    MODEL_DAMAGED = "model_damaged"
    MODEL_VERSION_UNSUPPORTED = "model_version_unsupported"
    MODEL_SHARD_MISSING = "model_shard_missing"
    MODEL_IS_PROJECTOR = "model_is_projector"
    MODEL_IS_EMBEDDING = "model_is_embedding"
    MODEL_IS_ADAPTER = "model_is_adapter"
    MODEL_ARCHITECTURE_UNKNOWN = "model_architecture_unknown"
    MODEL_LOAD_FAILED = "model_load_failed"
    STARTER_MISSING = "starter_missing"
    # Settings and memory
    SETTING_INVALID = "setting_invalid"
    CONTEXT_FAILED = "context_failed"
    OUT_OF_MEMORY = "out_of_memory"
    BACKEND_MISSING = "backend_missing"
    # A request
    NO_MODEL = "no_model"
    PROMPT_TOO_LONG = "prompt_too_long"
    TEMPLATE_FAILED = "template_failed"
    TEMPLATE_TIMEOUT = "template_timeout"
    DECODE_FAILED = "decode_failed"
    CACHE_INCONSISTENT = "cache_inconsistent"
    # Downloads
    HUB_UNREACHABLE = "hub_unreachable"
    HUB_NOT_FOUND = "hub_not_found"
    HUB_GATED = "hub_gated"
    HUB_TOKEN_REFUSED = "hub_token_refused"
    HUB_BUSY = "hub_busy"
    HUB_FAILED = "hub_failed"
    HUB_NAME_INVALID = "hub_name_invalid"
    DOWNLOAD_DAMAGED = "download_damaged"
    DISK_FULL = "disk_full"
    DISK_FAILED = "disk_failed"
    KEYRING_MISSING = "keyring_missing"
    # The process
    ENGINE_CRASHED = "engine_crashed"
    ENGINE_START_FAILED = "engine_start_failed"
    ENGINE_RESTARTS_EXHAUSTED = "engine_restarts_exhausted"
    INTERNAL = "internal"


class EngineError(Said, Exception):
    """An error for the person: ``sentence`` says what is wrong and what to do, ``detail`` is for the log."""

    def __init__(self, code: ErrorCode, sentence: Sentence, detail: str = "") -> None:
        require_sentence(sentence)
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.detail = detail

    def __reduce__(self) -> tuple[type[EngineError], tuple[ErrorCode, Sentence, str]]:
        return (type(self), (self.code, self.sentence, self.detail))


def internal_error(error: Exception) -> EngineError:
    """The EngineError for an unexpected exception, that is, a bug in Kvasir."""
    detail = "".join(traceback.format_exception(error))
    message = say("Something went wrong inside Kvasir. Your text is safe; try again.")
    return EngineError(ErrorCode.INTERNAL, message, detail)


@contextlib.contextmanager
def mistakes_as_errors() -> Iterator[None]:
    """Turn every exception of the block into an EngineError, for threads whose exceptions would go unnoticed.

    An unexpected exception (a bug in Kvasir) is also logged.
    """
    try:
        yield
    except EngineError:
        raise
    except Exception as error:
        log.exception("a mistake in %s", threading.current_thread().name)
        raise internal_error(error) from error

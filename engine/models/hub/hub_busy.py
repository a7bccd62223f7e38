"""The rate limit error of a hub."""

from __future__ import annotations

from typing import Any

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Sentence


class HubBusyError(EngineError):
    """HUB_BUSY; ``retry_after_s`` is the number of seconds to wait, None if the hub doesn't say."""

    def __init__(self, sentence: Sentence, detail: str, retry_after_s: int | None = None) -> None:
        super().__init__(ErrorCode.HUB_BUSY, sentence, detail)
        self.retry_after_s = retry_after_s

    def __reduce__(self) -> tuple[type[EngineError], tuple[Any, ...]]:
        return (type(self), (self.sentence, self.detail, self.retry_after_s))

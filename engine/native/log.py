"""Receives llama.cpp's log, which goes to standard error so that it survives a crash."""

from __future__ import annotations

import collections
import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import llama_cpp.llama_cpp as llama

TAIL_LINES = 400
LINE_BYTES = 2_000


class LogLevel(IntEnum):
    """ggml's levels (``ggml_log_level``)."""

    NONE = 0
    DEBUG = 1
    INFO = 2
    WARN = 3
    ERROR = 4
    CONT = 5


class NativeLog:
    """Receives llama.cpp's log for as long as it is alive; one per process, since llama.cpp has one callback.

    Lines of level INFO and above go to file descriptor 2; debug lines only to captures.
    """

    def __init__(self, *, write_to: int | None = 2) -> None:
        self._lines: collections.deque[str] = collections.deque(maxlen=TAIL_LINES)
        self._captures: list[list[str]] = []
        self._write_to = write_to
        self._level = LogLevel.INFO
        self._unfinished = ""
        # llama.cpp keeps the raw pointer: the callback must live as long as this object.
        self._callback = llama.llama_log_callback(self._on_line)
        llama.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _on_line(self, level: int, text: bytes, _user_data: object) -> None:
        self._level = self._level if level == LogLevel.CONT else LogLevel(level)
        self._unfinished += text[:LINE_BYTES].decode("utf-8", "replace")
        *whole, unfinished = self._unfinished.split("\n")
        self._unfinished = unfinished[:LINE_BYTES]
        for line in whole:
            for capture in self._captures:
                capture.append(line)
            if self._level > LogLevel.DEBUG:
                self._lines.append(line)
                if self._write_to is not None:
                    os.write(self._write_to, line.encode() + b"\n")

    def tail(self, n_lines: int = 40) -> str:
        """The last lines, oldest first."""
        return "\n".join(list(self._lines)[-n_lines:])

    @contextmanager
    def capture(self) -> Iterator[list[str]]:
        """Collect every line that is logged during the block, debug lines too."""
        lines: list[str] = []
        self._captures.append(lines)
        try:
            yield lines
        finally:
            self._captures.remove(lines)

    def close(self) -> None:
        """Restore llama.cpp's default log callback (standard error)."""
        llama.llama_log_set(llama.llama_log_callback(0), ctypes.c_void_p(0))

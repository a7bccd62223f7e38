"""A long build's progress, read from ninja's own lines."""

from __future__ import annotations

import re
import sys
import time
from typing import TextIO

STEP = re.compile(r"^\s*\[(\d+)/(\d+)\]")
TENTHS = 10


class BuildProgress:
    """Shows `[n/total]` lines: on a terminal as one line, written over; elsewhere as a line every tenth.

    A build has small builds inside it (the configuration's probes, the shader compiler): the largest total
    is the real one, and what it has reached never goes back.
    """

    def __init__(self, title: str, out: TextIO | None = None) -> None:
        self._title = title
        self._out = out or sys.stdout
        self._started = time.monotonic()
        self._n_done = 0
        self._n_total = 0
        self._tenths_shown = 0
        self._line_is_open = False

    def __enter__(self) -> BuildProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line_is_open:
            self._out.write("\n")
            self._out.flush()

    def read_line(self, line: str) -> None:
        """Take one line of the build's output; lines that are no steps change nothing."""
        step = STEP.match(line)
        if step is None:
            return
        n_done, n_total = int(step[1]), int(step[2])
        if n_total > self._n_total:
            self._n_done, self._n_total = n_done, n_total
        elif n_total == self._n_total and n_done > self._n_done:
            self._n_done = n_done
        else:
            return
        self._show()

    def _show(self) -> None:
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        text = f"{self._title}: {self._n_done} of {self._n_total} steps, {minutes}:{seconds:02d} min"
        if self._out.isatty():
            self._out.write(f"\r{text}\x1b[K")
            self._line_is_open = True
        else:
            tenths = self._n_done * TENTHS // self._n_total
            if tenths <= self._tenths_shown:
                return
            self._tenths_shown = tenths
            self._out.write(f"{text}\n")
        self._out.flush()

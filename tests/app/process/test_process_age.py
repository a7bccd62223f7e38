"""How long a process has been running, beside a clock of its parent's."""

from __future__ import annotations

import subprocess
import sys
import time

GRAIN_S = 0.02
"""Linux counts in hundredths of a second."""


def test_a_process_is_as_old_as_its_parent_saw_it_start() -> None:
    code = "import sys; from app.process.process_age import process_age_s; sys.stdin.read(1); print(process_age_s())"
    command = [sys.executable, "-c", code]
    began = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        started = time.monotonic()
        printed, _ = process.communicate("x")
    ended = time.monotonic()
    assert 0 < float(printed) <= ended - began + GRAIN_S
    assert float(printed) >= started - began - GRAIN_S

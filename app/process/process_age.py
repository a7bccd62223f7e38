"""How long this process has been running."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def process_age_s() -> float:
    """Seconds since the system started this process, to a hundredth; raises OSError where it doesn't say."""
    if sys.platform != "linux":
        import psutil

        return time.time() - psutil.Process().create_time()
    # Not psutil: it adds the time the machine was started at, which Linux tells in whole seconds.
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    # The program's name comes second, in brackets, and may hold anything (man 5 proc, starttime).
    fields = Path("/proc/self/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return now - int(fields[19]) / os.sysconf("SC_CLK_TCK")

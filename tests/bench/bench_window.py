"""How long a start, a load and an end of the window take: `python -m tests.bench.bench_window`.

Prints milliseconds from the start of the process to the first picture (to stay below 1,000), to the end of a run that
loads the model, draws it and quits, and how long closing took.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 3


def main() -> None:
    """Start the window a few times and print what it took."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    for run in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            picture = str(Path(folder) / "picture.png")
            command = [sys.executable, "-m", "app", "--data-dir", folder, "--screenshot", picture]
            started = time.monotonic()
            subprocess.run(command, env=environment, check=True)
            whole = (time.monotonic() - started) * 1000
            log = (Path(folder) / "logs" / "window.log").read_text("utf-8")
        shown = re.search(r"was there (\d+) ms", log)
        closed = re.search(r"closed in (\d+) ms", log)
        assert shown is not None
        assert closed is not None
        print(f"run {run + 1}: window {shown[1]} ms, whole run {whole:.0f} ms, closing {closed[1]} ms", flush=True)


if __name__ == "__main__":
    main()

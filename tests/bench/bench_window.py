"""How long a start, a load and an end of the window take: `python -m tests.bench.bench_window`.

Prints milliseconds from the start of the process to the first picture (to stay below 1,000), to the end of a run that
loads the model, draws it and quits, and how long closing took.
"""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 3
MILLISECOND = datetime.timedelta(milliseconds=1)


def main() -> None:
    """Start the window a few times and print what it took."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    for run in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            picture = str(Path(folder) / "picture.png")
            command = [sys.executable, "-m", "app", "--data-dir", folder, "--screenshot", picture]
            started = datetime.datetime.now()  # noqa: DTZ005 - the log's times are local
            subprocess.run(command, env=environment, check=True)
            whole = (datetime.datetime.now() - started) / MILLISECOND  # noqa: DTZ005
            log = (Path(folder) / "logs" / "window.log").read_text("utf-8")
        # By the log's own clock: when a process began is known to a second only, on some machines.
        shown = re.search(r"^(\S+ \S+) INFO kvasir: The window was there", log, re.MULTILINE)
        closed = re.search(r"closed in (\d+) ms", log)
        assert shown is not None
        assert closed is not None
        window = (datetime.datetime.strptime(shown[1], "%Y-%m-%d %H:%M:%S,%f") - started) / MILLISECOND  # noqa: DTZ007
        print(f"run {run + 1}: window {window:.0f} ms, whole run {whole:.0f} ms, closing {closed[1]} ms", flush=True)


if __name__ == "__main__":
    main()

"""Child processes that end with us, with their output in a log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


def run_to_log(
    command: Sequence[str],
    environ: Mapping[str, str],
    log: Path,
    on_line: Callable[[str], None] | None = None,
) -> int:
    """Run a command with its output in `log`, each line also given to `on_line`; its exit status.

    However this ends, by Ctrl+C or SIGTERM too, the command and all it started are ended first.
    """
    with log.open("w", encoding="utf-8", errors="replace") as file, _ended_with_us(command, environ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            file.write(line)
            if on_line is not None:
                on_line(line)
        return child.wait()


@contextmanager
def _ended_with_us(command: Sequence[str], environ: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        command,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        with child:
            try:
                yield child
            except BaseException:
                _end_group(child)
                raise
    finally:
        child.poll()


def _end_group(child: subprocess.Popen[str]) -> None:
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(child.pid)], capture_output=True, check=False)
    else:
        os.killpg(child.pid, signal.SIGKILL)

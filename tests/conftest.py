"""What holds for every test: no display, and no warning, log record or process that nobody asked for."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterator

import psutil
import pytest
from hypothesis import settings

os.environ["QT_QPA_PLATFORM"] = "offscreen"
# One native thread: other processes want the cores too, and spinning threads slow each other down tenfold.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("kvasir", database=None, deadline=None, derandomize=True)
settings.load_profile("kvasir")

SECONDS_TO_END = 2.0


class _Collected(logging.Handler):
    def __init__(self) -> None:
        super().__init__(level=logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def _no_unexpected_log(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that logs a warning or worse, unless its `expected_log` marker has a pattern for it."""
    expected = [mark.args[0] for mark in request.node.iter_markers("expected_log")]
    collected = _Collected()
    root = logging.getLogger()
    root.addHandler(collected)
    yield
    root.removeHandler(collected)
    unexpected = [line for line in collected.lines if not any(re.search(one, line) for one in expected)]
    assert not unexpected, f"unexpected log: {unexpected}"
    silent = [one for one in expected if not any(re.search(one, line) for line in collected.lines)]
    assert not silent, f"expected in the log, but not there: {silent}"


@pytest.fixture(autouse=True)
def _no_thread_left() -> Iterator[None]:
    """Fail a test that leaves a thread of its own running."""
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before]
    for thread in left:
        thread.join(SECONDS_TO_END)
    left = [thread for thread in left if thread.is_alive()]
    assert not left, f"threads left running: {left}"


@pytest.fixture(autouse=True, scope="session")
def _no_process_left() -> Iterator[None]:
    """Fail the run if a process that it started outlives its tests."""
    yield
    children = psutil.Process().children(recursive=True)
    _, alive = psutil.wait_procs(children, timeout=SECONDS_TO_END)
    # multiprocessing's resource tracker ends with the interpreter, by design.
    left = [command for child in alive if "resource_tracker" not in (command := _command_of(child))]
    assert not left, f"processes left running: {left}"


def _command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""

"""The end of the window's process, with and without a process that stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.process.leaving import leave

LEAVES = """
import multiprocessing, signal
from app.process.leaving import leave

def stay(ours, theirs):
    # As one that no kill reaches.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ours.close()
    theirs.send(None)
    signal.pause()

if __name__ == "__main__":
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=stay, args=(ours, theirs), daemon=True)
    child.start()
    ours.recv()
    print(child.pid, flush=True)
    print("last words")
    raise SystemExit(leave(3))
"""


def test_it_is_the_exit_code_where_everything_has_ended() -> None:
    assert leave(3) == 3


@pytest.mark.skipif(os.name != "posix", reason="the played process does not heed a signal")
def test_a_process_that_can_not_be_ended_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text(LEAVES)
    said = tmp_path / "said"
    # Not through a pipe: the process that stays would hold it open.
    with said.open("w") as output:
        program = subprocess.Popen(
            [sys.executable, str(tmp_path / "leaves.py")],
            stdout=output,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )
        try:
            assert program.wait(30) == 3
        finally:
            program.kill()
            program.wait()
            process_id, *others = said.read_text().splitlines()
            os.kill(int(process_id), signal.SIGKILL)
    assert others == ["last words"]

"""An engine that is killed while it writes snapshots: what it said is stored is there, and nothing is there by half."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.snapshots import file as snapshot_file
from engine.snapshots.folder import SnapshotFolder
from tests.engine.snapshots.snapshot_writer import BINDING, N_CHATS

ROOT = Path(__file__).resolve().parents[3]
N_KILLS = 60
"""For each budget."""
EARLY_LINES, MANY_LINES = 60, 1 << 40
ROOMY_KIB, TIGHT_KIB = 4096, 110


class Writer:
    """`snapshot_writer` at work on a folder."""

    def __init__(self, folder: Path, budget_kib: int) -> None:
        self._budget_kib = budget_kib
        self.n_runs = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.engine.snapshots.snapshot_writer", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def run(self, n_lines: int) -> tuple[list[tuple[str, int, int]], int, int | None]:
        """Write until killed before a line: what was said to be stored, the signal, the lines there were to the end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(self.n_runs, n_lines, self._budget_kib, file=self._process.stdin, flush=True)
        self.n_runs += 1
        stored, n_done = [], None
        for line in self._process.stdout:
            word, *rest = line.split()
            if word == "end":
                return stored, int(rest[0]) & 0x7F, n_done
            if word == "lines":
                n_done = int(rest[0])
            else:
                stored.append((rest[0], int(rest[1]), int(rest[2])))
        raise AssertionError("the writer ended")

    def close(self) -> None:
        self._process.communicate()


def whole_snapshots(folder: Path) -> Iterator[tuple[str, int, int]]:
    """What every snapshot says of itself, each read whole."""
    key = (folder / "key").read_bytes()
    for path in folder.glob("*.snapshot"):
        head = snapshot_file.read_head(path, key)
        state = bytes(snapshot_file.read_snapshot(path, head, lambda: False).state)
        chat_id, run, number = state.partition(b"\n")[0].decode().split()
        assert chat_id == head.chat_id
        yield chat_id, int(run), int(number)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.parametrize("budget_kib", [ROOMY_KIB, TIGHT_KIB])
def test_after_a_kill_at_any_line_all_that_was_stored_is_there_and_whole(tmp_path: Path, budget_kib: int) -> None:
    folder = tmp_path / "snapshots"
    with closing(Writer(folder, budget_kib)) as writer:
        stored = kill_again_and_again(writer, folder, budget_kib)
    assert len(stored) == N_CHATS


def kill_again_and_again(writer: Writer, folder: Path, budget_kib: int) -> dict[str, tuple[int, int]]:
    """Look at the folder after each kill; the newest version of each chat that was said to be stored."""
    chance = random.Random(budget_kib)
    newest: dict[str, tuple[int, int]] = {}
    n_kills, n_lines = 0, EARLY_LINES
    while n_kills < N_KILLS:
        # The first kills while the folder is made. Later now and then to the end, to see how far that is by now.
        stored, ended_by, n_done = writer.run(chance.randrange(1, n_lines) if writer.n_runs % 8 != 7 else MANY_LINES)
        if n_done is not None:
            n_lines = n_done
        else:
            assert ended_by == signal.SIGKILL
            n_kills += 1
        newest |= {chat_id: (run, number) for chat_id, run, number in stored}
        SnapshotFolder(folder)
        where = f"kill {n_kills} with {budget_kib} KiB"
        assert not list(folder.glob("*.part")), where
        if not newest:
            continue
        files = list(folder.glob("*.snapshot"))
        found = {chat_id: (run, number) for chat_id, run, number in sorted(whole_snapshots(folder))}
        assert len(SnapshotFolder(folder).stored(BINDING)) == len(files) > 0, where
        assert sum(file.stat().st_size for file in files) <= budget_kib << 10, where
        if budget_kib == ROOMY_KIB:
            assert all(found[chat_id] >= version for chat_id, version in newest.items()), where
    return newest

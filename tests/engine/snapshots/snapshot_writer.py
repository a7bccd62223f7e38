"""Writes snapshots in children that kill themselves at a given line of the code that writes; run as a program.

A line of its input is a run: its number, the line to be killed at, the budget in KiB. It says `stored CHAT RUN NUMBER`
of each snapshot that is on disk, `lines N` where it was not killed, and `end STATUS` with the child's wait status.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from engine.api.settings import TierSettings
from engine.cache.checkpoints import Checkpoint
from engine.cache.sequence import TokenSequence
from engine.cache.snapshot import Outline, Snapshot
from engine.snapshots import file as snapshot_file
from engine.snapshots import folder as snapshot_folder
from engine.snapshots import tiers
from engine.snapshots.folder import SnapshotFolder
from engine.snapshots.tiers import Tiers

BINDING = "b" * 32
N_CHATS, N_WRITTEN = 6, 5
STATE_BYTES = 30_000
WRITING = frozenset(str(module.__file__) for module in (snapshot_file, snapshot_folder, tiers))


def label(chat_id: str, run: int, number: int) -> str:
    """What a state says of itself."""
    return f"{chat_id} {run} {number}"


def snapshot(chat_id: str, run: int, number: int) -> Snapshot:
    """A chat that has gone on: each later one begins as the one before."""
    sequence = TokenSequence()
    sequence.append_cached([len(chat_id)] * (20 + 10 * run + number), 0)
    text = label(chat_id, run, number).encode() + b"\n"
    checkpoint = Checkpoint(10, 10, text)
    outline = Outline(sequence, 0, (checkpoint.index,))
    return Snapshot(outline, (checkpoint,), (text * STATE_BYTES)[:STATE_BYTES])


def tell(line: str) -> None:
    # One write: a kill never leaves half a line.
    os.write(1, f"{line}\n".encode())


def write(folder: Path, run: int, budget_kib: int) -> None:
    """What an engine does with the chats of a while."""
    tiers.GIB, snapshot_file.SLICE_BYTES = budget_kib << 10, STATE_BYTES // 5
    chance = random.Random(run)
    kept = Tiers(TierSettings(ram_mib=1, disk_gib=1), SnapshotFolder(folder), lambda: 1 << 40)
    kept.bind(BINDING)
    for number in range(N_WRITTEN):
        chat_id = f"chat-{chance.randrange(N_CHATS)}"
        one = snapshot(chat_id, run, number)
        kept.make_way(chat_id, one.outline.sequence, one.n_bytes)
        kept.keep(chat_id, one)
        for _pause in kept.write_behind():
            pass
        if kept.chats()[chat_id].is_stored:
            tell(f"stored {label(chat_id, run, number)}")


class KilledAt:
    """Counts the lines that are executed, and ends the process before the nth."""

    def __init__(self, n_lines: int) -> None:
        self._n_lines = n_lines
        self.n_done = 0

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename not in WRITING:
            return None
        if event == "line":
            self.n_done += 1
            if self.n_done == self._n_lines:
                os.kill(os.getpid(), signal.SIGKILL)
        return self


def main() -> None:
    folder = Path(sys.argv[1])
    for line in sys.stdin:
        run, n_lines, budget_kib = map(int, line.split())
        child = os.fork()
        if child == 0:
            count = KilledAt(n_lines)
            try:
                sys.settrace(count)
                write(folder, run, budget_kib)
                sys.settrace(None)
                tell(f"lines {count.n_done}")
            finally:
                os._exit(0)
        tell(f"end {os.waitpid(child, 0)[1]}")


if __name__ == "__main__":
    main()

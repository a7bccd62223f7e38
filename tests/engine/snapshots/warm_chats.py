"""A context that says what it was asked for, and chats that are put on disk with it."""

from __future__ import annotations

from pathlib import Path

from engine.cache.memory import MemoryKind, MemoryTraits, StateBytes
from engine.snapshots.folder import SnapshotFolder
from engine.snapshots.tiers import Tiers
from tests.engine.cache.chats import Chat, text
from tests.engine.cache.fake_memory import FakeMemory
from tests.engine.snapshots.tiers_contract import BUDGETS, WarmDesk, first_question, plenty

N_BIG = 700_000
"""Bytes of a state that is made larger than it is."""


class Recorder(FakeMemory):
    """Says which states it was given; its own may be padded to a size."""

    def __init__(self, n_padding: int = 0, kind: MemoryKind = MemoryKind.ATTENTION) -> None:
        can_shift = kind is MemoryKind.ATTENTION
        super().__init__(MemoryTraits(kind, 2048, 0, can_shift, n_positions=4096))
        self.n_restored = 0
        self.rooms: list[StateBytes | None] = []
        self.n_padding = n_padding

    @property
    def n_copied(self) -> int:
        return len(self.rooms)

    def snapshot(self, *, partial: bool = False, room: StateBytes | None = None) -> StateBytes:
        self.rooms.append(room)
        return bytes(super().snapshot(partial=partial)) + bytes(self.n_padding)

    def restore(self, state: StateBytes, *, partial: bool = False) -> bool:
        self.n_restored += 1
        return super().restore(state, partial=partial)


def stored_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.snapshot"))


def write_one(folder: Path, chat_id: str = "a", *, n_padding: int = 0, seed: int = 1) -> Chat:
    """Put a chat on disk, and ask its next question."""
    desk = WarmDesk(Recorder(n_padding), Tiers(BUDGETS, SnapshotFolder(folder), plenty))
    chat = first_question(seed)
    desk.ask(chat_id, chat)
    desk.write()
    return chat.say("user", text(99, 9))

"""The snapshot tiers of chats that are not in the context: RAM, backed by disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from engine.api.facts import ChatTier, Tier
from engine.api.settings import TierSettings
from engine.cache.memory import MemoryTraits
from engine.cache.sequence import TokenSequence
from engine.cache.snapshot import Outline, Snapshot
from engine.snapshots import file as snapshot_file
from engine.snapshots.file import SnapshotUnusable
from engine.snapshots.folder import SnapshotFolder, StoredSnapshot

TAIL_TOKENS = 256
"""A snapshot whose chat went on otherwise is kept beside the new one if it has this many tokens of its own."""
RESTORE_GAIN = 32
"""Fewer tokens than this are evaluated sooner than a snapshot is restored."""
RESTORE_SHARE = 16
"""No more than this many times the tokens that are wanted are restored and cut away again."""

MIB, GIB = 1 << 20, 1 << 30


@dataclass(eq=False)
class Kept:
    """A snapshot in RAM."""

    chat_id: str
    binding: str
    snapshot: Snapshot
    is_written: bool = False
    """Whether writing it to disk has been attempted."""
    is_stored: bool = False

    @property
    def outline(self) -> Outline:
        return self.snapshot.outline

    @property
    def n_bytes(self) -> int:
        return self.snapshot.n_bytes


@dataclass(frozen=True)
class FoundSnapshot:
    """A snapshot in RAM or on disk that a prompt could use."""

    chat_id: str
    where: Kept | StoredSnapshot


class Tiers:
    """Snapshots of chats within the budgets of ``settings``; in RAM only without a folder.

    Only snapshots with the current fingerprint (``binding``) can be found. RAM is evicted oldest first, also below the
    budget if ``spare_ram`` reports a shortage; disk is evicted least recently used first. A snapshot larger than
    the RAM budget stays in RAM only until it is on disk.
    """

    def __init__(
        self,
        settings: TierSettings,
        folder: SnapshotFolder | None,
        spare_ram: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._spare_ram = spare_ram
        self._binding = ""
        self._kept: list[Kept] = []
        self._stored: list[StoredSnapshot] = []

    @property
    def ram_budget_bytes(self) -> int:
        return self._settings.ram_mib * MIB

    @property
    def disk_budget_bytes(self) -> int:
        return self._settings.disk_gib * GIB if self._folder is not None and self._folder.is_usable else 0

    def set_budgets(self, settings: TierSettings) -> None:
        """Set new budgets, and delete the snapshots beyond them."""
        self._settings = settings
        self._make_room(0)
        if self._folder is not None:
            self._folder.make_room(self.disk_budget_bytes)
        self.bind(self._binding)

    def bind(self, binding: str) -> None:
        """Select the snapshots with this fingerprint; "" selects none."""
        self._binding = binding
        self._stored = self._folder.stored(binding) if self._folder is not None and binding else []

    # Keeping

    def can_keep(self, n_bytes: int) -> bool:
        """Whether a snapshot of ``n_bytes`` fits a budget, in RAM or on disk, and the copy fits into free memory."""
        is_within = n_bytes <= max(self.ram_budget_bytes, self.disk_budget_bytes)
        return is_within and n_bytes <= self._spare_ram() + _n_bytes(self._kept)

    def make_way(self, chat_id: str, sequence: TokenSequence, n_bytes: int) -> list[Kept]:
        """Remove from RAM what a new snapshot of this chat and size replaces or displaces; returns the removed ones.

        Called before the copy is made, so that its memory can be reused.
        """
        before = self._kept
        self._kept = [
            kept
            for kept in before
            if kept.chat_id != chat_id
            or kept.binding != self._binding
            or kept.outline.n_beyond(sequence) >= TAIL_TOKENS
        ]
        self._make_room(n_bytes, _n_bytes(before) - _n_bytes(self._kept))
        return [kept for kept in before if kept not in self._kept]

    def keep(self, chat_id: str, snapshot: Snapshot) -> Kept:
        """Add a snapshot to RAM, after ``make_way`` has made room for it."""
        kept = Kept(chat_id, self._binding, snapshot)
        self._kept.append(kept)
        self._make_room(0)
        return kept

    def holds(self, where: Kept | StoredSnapshot) -> bool:
        """Whether a snapshot is still there, in RAM or on disk."""
        if isinstance(where, Kept):
            return where in self._kept or where.is_stored
        return any(stored.path == where.path for stored in self._stored)

    def relieve(self) -> None:
        """Free RAM if this machine is short of it."""
        self._make_room(0)

    @property
    def is_in_ram(self) -> bool:
        """Whether anything is kept in RAM."""
        return bool(self._kept)

    def _make_room(self, n_new: int, n_given_up: int = 0) -> None:
        """Evict from RAM until ``n_new`` more bytes fit the budget and this machine's spare memory.

        ``n_given_up``: bytes removed just before, which the system does not report as free yet.
        """
        budget, waiting = self.ram_budget_bytes, self._waiting_for_disk(n_new)
        before = self._kept
        self._kept = [kept for kept in before if kept.n_bytes <= budget or kept is waiting]
        n_given_up += _n_bytes(before) - _n_bytes(self._kept)
        n_over = sum(size for size in (n_new, *(kept.n_bytes for kept in self._kept)) if size <= budget) - budget
        n_short = n_new - n_given_up - self._spare_ram() if self._kept else 0
        # Evict those that are also on disk first, then the oldest: the newest is the most likely to be needed.
        for kept in sorted(self._kept, key=lambda kept: not kept.is_stored):
            if n_short > 0 or (n_over > 0 and kept is not waiting):
                self._kept.remove(kept)
                n_over -= kept.n_bytes
                n_short -= kept.n_bytes

    def _waiting_for_disk(self, n_new: int) -> Kept | None:
        """The one snapshot that may exceed the RAM budget until it is written to disk: the latest one."""
        large = [kept for kept in self._kept if kept.n_bytes > self.ram_budget_bytes]
        if not large or n_new > self.ram_budget_bytes:
            return None
        latest = large[-1]
        return latest if latest.n_bytes <= self.disk_budget_bytes and not latest.is_written else None

    def write_behind(self) -> Iterator[None]:
        """Write snapshots that are only in RAM to disk, newest first; may be abandoned at any ``yield``."""
        if self._folder is None or not self.disk_budget_bytes:
            return
        for kept in reversed(self._kept.copy()):
            if kept.is_written or kept not in self._kept:
                continue
            stored = yield from self._folder.write(kept.chat_id, kept.binding, kept.snapshot, self.disk_budget_bytes)
            # Also after a failure: on a full disk every retry would fail, too.
            kept.is_written, kept.is_stored = True, stored is not None
            if stored is not None and kept.binding == self._binding:
                self._note_stored(stored)
        self._make_room(0)

    def _note_stored(self, stored: StoredSnapshot) -> None:
        assert self._folder is not None
        others = []
        for other in self._stored:
            if other.path == stored.path or not other.path.exists():
                continue
            sequence = stored.head.outline.sequence
            if other.head.chat_id == stored.head.chat_id and other.head.outline.n_beyond(sequence) < TAIL_TOKENS:
                self._folder.delete(other.path)
            else:
                others.append(other)
        self._stored = [stored, *others]

    # Finding

    def find(self, tokens: Sequence[int], traits: MemoryTraits, n_here: int) -> FoundSnapshot | None:
        """The snapshot with the most cells usable for a prompt, if well above ``n_here``; RAM before disk."""
        best, n_best = None, n_here + RESTORE_GAIN - 1
        for found, outline in self._candidates():
            n_usable = outline.n_usable(tokens, traits)
            if n_usable > n_best and (n_usable - n_here) * RESTORE_SHARE >= outline.sequence.n_cached:
                best, n_best = found, n_usable
        return best

    def _candidates(self) -> Iterator[tuple[FoundSnapshot, Outline]]:
        for kept in reversed(self._kept):
            if kept.binding == self._binding:
                yield FoundSnapshot(kept.chat_id, kept), kept.outline
        for stored in self._stored:
            yield FoundSnapshot(stored.head.chat_id, stored), stored.head.outline

    def read(self, found: FoundSnapshot, is_unwanted: Callable[[], bool]) -> Snapshot | None:
        """Read a snapshot; None if there is no memory for it, or if its file is damaged, which is then deleted."""
        if isinstance(found.where, Kept):
            return found.where.snapshot
        assert self._folder is not None
        try:
            snapshot = snapshot_file.read_snapshot(found.where.path, found.where.head, is_unwanted)
        except SnapshotUnusable:
            if not is_unwanted():
                self.drop(found)
            return None
        except MemoryError:
            return None
        self._folder.touch(found.where.path)
        return snapshot

    # Forgetting

    def drop(self, found: FoundSnapshot) -> None:
        """Delete one snapshot."""
        where = found.where
        if isinstance(where, Kept):
            self._kept = [kept for kept in self._kept if kept is not where]
            return
        assert self._folder is not None
        self._folder.delete(where.path)
        self._stored = [stored for stored in self._stored if stored.path != where.path]

    def forget(self, chat_id: str) -> None:
        """Delete every snapshot of a chat, whatever its fingerprint."""
        self._kept = [kept for kept in self._kept if kept.chat_id != chat_id]
        self._stored = [stored for stored in self._stored if stored.head.chat_id != chat_id]
        if self._folder is not None:
            self._folder.delete_chat(chat_id)

    def forget_others(self, chat_ids: Collection[str]) -> None:
        """Delete the snapshots of every chat but these, whatever their fingerprint."""
        known = frozenset(chat_ids)
        self._kept = [kept for kept in self._kept if kept.chat_id in known]
        self._stored = [stored for stored in self._stored if stored.head.chat_id in known]
        if self._folder is not None:
            self._folder.delete_others(known)

    def forget_all(self) -> None:
        """Delete every snapshot."""
        self._kept, self._stored = [], []
        if self._folder is not None:
            self._folder.delete_all()

    # Reporting

    def chats(self) -> dict[str, ChatTier]:
        """The tier of each chat with this fingerprint, and its bytes there: RAM if it is in both."""
        found: dict[str, ChatTier] = {}
        for stored in self._stored:
            head = stored.head
            _add(found, ChatTier(head.chat_id, Tier.DISK, head.n_bytes, head.outline.sequence.n_cached, True))
        for kept in self._kept:
            if kept.binding == self._binding:
                n_bytes, n_cached = kept.snapshot.n_bytes, kept.outline.sequence.n_cached
                _add(found, ChatTier(kept.chat_id, Tier.RAM, n_bytes, n_cached, kept.is_stored))
        return found


def _n_bytes(snapshots: Sequence[Kept]) -> int:
    return sum(kept.n_bytes for kept in snapshots)


def _add(found: dict[str, ChatTier], one: ChatTier) -> None:
    """Merge a snapshot into its chat's entry: bytes add up within a tier, tokens are those of the longest one."""
    other = found.get(one.chat_id)
    if other is not None and other.tier is one.tier:
        n_bytes, n_tokens = one.n_bytes + other.n_bytes, max(one.n_tokens, other.n_tokens)
        one = ChatTier(one.chat_id, one.tier, n_bytes, n_tokens, one.is_stored and other.is_stored)
    found[one.chat_id] = one

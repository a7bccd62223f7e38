"""The chat that occupies the context, restored from the snapshot tiers or saved to them before it is replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.api.chat import Prompt
from engine.api.errors import EngineError
from engine.api.facts import ChatTier, Tier
from engine.api.settings import PolicySettings
from engine.cache.manager import CacheManager
from engine.cache.memory import MemoryTraits
from engine.snapshots.folder import StoredSnapshot
from engine.snapshots.tiers import TAIL_TOKENS, FoundSnapshot, Kept, Tiers


class ActiveChat:
    """The chat whose tokens the context holds, and whether the tiers have a current snapshot of it.

    ``count_bytes(n_used)``: bytes of K and V in ``n_used`` cells.
    """

    def __init__(
        self, manager: CacheManager, traits: MemoryTraits, tiers: Tiers, count_bytes: Callable[[int], int]
    ) -> None:
        self._manager = manager
        self._traits = traits
        self._tiers = tiers
        self._count_bytes = count_bytes
        # Whether the cache has changed since the last attempt to save it, and the saved copy.
        self._is_changed = False
        self._copy: Kept | StoredSnapshot | None = None
        self.chat_id = ""

    @property
    def _is_saved(self) -> bool:
        return not self._is_changed and (self._copy is None or self._tiers.holds(self._copy))

    def make_ready(self, chat_id: str, tokens: Sequence[int], is_unwanted: Callable[[], bool]) -> bool:
        """Restore the best snapshot for a prompt, if it covers more of the prompt than the context does.

        State in the context that would be lost is saved first. A failure only means that more is evaluated. Returns
        whether the context's content was replaced.
        """
        sequence = self._manager.sequence
        found = self._tiers.find(tokens, self._traits, self._manager.n_usable(tokens))
        n_lost = len(sequence) - sequence.common_prefix(tokens)
        if found is not None or (chat_id != self.chat_id and n_lost) or n_lost >= TAIL_TOKENS:
            self.save(needed=found)
        if found is None:
            return False
        snapshot = self._tiers.read(found, is_unwanted)
        if snapshot is None:
            return False
        self._is_changed = False
        if self._manager.restore(snapshot):
            self.chat_id, self._copy = found.chat_id, found.where
        else:
            self.chat_id, self._copy = "", None
            self._tiers.drop(found)
        return True

    def open(self, chat_id: str, prompt: Prompt, policy: PolicySettings, is_unwanted: Callable[[], bool]) -> bool:
        """Restore a chat into the context without evaluating anything; whether the content was replaced.

        Raises EngineError(SETTING_INVALID).
        """
        # The next message will extend the prompt by unknown tokens: -1 stands for the first of them.
        if not self.make_ready(chat_id, (*prompt.tokens, -1), is_unwanted):
            return False
        self._manager.settle(prompt, policy)
        if chat_id != self.chat_id:
            self.take(chat_id)
        return True

    def take(self, chat_id: str) -> None:
        """Assign the context to a chat."""
        self.chat_id = chat_id
        self._is_changed = True

    def save(self, needed: FoundSnapshot | None = None) -> None:
        """Save a snapshot in the tiers, unless they have it already or have no room for it.

        ``needed``: a snapshot that is about to be restored.
        """
        if self._is_saved:
            return
        # Set before the attempt, so that a failing one is not repeated.
        self._is_changed, self._copy = False, None
        sequence = self._manager.sequence
        n_bytes = self._count_bytes(sequence.n_cached)
        if not self._tiers.can_keep(n_bytes):
            return
        given_up = self._tiers.make_way(self.chat_id, sequence, n_bytes)
        rooms = [kept.snapshot.state for kept in given_up if needed is None or kept is not needed.where]
        try:
            snapshot = self._manager.snapshot(max(rooms, key=len, default=None))
        except (EngineError, MemoryError):
            return
        if snapshot is not None:
            self._copy = self._tiers.keep(self.chat_id, snapshot)

    def write_behind(self) -> Iterator[None]:
        """Write everything to disk in the background, in steps; may be abandoned at any ``yield``."""
        if self._tiers.disk_budget_bytes:
            # Snapshots queued for the disk come first: the new copy may replace one of them.
            yield from self._tiers.write_behind()
            if self._is_changed:
                self.save()
            yield
            yield from self._tiers.write_behind()

    def forget(self) -> None:
        """Free the cells and forget the chat."""
        self._manager.forget()
        self.chat_id, self._is_changed, self._copy = "", False, None

    def chat_tiers(self) -> tuple[ChatTier, ...]:
        """Every chat with cached state and its tier, the active one first."""
        chats = self._tiers.chats()
        n_cached = self._manager.sequence.n_cached
        if not n_cached or not self.chat_id:
            return tuple(chats.values())
        kept = chats.pop(self.chat_id, None)
        is_stored = not self._is_changed and kept is not None and kept.is_stored
        active = ChatTier(self.chat_id, Tier.ACTIVE, self._count_bytes(n_cached), n_cached, is_stored)
        return (active, *chats.values())

"""The chat that owns the context: opened from the tiers, and handed to them before it makes way."""

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
    """Which chat's tokens the context holds, and whether the tiers have them too.

    ``count_bytes(n_used)``: bytes of K and V behind so many cells.
    """

    def __init__(
        self, manager: CacheManager, traits: MemoryTraits, tiers: Tiers, count_bytes: Callable[[int], int]
    ) -> None:
        self._manager = manager
        self._traits = traits
        self._tiers = tiers
        self._count_bytes = count_bytes
        # What was done since the last try to keep it, and where that is.
        self._is_changed = False
        self._copy: Kept | StoredSnapshot | None = None
        self.chat_id = ""

    @property
    def _is_saved(self) -> bool:
        return not self._is_changed and (self._copy is None or self._tiers.holds(self._copy))

    def make_ready(self, chat_id: str, tokens: Sequence[int], is_unwanted: Callable[[], bool]) -> bool:
        """Bring into the context what is already known of a prompt, if a snapshot has more of it than the context.

        What is in the context and would be lost is kept first. Whatever fails on the way only means that more is
        evaluated. Tells whether the context is another one now.
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
        """Bring a chat into the context as far as it is kept, and evaluate nothing; whether the context is another one.

        Raises EngineError(SETTING_INVALID).
        """
        # The next message makes the prompt longer, by what is not known yet: a token that there is not.
        if not self.make_ready(chat_id, (*prompt.tokens, -1), is_unwanted):
            return False
        self._manager.settle(prompt, policy)
        if chat_id != self.chat_id:
            self.take(chat_id)
        return True

    def take(self, chat_id: str) -> None:
        """The context works for this chat from now on."""
        self.chat_id = chat_id
        self._is_changed = True

    def save(self, needed: FoundSnapshot | None = None) -> None:
        """Hand a copy to the tiers, unless they have it or have no place for it.

        ``needed``: a snapshot that is about to be restored.
        """
        if self._is_saved:
            return
        # Also where it fails: it would fail again.
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
        """Have everything on disk, in steps that may end at any pause."""
        if self._tiers.disk_budget_bytes:
            # What waits for the disk first: the copy that comes now may take its place.
            yield from self._tiers.write_behind()
            if self._is_changed:
                self.save()
            yield
            yield from self._tiers.write_behind()

    def forget(self) -> None:
        """Free the cells; nothing of the chat is left here."""
        self._manager.forget()
        self.chat_id, self._is_changed, self._copy = "", False, None

    def chat_tiers(self) -> tuple[ChatTier, ...]:
        """Every warm chat and where it is, the active one first."""
        chats = self._tiers.chats()
        n_cached = self._manager.sequence.n_cached
        if not n_cached or not self.chat_id:
            return tuple(chats.values())
        kept = chats.pop(self.chat_id, None)
        is_stored = not self._is_changed and kept is not None and kept.is_stored
        active = ChatTier(self.chat_id, Tier.ACTIVE, self._count_bytes(n_cached), n_cached, is_stored)
        return (active, *chats.values())

"""A person with a few chats, at random: asks, edits, stops, opens, and starts the program again."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode
from engine.api.settings import Align, Policy, PolicySettings, TierSettings
from engine.cache.manager import AppendResult, CacheManager
from engine.cache.memory import CacheMemory
from engine.cache.usage import CacheCounts
from engine.cache.window import allowed_policies
from engine.snapshots.active_chat import ActiveChat
from engine.snapshots.folder import SnapshotFolder
from engine.snapshots.tiers import Tiers
from tests.engine.cache.chats import FIRST_TEXT, N_TEXT, Chat
from tests.engine.cache.lab import After

CHAT_IDS = ("a", "b", "c")
REFUSALS = (ErrorCode.PROMPT_TOO_LONG, ErrorCode.SETTING_INVALID)
LONG_CHAT = 900
"""Tokens after which a chat begins anew."""
LONG_ANSWER = 150
BUDGETS = TierSettings(ram_mib=64, disk_gib=1)


class WarmWalk:
    """``step`` does one thing; ``check(memory, manager)`` is called after it, with whether the last token that was
    decoded is the sequence's last one, so that its logits are those of all of it."""

    def __init__(
        self,
        new_memory: Callable[[], CacheMemory],
        folder: Path,
        check: Callable[[CacheMemory, CacheManager, bool], None],
        *,
        seed: int,
        stops: int = 6,
    ) -> None:
        """``stops``: after how many questions, at most, an interrupt says yes."""
        self._new_memory = new_memory
        self._folder = folder
        self._check = check
        self._chance = random.Random(seed)
        self._stops = stops
        self._chats = {chat_id: Chat() for chat_id in CHAT_IDS}
        self._policy = PolicySettings()
        self.n_restored = self.n_reused = self.n_evicted = self.n_renumbered = 0
        self.last = ""
        self._start()

    def _start(self) -> None:
        self.memory = self._new_memory()
        self.manager = CacheManager(self.memory)
        tiers = Tiers(BUDGETS, SnapshotFolder(self._folder), lambda: 1 << 40)
        tiers.bind("b" * 32)
        self._active = ActiveChat(self.manager, self.memory.traits, tiers, lambda n_used: n_used)
        self._tiers = tiers

    def step(self) -> None:
        """One thing that a person does."""
        chance = self._chance
        chat_id = chance.choice(CHAT_IDS)
        chat = self._chats[chat_id]
        if sum(len(words) for _role, words in chat.messages) > LONG_CHAT:
            self._chats[chat_id] = chat = Chat()
        actions = {
            self._ask: 8,
            self._edit: 4,
            self._answer_again: 3,
            self._go_on: 2,
            self._open: 3,
            self._write: 2,
            self._restart: 1,
            self._change_policy: 1,
            self._forget: 0.3,
        }
        (action,) = chance.choices(list(actions), list(actions.values()))
        self.last = f"{action.__name__} {chat_id}"
        is_whole = action(chat_id, chat) is True
        self.n_evicted += self.manager.counts.n_evicted
        self.n_renumbered += self.manager.counts.n_renumbered
        self.manager.counts = CacheCounts()
        self._check(self.memory, self.manager, is_whole)

    def _words(self, least: int, most: int) -> tuple[int, ...]:
        chance = self._chance
        return tuple(chance.randrange(FIRST_TEXT, FIRST_TEXT + N_TEXT) for _ in range(chance.randint(least, most)))

    # What is done

    def _ask(self, chat_id: str, chat: Chat) -> bool:
        if not chat.messages and self._chance.random() < 0.4:
            chat.say("system", self._words(1, 30))
        if chat.messages and chat.messages[-1][0] == "user":
            chat.messages.pop()
        chat.say("user", self._words(1, 50))
        return self._request(chat_id, chat)

    def _edit(self, chat_id: str, chat: Chat) -> bool:
        questions = [index for index, (role, _words) in enumerate(chat.messages) if role == "user"]
        if not questions:
            return self._ask(chat_id, chat)
        index = self._chance.choice(questions)
        words = chat.messages[index][1]
        kept = words[: self._chance.randint(0, len(words))]
        chat.messages[index:] = [("user", (*kept, *self._words(1, 30)))]
        return self._request(chat_id, chat)

    def _answer_again(self, chat_id: str, chat: Chat) -> bool:
        if chat.messages and chat.messages[-1][0] == "assistant":
            chat.messages.pop()
        return bool(chat.messages) and chat.messages[-1][0] == "user" and self._request(chat_id, chat)

    def _go_on(self, chat_id: str, chat: Chat) -> bool:
        if not chat.messages or chat.messages[-1][0] != "assistant" or not chat.messages[-1][1]:
            return False
        return self._request(chat_id, chat, continue_last=True)

    def _open(self, chat_id: str, chat: Chat) -> None:
        """Open it, now and then after its last words were lost."""
        if not chat.messages:
            return
        role, words = chat.messages[-1]
        if len(words) > 1 and self._chance.random() < 0.5:
            chat.messages[-1] = (role, words[: -self._chance.randint(1, min(3, len(words) - 1))])
        prompt = chat.prompt(continue_last=chat.messages[-1][0] == "assistant")
        try:
            self.n_restored += self._active.open(chat_id, prompt, self._policy, lambda: False)
        except EngineError as error:
            if error.code not in REFUSALS:
                raise

    def _write(self, _chat_id: str, _chat: Chat) -> None:
        for _pause in self._active.write_behind():
            pass

    def _restart(self, chat_id: str, chat: Chat) -> None:
        if self._chance.random() < 0.8:
            self._write(chat_id, chat)
        self._start()

    def _change_policy(self, _chat_id: str, _chat: Chat) -> None:
        chance, n_cells = self._chance, self.memory.traits.n_cells
        policy = chance.choice([None, *allowed_policies(self.memory.traits.kind)])
        if policy is Policy.STOP:
            self._policy = PolicySettings(policy=policy)
            return
        n_window = chance.choice([None, n_cells // 2, n_cells // 3])
        self._policy = PolicySettings(
            policy=policy,
            n_sink=chance.choice([0, 4, 9]),
            n_window=n_window,
            n_evict=chance.choice([None, 8, 30]),
            align=chance.choice(list(Align)),
        )

    def _forget(self, chat_id: str, _chat: Chat) -> None:
        self._chats[chat_id] = Chat()
        if self._active.chat_id == chat_id:
            self._active.forget()
        self._tiers.forget(chat_id)

    def _request(self, chat_id: str, chat: Chat, *, continue_last: bool = False) -> bool:
        """Whether all of it was evaluated to its last token."""
        manager, chance = self.manager, self._chance
        prompt = chat.prompt(continue_last=continue_last)
        self.n_restored += self._active.make_ready(chat_id, prompt.tokens, lambda: False)
        try:
            self.n_reused += manager.begin(prompt, self._policy).n_reused
        except EngineError as error:
            if error.code not in REFUSALS:
                raise
            self._chats[chat_id] = Chat()
            return False
        self._active.take(chat_id)
        for _n_done in manager.feed(self._stop()):
            self._check(self.memory, manager, False)
        if not manager.is_fed and chance.random() < 0.5:
            list(manager.feed())
        if not manager.is_fed:
            return False
        assert manager.sequence.tokens() == list(prompt.tokens)
        return self._answer(chat, continue_last=continue_last)

    def _answer(self, chat: Chat, *, continue_last: bool) -> bool:
        answer, stop, result = [], self._stop(), AppendResult.CACHED
        is_long = self._chance.random() < 0.15
        for token in self._words(0, LONG_ANSWER if is_long else 12):
            result = self.manager.append(token, stop)
            if result is not AppendResult.CACHED:
                break
            answer.append(token)
        before = chat.messages.pop()[1] if continue_last else ()
        chat.say("assistant", (*before, *answer))
        return result is not AppendResult.INTERRUPTED

    def _stop(self) -> After | None:
        return After(self._chance.randint(0, self._stops)) if self._chance.random() < 0.15 else None

"""Chats as tokens, without text: what the cache manager is fed in tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.api.chat import Prompt, PromptTurn, Role
from engine.api.settings import PolicySettings
from engine.cache.manager import AppendResult, CacheManager, Feed

OPEN, CLOSE = 259, 260
"""Tokens that open and close a turn: the ChatML controls of the tiny models."""
ROLE_TOKENS: dict[Role, int] = {"system": 4, "user": 5, "assistant": 6}
FIRST_TEXT, N_TEXT = 10, 240


def text(seed: int, n_tokens: int) -> tuple[int, ...]:
    """Tokens that are the same for the same seed and differ from their neighbours."""
    return tuple(FIRST_TEXT + (seed * 7919 + i * (31 + seed % 50 * 2)) % N_TEXT for i in range(n_tokens))


@dataclass
class Chat:
    """Messages as token ids; `prompt` lays them out as a template would."""

    messages: list[tuple[Role, tuple[int, ...]]] = field(default_factory=list)

    def say(self, role: Role, tokens: Sequence[int]) -> Chat:
        self.messages.append((role, tuple(tokens)))
        return self

    def prompt(self, *, continue_last: bool = False) -> Prompt:
        tokens: list[int] = []
        turns: list[PromptTurn] = []
        for index, (role, words) in enumerate(self.messages):
            start = len(tokens)
            tokens += [OPEN, ROLE_TOKENS[role], *words]
            if not (continue_last and index == len(self.messages) - 1):
                tokens.append(CLOSE)
            turns.append(PromptTurn(start, len(tokens), role, index))
        if not continue_last:
            turns.append(PromptTurn(len(tokens), len(tokens) + 2, "assistant", None))
            tokens += [OPEN, ROLE_TOKENS["assistant"]]
        return Prompt(tuple(tokens), tuple(turns))


def feed(manager: CacheManager, prompt: Prompt, policy: PolicySettings) -> Feed:
    """Begin and feed all of it."""
    planned = manager.begin(prompt, policy)
    for _n_done in manager.feed():
        pass
    assert manager.is_fed
    return planned


def answer(manager: CacheManager, tokens: Sequence[int]) -> list[AppendResult]:
    """Append tokens as if they had been sampled."""
    return [manager.append(token) for token in tokens]


def long_chat(n_pairs: int, *, n_user: int = 7, n_answer: int = 9, system: int = 0) -> Chat:
    """`n_pairs` questions and answers, behind a system prompt of `system` tokens if there is one."""
    chat = Chat()
    if system:
        chat.say("system", text(1000, system))
    for pair in range(n_pairs):
        chat.say("user", text(2 * pair, n_user)).say("assistant", text(2 * pair + 1, n_answer))
    return chat

"""Two windows write into one chat in any order: each word that nobody deleted is kept once, and both end up equal."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from app.chats.conversation import Conversation
from app.store.records import Changes, Chat, TurnState
from app.store.store import ChatStore
from engine.api.messages import Finished, FinishReason, TextGenerated, TextKind
from tests.app.fake_engine import stats
from tests.app.store.chats import turn

CHAT = Chat("a", "T")
AHEAD = 2**52
WINDOW = st.sampled_from([0, 1])


class TwoWriters(RuleBasedStateMachine):
    """Two conversations, each with a connection of its own; ``said`` are all words and the turns they stand in."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "chats.db"
        self.stores = ChatStore(path), ChatStore(path)
        first = turn(AHEAD, "said where the clock was ahead ")
        self.stores[0].save(CHAT, Changes((first,)))
        self.windows = Conversation("a", (first,)), Conversation("a", (first,))
        self.numbers = itertools.count(1)
        self.said: dict[int, list[str]] = {}
        self.deleted: set[int] = set()

    @rule(window=WINDOW)
    def ask(self, window: int) -> None:
        chat = self.windows[window]
        if chat.request_id is None:
            word = f"word{next(self.numbers)} "
            self.said[chat.add_user(word).id] = [word]
            self.said[chat.begin_answer(next(self.numbers)).id] = []

    @rule(window=WINDOW)
    def answer_again(self, window: int) -> None:
        chat = self.windows[window]
        if chat.request_id is None and len(chat.turns) > 1:
            if chat.last.message.role == "assistant":
                chat.branch_at(chat.last.id)
            self.said[chat.begin_answer(next(self.numbers)).id] = []

    @rule(window=WINDOW)
    def go_on(self, window: int) -> None:
        chat = self.windows[window]
        if chat.can_continue() and chat.last.id not in self.deleted:
            chat.begin_continuation(next(self.numbers))

    @rule(window=WINDOW)
    def stream(self, window: int) -> None:
        chat = self.windows[window]
        if chat.request_id is not None:
            word = f"word{next(self.numbers)} "
            turn_id = chat.receive(TextGenerated(chat.request_id, TextKind.ANSWER, word))
            self.said[turn_id].append(word)

    @rule(window=WINDOW, is_good=st.booleans())
    def end(self, window: int, is_good: bool) -> None:
        chat = self.windows[window]
        if chat.request_id is not None and is_good:
            chat.finish(Finished(chat.request_id, FinishReason.END_OF_TURN, stats(), "", "", ()))
        elif chat.request_id is not None:
            chat.fail(chat.request_id)

    @rule(window=WINDOW, place=st.integers(0, 5))
    def delete(self, window: int, place: int) -> None:
        chat = self.windows[window]
        if chat.request_id is None and place < len(chat.turns):
            self.deleted |= {turn.id for turn in chat.delete(chat.turns[place].id)}

    @rule(window=WINDOW, place=st.integers(0, 5), step=st.sampled_from([-1, 1]))
    def page(self, window: int, place: int, step: int) -> None:
        chat = self.windows[window]
        if chat.request_id is None and place < len(chat.turns):
            chat.show_version(chat.turns[place].id, step)

    @rule(window=WINDOW)
    def save(self, window: int) -> None:
        changes = self.windows[window].take_changes()
        if changes:
            self.stores[window].save(CHAT, changes, CHAT)

    @rule(window=WINDOW)
    def look(self, window: int) -> None:
        chat = self.windows[window]
        whole = self.stores[window].load("a", is_live=True)
        if whole is not None and chat.can_take_in():
            chat.take_in(turn for turn in whole.turns if not (turn.state is TurnState.STREAMING and turn.is_empty))

    def teardown(self) -> None:
        for window in (0, 1):
            self.end(window, is_good=True)
            self.save(window)
        for window in (0, 1):
            self.look(window)
        whole = self.stores[0].load("a")
        kept = {turn.id: turn.message.text.split() for turn in whole.turns} if whole is not None else {}
        for turn_id, words in self.said.items():
            if turn_id not in self.deleted:
                assert kept.get(turn_id, []) == [word.strip() for word in words]
        assert self.windows[0].kept_turns() == self.windows[1].kept_turns()
        for store in self.stores:
            store.close()
        self.folder.cleanup()


TestTwoWriters = TwoWriters.TestCase
TestTwoWriters.settings = settings(max_examples=250, stateful_step_count=40, deadline=None)

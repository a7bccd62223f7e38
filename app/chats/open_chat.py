"""A chat that is at work: its turns, and what holds for it as a whole."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from app.chats.conversation import Conversation
from app.store.records import Chat, ChatSettings, Turn, TurnState, WholeChat, now
from app.store.titles import title_of


@dataclass
class OpenChat:
    """``kept_head`` is the head as it was last written; None for a chat that is in no file yet."""

    head: Chat
    conversation: Conversation
    kept_head: Chat | None = None

    @property
    def is_worth_keeping(self) -> bool:
        """Whether there is anything that a person would miss."""
        return bool(self.conversation.kept_turns()) or bool(self.head.draft.strip()) or self.kept_head is not None

    def touch(self) -> None:
        """Mark the chat as changed now."""
        moment = now()
        created = self.head.created if self.kept_head is not None else moment
        self.head = replace(self.head, created=created, changed=moment)

    def set_draft(self, draft: str) -> None:
        """What stands in the composer."""
        self.head = replace(self.head, draft=draft)

    def present_head(self) -> Chat:
        """The head with a title: that which a person gave or which was made from the first message, which stays even
        where that message is changed later; before there is one, a title made from the draft."""
        if not self.head.title:
            first = next((turn for turn in self.conversation.turns if turn.message.role == "user"), None)
            if first is None:
                return replace(self.head, title=title_of(self.head.draft))
            self.head = replace(self.head, title=title_of(first.own_text.strip() or first.message.text))
        return self.head

    def whole(self) -> WholeChat:
        """The chat as it can be opened anew; an answer that was never finished has failed."""
        turns = (
            replace(turn, state=TurnState.FAILED) if turn.state is TurnState.STREAMING else turn
            for turn in self.conversation.kept_turns()
        )
        return WholeChat(self.present_head(), tuple(turns))

    def copy_until(self, turn_id: int) -> WholeChat:
        """A new chat with the open version up to a turn."""
        turns: list[Turn] = []
        for turn in self.conversation.turns:
            turns.append(replace(turn, parent=turns[-1].id if turns else None, is_chosen=True))
            if turn.id == turn_id:
                break
        head = replace(self.present_head(), id=new_id(), is_pinned=False, created=now(), changed=now(), draft="")
        return WholeChat(head, tuple(turns))


def new_chat(settings: ChatSettings, model: str) -> OpenChat:
    """An empty chat."""
    chat_id = new_id()
    return OpenChat(Chat(chat_id, settings=settings), Conversation(chat_id, model=model))


def kept_chat(whole: WholeChat, model: str) -> OpenChat:
    """A chat out of the store."""
    head = whole.chat if whole.turns or whole.chat.is_named else replace(whole.chat, title="")
    return OpenChat(head, Conversation(whole.chat.id, whole.turns, model), whole.chat)


def new_id() -> str:
    """An id that no other chat has."""
    return uuid.uuid4().hex

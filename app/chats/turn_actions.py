"""What the buttons under a turn do."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.chats.chat_session import ChatSession
from app.chats.conversation import plain_text
from app.chats.turn_display import TurnDisplay
from app.composer.composer import Composer
from app.store.records import Turn
from app.transcript.transcript import Transcript
from app.transcript.turns import Action, ShownState, ShownTurn


class TurnActions(QObject):
    """``deleted`` carries (chat id, the turns that were deleted), to be restored; ``copied`` a WholeChat that begins as
    the open one does."""

    deleted = Signal(str, object)
    copied = Signal(object)

    def __init__(self, chat: ChatSession, transcript: Transcript, composer: Composer) -> None:
        super().__init__(chat)
        self._chat = chat
        self.transcript = transcript
        self._display = TurnDisplay(self)
        composer.edit_last_requested.connect(self.edit_last)
        transcript.set_actions(self._actions_of)
        transcript.action_requested.connect(self._on_action)
        transcript.language_changed.connect(self._say_again)

    def _say_again(self) -> None:
        """Retranslate what is shown about the turns."""
        chat = self._chat
        self.transcript.set_words(self._display.words(chat.conversation.shown_turns(), chat.settings.sampling))

    def edit_last(self) -> None:
        """Put the person's last message into the composer; sent again, it becomes another version."""
        turn = self._chat.conversation.last_of_user
        if turn is not None:
            self._chat.edit(turn.id)

    def copy_last(self) -> None:
        """Copy the last answer as Markdown."""
        answers = [turn for turn in self._chat.conversation.turns if turn.message.role == "assistant"]
        if answers:
            QGuiApplication.clipboard().setText(answers[-1].message.text)

    def copy_chat(self) -> None:
        """Copy all messages as Markdown."""
        names = {"user": self.tr("You"), "assistant": self.tr("Assistant"), "system": self.tr("System prompt")}
        QGuiApplication.clipboard().setText(plain_text(self._chat.conversation.turns, names))

    def delete(self, turn_id: int) -> None:
        """Take a message and what follows it out of the chat."""
        conversation = self._chat.conversation
        if conversation.request_id is None and (removed := conversation.delete(turn_id)):
            self._chat.show_again()
            self.deleted.emit(conversation.chat_id, removed)

    def restore(self, chat_id: str, removed: Sequence[Turn]) -> None:
        """Undo a deletion, if that chat is still open."""
        conversation = self._chat.conversation
        if conversation.chat_id == chat_id and conversation.request_id is None:
            conversation.restore(removed)
            self._chat.show_again()

    def _show_version(self, turn_id: int, step: int) -> None:
        conversation = self._chat.conversation
        if conversation.request_id is None and (shown := conversation.show_version(turn_id, step)) is not None:
            self._chat.show_again(shown)

    def _actions_of(self, turn: ShownTurn, is_last: bool) -> tuple[Action, ...]:
        if turn.state is ShownState.STREAMING:
            return ()
        if turn.role == "user":
            again = (Action.REGENERATE,) if is_last else ()
            return (Action.COPY, Action.EDIT, *again, Action.BRANCH, Action.DELETE)
        goes_on = (Action.CONTINUE,) if is_last else ()
        return (Action.COPY, Action.REGENERATE, *goes_on, Action.BRANCH, Action.DELETE)

    def _on_action(self, turn_text: str, action: Action) -> None:
        turn_id = int(turn_text)
        if action is Action.REGENERATE:
            self._chat.regenerate(turn_id)
        elif action is Action.CONTINUE:
            self._chat.continue_answer()
        elif action is Action.EDIT:
            self._chat.edit(turn_id)
        elif action is Action.DELETE:
            self.delete(turn_id)
        elif action is Action.BRANCH:
            self.copied.emit(self._chat.open_chat.copy_until(turn_id))
        elif action in (Action.PREVIOUS, Action.NEXT):
            self._show_version(turn_id, -1 if action is Action.PREVIOUS else 1)

"""A message that was sent before and is in the composer again, and the draft that waits meanwhile."""

from __future__ import annotations

from app.composer.composer import Composer
from app.store.records import Attachment, Turn
from engine.api.messages import Message


class Editing:
    """``turn_id`` is the turn being edited, or None."""

    def __init__(self, composer: Composer) -> None:
        self._composer = composer
        self._draft: tuple[str, tuple[Attachment, ...]] = ("", ())
        self.turn_id: int | None = None

    def begin(self, turn: Turn) -> None:
        """Put a turn into the composer."""
        self._draft = (self._composer.text(), self._composer.attachments)
        self.turn_id = turn.id
        self._fill(turn.own_text, turn.attachments)
        self._composer.focus()

    def before(self, messages: tuple[Message, ...], ids: tuple[int | None, ...]) -> tuple[Message, ...]:
        """The messages that stay before the one that is edited, given whose each is; all where none is edited."""
        return messages[: ids.index(self.turn_id)] if self.turn_id is not None and self.turn_id in ids else messages

    def end(self, *, restore: bool) -> None:
        """Leave the turn; with ``restore`` the draft comes back."""
        text, attachments = self._draft if restore else ("", ())
        self.turn_id, self._draft = None, ("", ())
        self._fill(text, attachments)

    def give_back(self, turn: Turn) -> None:
        """Put a turn that could not be sent before what was typed since."""
        since = self._composer.text()
        attachments = (*turn.attachments, *self._composer.attachments)
        self._fill(f"{turn.own_text}\n\n{since}" if since else turn.own_text, attachments)

    def _fill(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        self._composer.set_attachments(attachments)
        self._composer.set_text(text)

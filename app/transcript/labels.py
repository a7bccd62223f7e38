"""The words of the transcript, painted or spoken, in the language in force."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication

from app.look.links import Link
from app.look.plain_tip import plain_tip
from app.transcript.turn_view import Hotspot, Spot
from app.transcript.turns import Action


@dataclass
class Labels:
    """Filled by `retranslate`; painters hold on to the one object."""

    you: str = ""
    assistant: str = ""
    system: str = ""
    copy: str = ""
    copied: str = ""
    code: str = ""
    thinking: str = ""
    thoughts: str = ""
    gone: str = ""
    partly_gone: str = ""
    link: str = ""
    copy_code: str = ""
    reasoning: str = ""
    actions: dict[Action, str] = field(default_factory=dict)

    def retranslate(self) -> None:
        """Take all words from the language in force."""
        translate = QCoreApplication.translate
        self.you = translate("Transcript", "You")
        self.assistant = translate("Transcript", "Assistant")
        self.system = translate("Transcript", "System prompt")
        self.copy = translate("Transcript", "Copy")
        self.copied = translate("Transcript", "Copied")
        self.code = translate("Transcript", "Code")
        self.thinking = translate("Transcript", "Thinking…")
        self.thoughts = translate("Transcript", "Thoughts")
        self.gone = translate("Transcript", "The model no longer sees this")
        self.partly_gone = translate("Transcript", "The model no longer sees all of this")
        self.link = translate("Transcript", "Link to {address}")
        self.copy_code = translate("Transcript", "Copy this code")
        self.reasoning = translate("Transcript", "Show or hide the model's thoughts")
        self.actions = {
            Action.COPY: translate("Transcript", "Copy this message as Markdown"),
            Action.EDIT: translate(
                "Transcript",
                "Edit this message; as it is now it stays, and only what follows the change is read again",
            ),
            Action.REGENERATE: translate(
                "Transcript", "Answer again; this answer is kept, and only what follows is computed"
            ),
            Action.CONTINUE: translate("Transcript", "Continue this answer where it ended"),
            Action.BRANCH: translate("Transcript", "Start a new chat from here"),
            Action.DELETE: translate("Transcript", "Delete this message and what follows it; it can be undone"),
            Action.PREVIOUS: translate("Transcript", "Show the version before"),
            Action.NEXT: translate("Transcript", "Show the version after"),
        }

    def what_it_does(self, hotspot: Hotspot) -> str:
        """What pressing a place does."""
        if hotspot.spot is Spot.LINK:
            link = Link(hotspot.href)
            words = self.link.format(address=link.target or link.address)
            return plain_tip(f"{words}\n{link.address}" if link.target else words)
        if hotspot.spot is Spot.COPY_CODE:
            return self.copy_code
        if hotspot.spot is Spot.REASONING:
            return self.reasoning
        return self.actions[hotspot.action] if hotspot.action is not None else ""

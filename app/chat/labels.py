"""The words that are painted in the transcript."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Labels:
    """The words that are painted, in the language in force."""

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

"""Makes text encodable as UTF-8, for input from files, the person, templates and other programs."""

from __future__ import annotations


def valid_text(text: str) -> str:
    """The text with surrogate pairs joined to their character, and U+FFFD for each lone surrogate, as in a file name
    that is not UTF-8; any other text is returned unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text

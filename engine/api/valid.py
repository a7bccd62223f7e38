"""Text as UTF-8 can hold it: used wherever text comes in from a file, a person, a template or another program."""

from __future__ import annotations


def valid_text(text: str) -> str:
    """The text with two halves of a surrogate pair that stand side by side as their character, and U+FFFD for a half
    that stands alone, as of a file name that is not UTF-8; any other text is returned as it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text

"""Where a link of a message leads, as Qt will open it."""

from __future__ import annotations

from PySide6.QtCore import QUrl

from app.look.foreign_text import elided, visible

_ENCODED = QUrl.ComponentFormattingOption.FullyEncoded
_ACE = "xn--"
LONGEST_ADDRESS = 72
"""Characters that fit beside the buttons of a notice, which does not break within an address."""


class Link:
    """``url`` is what is opened and ``address`` how that is shown; both come from the one reading by QUrl."""

    def __init__(self, address: str) -> None:
        self.url = QUrl(address)
        self.address = elided(visible(self._encoded() or address, kept=""), LONGEST_ADDRESS)

    @property
    def target(self) -> str:
        """The host alone, or who a mail goes to: as letters, and as it is looked up where that differs; or nothing."""
        if self.url.scheme() == "mailto":
            return elided(visible(self.url.path(QUrl.ComponentFormattingOption.FullyDecoded), kept=""))
        host = self.url.host(_ENCODED)
        letters = visible(".".join(map(_letters, host.split("."))), kept="")
        return elided(host) if letters == host else f"{elided(letters)} ({elided(host)})"

    @property
    def can_open(self) -> bool:
        """Whether it is a page or a mail, and Qt can tell where it leads."""
        is_known = self.url.scheme() in ("http", "https", "mailto")
        return is_known and self.url.isValid() and bool(self.target)

    def _encoded(self) -> str:
        return bytes(self.url.toEncoded().data()).decode("ascii", "replace")


def _letters(label: str) -> str:
    """A part of a host as it is meant to be read."""
    if not label.lower().startswith(_ACE):
        return label
    try:
        return label[len(_ACE) :].encode("ascii").decode("punycode")
    except UnicodeError:
        return label

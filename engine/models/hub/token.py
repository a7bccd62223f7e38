"""The access token of a hub, stored only in the system's keyring."""

from __future__ import annotations

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say

SERVICE = "kvasir"
MAX_TOKEN = 1000


def checked_token(text: str | None) -> str | None:
    """The token in the input, None if empty; raises EngineError(HUB_TOKEN_REFUSED) for an invalid one."""
    token = (text or "").strip()
    if not token.isascii() or not token.isprintable() or " " in token or len(token) > MAX_TOKEN:
        raise EngineError(
            ErrorCode.HUB_TOKEN_REFUSED,
            say(
                "This is no access token: one is a single word of letters, digits and signs. Copy it again, all of it."
            ),
            f"{len(token)} characters",
        )
    return token or None


class TokenKeeper:
    """Reads and writes the token of one hub; without a keyring a token lasts until the program ends."""

    def __init__(self, host: str) -> None:
        self._host = host

    def load(self) -> str | None:
        """The token; None without a valid one or without a keyring."""
        import keyring

        try:
            return checked_token(keyring.get_password(SERVICE, self._host))
        except EngineError:
            return None
        except Exception:  # noqa: BLE001 - a keyring back end is a third-party plugin and may raise anything
            return None

    def save(self, token: str | None) -> None:
        """Store a token, or delete it for None or an empty one; raises EngineError(KEYRING_MISSING)."""
        import keyring

        token = (token or "").strip()
        try:
            if token:
                keyring.set_password(SERVICE, self._host, token)
            elif keyring.get_password(SERVICE, self._host) is not None:
                keyring.delete_password(SERVICE, self._host)
        except Exception as error:  # noqa: BLE001 - as above
            raise EngineError(
                ErrorCode.KEYRING_MISSING,
                say(
                    "This system has no keyring that Kvasir can use: the token is used until Kvasir is closed, and "
                    "is not kept."
                ),
                type(error).__name__,
            ) from None

"""The access token for a hub: it lives in the system's keyring, never in a file or a log."""

from __future__ import annotations

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say

SERVICE = "kvasir"
MAX_TOKEN = 1000


def checked_token(text: str | None) -> str | None:
    """The token in what was typed, None for nothing; raises EngineError(HUB_TOKEN_REFUSED) for what can't be one."""
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
        """The token; None where there is none that can be one, or no keyring."""
        import keyring

        try:
            return checked_token(keyring.get_password(SERVICE, self._host))
        except EngineError:
            return None
        except Exception:  # noqa: BLE001 - a keyring's back end is anybody's plugin, and raises what it likes
            return None

    def save(self, token: str | None) -> None:
        """Keep a token, or forget it for None or an empty one; raises EngineError(KEYRING_MISSING)."""
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

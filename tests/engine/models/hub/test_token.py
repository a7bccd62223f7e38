"""The token's promise: in the system's keyring or nowhere."""

from __future__ import annotations

from collections.abc import Iterator

import keyring
import keyring.backend
import keyring.errors
import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.models.hub.token import TokenKeeper, checked_token

SECRET = "hf_very_secret"


class FakeKeyring(keyring.backend.KeyringBackend):
    """A keyring in memory; a locked one refuses everything."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.refusal: Exception | None = None
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        self._require_open()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._require_open()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._require_open()
        del self.kept[service, username]

    def _require_open(self) -> None:
        if self.refusal is not None:
            raise self.refusal


@pytest.fixture
def ring() -> Iterator[FakeKeyring]:
    before = keyring.get_keyring()
    ring = FakeKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_a_token_is_kept_for_its_host(ring: FakeKeyring) -> None:
    keeper = TokenKeeper("huggingface.co")
    assert keeper.load() is None
    keeper.save(f" {SECRET}\n")
    assert keeper.load() == SECRET
    assert TokenKeeper("mirror.example").load() is None


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_a_token_is_forgotten(ring: FakeKeyring, nothing: str | None) -> None:
    keeper = TokenKeeper("huggingface.co")
    keeper.save(SECRET)
    keeper.save(nothing)
    keeper.save(nothing)
    assert keeper.load() is None
    assert ring.kept == {}


@pytest.mark.parametrize("refusal", [keyring.errors.KeyringLocked("locked"), ZeroDivisionError(SECRET)], ids=repr)
def test_without_a_keyring_the_person_is_told(ring: FakeKeyring, refusal: Exception) -> None:
    ring.refusal = refusal
    keeper = TokenKeeper("huggingface.co")
    assert keeper.load() is None
    with pytest.raises(EngineError) as raised:
        keeper.save(SECRET)
    assert raised.value.code is ErrorCode.KEYRING_MISSING
    assert SECRET not in raised.value.message + raised.value.detail


@pytest.mark.parametrize("text", ["hf_two words", "hf_line\nbreak", "hf_größe", "hf_\0", "x" * 2000])
def test_what_is_no_token_is_not_taken(ring: FakeKeyring, text: str) -> None:
    with pytest.raises(EngineError) as raised:
        checked_token(text)
    assert raised.value.code is ErrorCode.HUB_TOKEN_REFUSED
    assert text not in raised.value.message + raised.value.detail
    TokenKeeper("huggingface.co").save(text)
    assert TokenKeeper("huggingface.co").load() is None
    assert checked_token(f" {SECRET}\n") == SECRET
    assert checked_token("  ") is None

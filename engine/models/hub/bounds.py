"""Validates HTTP responses of a hub, which are untrusted: bounded size, expected type, no unsafe redirect."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import httpx2

from engine.models.hub.patience import ANSWER_TIMEOUT_S

MAX_ANSWER_BYTES = 32 << 20
MAX_COMPRESSED_BYTES = 1 << 20
"""Compression is not requested, and the content may be a thousand times as large."""
_PAGES = frozenset({"text/html", "application/xhtml+xml"})


class PageInsteadError(ValueError):
    """An HTML page was received instead of data, usually from a network's captive portal."""


class UnsafeRedirectError(ValueError):
    """A redirect from HTTPS to plain HTTP."""


def is_page(text: bytes | str) -> bool:
    """Whether a response begins like an HTML page; neither JSON nor a model does."""
    raw = text[:200].encode("utf-8", "replace") if isinstance(text, str) else text[:200]
    return raw.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


class BoundedAnswer(httpx2.SyncByteStream):
    """The bytes of ``stream``; raises ValueError if there are too many, ReadTimeout if they come too slowly."""

    def __init__(
        self, stream: httpx2.SyncByteStream, n_bytes_max: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream, self._n_bytes_max, self._clock = stream, n_bytes_max, clock

    def __iter__(self) -> Iterator[bytes]:
        began, n_bytes = self._clock(), 0
        for chunk in self._stream:
            n_bytes += len(chunk)
            if n_bytes > self._n_bytes_max:
                raise ValueError(f"more than {self._n_bytes_max} bytes")
            if self._clock() - began > ANSWER_TIMEOUT_S:
                raise httpx2.ReadTimeout(f"not whole after {ANSWER_TIMEOUT_S:.0f} s")
            yield chunk

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()


def bound_answer(response: httpx2.Response) -> None:
    """A response hook of the HTTP client: only range responses, which are streamed, may be long."""
    _require_own_answer(response)
    is_part = "Range" in response.request.headers and response.status_code in (200, 206)
    if is_part or not isinstance(response.stream, httpx2.SyncByteStream):
        return
    is_plain = response.headers.get("Content-Encoding", "identity") == "identity"
    response.stream = BoundedAnswer(response.stream, MAX_ANSWER_BYTES if is_plain else MAX_COMPRESSED_BYTES)


def _require_own_answer(response: httpx2.Response) -> None:
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if response.is_success and kind in _PAGES:
        raise PageInsteadError(kind)
    asked = response.request.url
    if not response.has_redirect_location or asked.scheme != "https":
        return
    if asked.join(response.headers["Location"]).scheme == "http":
        raise UnsafeRedirectError(asked.host)

"""A response with bytes of a file, verified against the hub's file list before any byte is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2

from engine.models.hub.bounds import PageInsteadError, is_page
from engine.models.hub.errors import other_bytes_error, other_file_error
from engine.models.hub.remote import RemoteFile

_WHOLE, _PART = 200, 206
_RANGE = re.compile(r"bytes (\d{1,20})-(\d{1,20})/(\d{1,20}|\*)\Z", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True)
class ByteStream:
    """The bytes of a file from ``first`` to ``end`` (exclusive), in a response that begins at ``start``.

    ``sha256`` is that of the whole file if the hub reports it; ``version`` identifies the content.
    """

    response: httpx2.Response
    start: int
    first: int
    end: int
    sha256: str | None
    version: str | None

    def pieces(self) -> Iterator[bytes]:
        """Exactly those bytes; fewer if the response ends early."""
        position = self.start
        for chunk in self.response.iter_raw():
            if position == 0 and is_page(chunk):
                raise PageInsteadError("no model")
            piece = chunk[max(0, self.first - position) : max(0, self.end - position)]
            position += len(chunk)
            if piece:
                yield piece
            if position > self.end:
                return


def checked_stream(response: httpx2.Response, file: RemoteFile, first: int, end: int, host: str) -> ByteStream:
    """The requested bytes of a response.

    Raises EngineError if the file differs from the list (DOWNLOAD_DAMAGED) or the byte range is wrong (HUB_FAILED),
    and PageInsteadError.
    """
    headers = response.headers
    start, stop, total = _place(response)
    sha256 = _linked(response, "X-Linked-Etag")
    sha256 = sha256 if sha256 is not None and _SHA256.match(sha256) else None
    length = _number(headers.get("Content-Length"))
    described = f"status {response.status_code}, {headers.get('Content-Range')}, {length} bytes, wanted {first}-{end}"
    is_other = (
        (total is not None and total != file.size_bytes)
        or _number(_linked(response, "X-Linked-Size")) not in (None, file.size_bytes)
        or (sha256 is not None and file.sha256 not in (None, sha256))
    )
    is_wrong = (
        response.status_code not in (_WHOLE, _PART)
        or headers.get("Content-Encoding", "identity").strip().lower() not in ("identity", "")
        or start is None
        or headers.get("Content-Type", "").lower().startswith("multipart/")
        # The range must cover the first byte; a server may send fewer bytes than requested, and the rest is retried.
        or (response.status_code == _PART and (start != first or stop is None or not first < stop <= end))
        or (length is not None and stop is not None and length != stop - (start or 0))
    )
    if (is_other or is_wrong) and is_page(next(response.iter_raw(), b"")):
        raise PageInsteadError(described)
    if is_other:
        raise other_file_error(file.path, host, described)
    if is_wrong or start is None:
        raise other_bytes_error(host, described)
    return ByteStream(response, start, first, end, sha256, _version(response, sha256))


def _place(response: httpx2.Response) -> tuple[int | None, int | None, int | None]:
    """Start, end (exclusive) and size of the file, from the response's headers; None where they are missing."""
    if response.status_code != _PART:
        length = _number(response.headers.get("Content-Length"))
        return 0, length, length
    match = _RANGE.match(response.headers.get("Content-Range", ""))
    if match is None:
        return None, None, None
    return int(match[1]), int(match[2]) + 1, _number(match[3])


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\d{1,20}", text, re.ASCII) else None


def _linked(response: httpx2.Response, name: str) -> str | None:
    """The first value of a header in the redirect chain: the hub sends it before redirecting to the storage."""
    found = (one.headers.get(name) for one in (*response.history, response))
    return next((text.strip('"') for text in found if text is not None), None)


def _version(response: httpx2.Response, sha256: str | None) -> str | None:
    etag = response.headers.get("ETag", "")
    if sha256 is not None:
        return f"sha256:{sha256}"
    return f"etag:{etag}" if etag.startswith('"') and etag.isprintable() else None

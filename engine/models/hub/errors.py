"""Maps errors of hub requests to EngineErrors."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

import httpx2
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import parse_ratelimit_headers

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.models.hub.bounds import PageInsteadError, UnsafeRedirectError, is_page
from engine.models.hub.hub_busy import HubBusyError

RETRY_AFTER_MAX_S = 86_400
_GONE = (404, 410)
_UNAUTHORIZED, _PROXY_LOGIN, _NO_SUCH_RANGE, _TOO_MANY, _SERVER, _NETWORK_LOGIN = 401, 407, 416, 429, 500, 511


@contextlib.contextmanager
def hub_errors(what: str, host: str) -> Iterator[None]:
    """Convert the block's exceptions to EngineErrors; ``what`` is the requested model or file."""
    try:
        yield
    except (HfHubHTTPError, httpx2.HTTPError, httpx2.InvalidURL, EntryNotFoundError, ValueError, OSError) as error:
        raise _engine_error(error, what, host) from error
    except (LookupError, TypeError, AttributeError, RuntimeError, ArithmeticError) as error:
        # huggingface_hub raises these for JSON that does not have the expected structure.
        raise _nonsense(host, repr(error)) from error


def other_file_error(what: str, host: str, detail: str) -> EngineError:
    """The EngineError for a file that differs from the hub's file list; none of its bytes are used."""
    message = say(
        "“{0}” on {1} is no longer the file that was chosen, or something on the way changes it: look it "
        "up again, and download it from there.",
        what,
        host,
    )
    return EngineError(ErrorCode.DOWNLOAD_DAMAGED, message, detail)


def other_bytes_error(host: str, detail: str) -> EngineError:
    """The EngineError for a response with other bytes than requested; none of them are used."""
    message = say("{0} answers with other bytes than were asked for: try again later, or on another network.", host)
    return EngineError(ErrorCode.HUB_FAILED, message, detail)


def proxy_error(detail: str) -> EngineError:
    """The EngineError for an invalid proxy setting."""
    message = say("The proxy setting can't be used: set HTTPS_PROXY to an address that begins with http://.")
    return EngineError(ErrorCode.HUB_UNREACHABLE, message, detail)


def _engine_error(error: Exception, what: str, host: str) -> EngineError:
    # The detail never contains the request: its headers hold the token, and signed URLs grant access, too.
    detail = type(error).__name__
    if isinstance(error, PageInsteadError) or (isinstance(error, json.JSONDecodeError) and is_page(error.doc)):
        return _page_error(host, detail)
    if isinstance(error, UnsafeRedirectError):
        message = say(
            "{0} leads to an address without encryption, which is not followed: try on another network.", host
        )
        return EngineError(ErrorCode.HUB_FAILED, message, f"{detail}: {error}")
    if isinstance(error, OfflineModeIsEnabled):
        message = say("Downloads are turned off by HF_HUB_OFFLINE: unset it and start Kvasir again.")
        return EngineError(ErrorCode.HUB_FAILED, message, detail)
    if isinstance(error, HFValidationError | httpx2.InvalidURL):
        message = say("“{0}” is no name of a model: write it as owner/name, or paste the address of its page.", what)
        return EngineError(ErrorCode.HUB_NAME_INVALID, message, detail)
    if isinstance(error, HfHubHTTPError):
        return _refusal(error, what, host)
    if isinstance(error, EntryNotFoundError):
        return _missing(what, host, detail)
    if isinstance(error, httpx2.ProxyError):
        message = say("The proxy does not let Kvasir through to {0}: check HTTPS_PROXY, then try again.", host)
        return EngineError(ErrorCode.HUB_UNREACHABLE, message, f"{detail}: {error}")
    if isinstance(error, httpx2.LocalProtocolError | httpx2.UnsupportedProtocol):
        # The first error's text quotes the headers; the second is a redirect to an invalid URL.
        return _nonsense(host, detail)
    if isinstance(error, httpx2.TransportError):
        message = say(
            "{0} can't be reached: check the connection, or set HF_ENDPOINT to a mirror, then try again.", host
        )
        return EngineError(ErrorCode.HUB_UNREACHABLE, message, f"{detail}: {error}")
    return _nonsense(host, detail)


def _page_error(host: str, detail: str) -> EngineError:
    message = say(
        "This network answers with a page of its own in place of {0}: sign in to it in a web browser, then try again.",
        host,
    )
    return EngineError(ErrorCode.HUB_FAILED, message, detail)


def _nonsense(host: str, detail: str) -> EngineError:
    message = say(
        "{0} answered with something that makes no sense: try again later, or set HF_ENDPOINT to a mirror.", host
    )
    return EngineError(ErrorCode.HUB_FAILED, message, detail)


def _refusal(error: HfHubHTTPError, what: str, host: str) -> EngineError:
    status = error.response.status_code
    detail = f"{type(error).__name__}, status {status}, request {error.request_id}"
    # The error for a gated repository is a subclass of the one for a missing repository, so it comes first.
    if isinstance(error, GatedRepoError):
        message = say(
            "“{0}” is gated: accept its terms on its page at {1}, and enter an access token of that account.",
            what,
            host,
        )
        return EngineError(ErrorCode.HUB_GATED, message, detail)
    is_missing = isinstance(error, RepositoryNotFoundError | RevisionNotFoundError | EntryNotFoundError)
    if is_missing or status in _GONE:
        return _missing(what, host, detail)
    if status == _UNAUTHORIZED and "Authorization" not in error.response.request.headers:
        message = say("{0} wants an access token for “{1}”: enter one of an account that may use it.", host, what)
        return EngineError(ErrorCode.HUB_TOKEN_REFUSED, message, detail)
    if status == _UNAUTHORIZED:
        message = say(
            "{0} does not take the access token: make a new one there, and enter it in place of the old one.", host
        )
        return EngineError(ErrorCode.HUB_TOKEN_REFUSED, message, detail)
    if status == _PROXY_LOGIN:
        message = say("The proxy does not let Kvasir through to {0}: check HTTPS_PROXY, then try again.", host)
        return EngineError(ErrorCode.HUB_UNREACHABLE, message, detail)
    if status == _NETWORK_LOGIN:
        return _page_error(host, detail)
    if status == _NO_SUCH_RANGE:
        return other_file_error(what, host, detail)
    if status == _TOO_MANY:
        return _too_many(error.response.headers, host, detail)
    if status >= _SERVER:
        message = say(
            "{0} has a problem of its own at the moment: try again later, or set HF_ENDPOINT to a mirror.", host
        )
        return HubBusyError(message, detail, _seconds(error.response.headers))
    message = say("{0} refuses “{1}”: look at its page there for the reason, or choose another model.", host, what)
    return EngineError(ErrorCode.HUB_FAILED, message, detail)


def _too_many(headers: httpx2.Headers, host: str, detail: str) -> HubBusyError:
    seconds = _seconds(headers)
    if seconds is None:
        message = say(
            "{0} asks for a pause after many requests: try again in a few minutes, or enter an access token.", host
        )
    else:
        message = say(
            "{0} asks for a pause after many requests: try again in {1} s, or enter an access token.", host, seconds
        )
    return HubBusyError(message, detail, seconds)


def _seconds(headers: httpx2.Headers) -> int | None:
    """Seconds to wait before a retry, from either of the hub's headers; None without one."""
    after = headers.get("Retry-After", "").strip()
    limit = parse_ratelimit_headers(headers)
    if after.isascii() and after.isdigit() and len(after) < 9:
        seconds = int(after)
    elif limit is not None:
        seconds = limit.reset_in_seconds
    else:
        return None
    return min(seconds, RETRY_AFTER_MAX_S)


def _missing(what: str, host: str, detail: str) -> EngineError:
    message = say(
        "“{0}” is not on {1}, or it is private: check its name, or enter an access token that opens it.", what, host
    )
    return EngineError(ErrorCode.HUB_NOT_FOUND, message, detail)

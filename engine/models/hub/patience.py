"""Timeouts of hub requests, checked periodically while waiting so that a request can be cancelled at any moment."""

from __future__ import annotations

import contextlib
import math
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import httpcore2
import httpx2

ANSWER_TIMEOUT_S = 60.0
"""The deadline for a complete response, or for the start of a file's bytes."""
LOOK_S = 0.25
"""How often cancellation is checked while no bytes arrive."""
PACE_S, PACE_BYTES = 30.0, 30 << 10
"""A file's bytes that come more slowly than so many in so long a wait count as a broken connection."""


class Patience:
    """The timeouts of a caller's requests: ``total_s`` for all of them together.

    ``obey`` is called several times a second on the waiting thread; an exception that it raises ends the request.
    """

    def __init__(
        self,
        total_s: float = math.inf,
        obey: Callable[[], None] = lambda: None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._obey, self._clock = obey, clock
        self._ends_at = clock() + total_s
        self._answered_by = math.inf
        self._is_paced = False
        self._waited_s, self._n_bytes = 0.0, 0

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """Apply these timeouts to the requests of the block on this thread; each must respond in ANSWER_TIMEOUT_S."""
        self._answered_by, self._is_paced = self._clock() + ANSWER_TIMEOUT_S, False
        token = _now.set(self)
        try:
            yield
        finally:
            _now.reset(token)

    def begin_bytes(self) -> None:
        """Begin a long response: from now on only a minimum speed is required."""
        self._answered_by, self._is_paced = math.inf, True
        self._waited_s, self._n_bytes = 0.0, 0

    def note(self, n_bytes: int, waited_s: float) -> None:
        """Record bytes received during a wait; raises ReadTimeout if they are too few or too late."""
        self._obey()
        if self._clock() > min(self._ends_at, self._answered_by):
            raise httpcore2.ReadTimeout("not whole in time")
        self._waited_s += waited_s
        self._n_bytes += n_bytes
        if self._is_paced and self._waited_s > PACE_S:
            if self._n_bytes < PACE_BYTES:
                raise httpcore2.ReadTimeout(f"{self._n_bytes} bytes in {self._waited_s:.0f} s")
            self._waited_s, self._n_bytes = 0.0, 0


_now: ContextVar[Patience | None] = ContextVar("patience", default=None)
"""The timeouts of the current thread's requests."""


def watch_over(client: httpx2.Client) -> httpx2.Client:
    """Install the periodic check in all connections of a client.

    WORKAROUND: httpx2's transports don't pass on the network back end that their pools take. Remove when they do.
    """
    for transport in (client._transport, *client._mounts.values()):
        pool = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _Backend(pool._network_backend)
    return client


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        return _Stream(self._backend.connect_tcp(host, port, timeout, local_address, socket_options))


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        patience = _now.get()
        if patience is None:
            return self._stream.read(max_bytes, timeout)
        began = before = time.monotonic()
        while True:
            piece: bytes | None = None
            try:
                piece = self._stream.read(max_bytes, LOOK_S)
            except httpcore2.ReadTimeout:
                if timeout is not None and time.monotonic() - began > timeout:
                    raise
            now = time.monotonic()
            patience.note(len(piece or b""), now - before)
            before = now
            if piece is not None:
                return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

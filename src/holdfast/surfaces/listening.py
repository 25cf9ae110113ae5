"""Listening for requests on this machine: the socket, its limits, and the names that a request may be sent to."""

from __future__ import annotations

import asyncio
import socket
from _collections_abc import Awaitable, Callable

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from holdfast.core.remedy import Remedy
from holdfast.core.value import Any
from holdfast.errors import HoldfastError

App = Callable[[Any, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]

LARGEST = 1 << 20
"""How many bytes a request may have."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
WHOLE_WITHIN = 20
"""Seconds in which a request has to arrive as a whole, counted from the connection or the answer before it."""
_SECONDS = 5


def bound(host: str, port: int, instead: Remedy) -> socket.socket:
    """An open socket; `instead` is the command that would find a free port."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, where = found[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
        made.listen(128)
    except (OSError, UnicodeError) as failure:
        shown, why = host[:200], getattr(failure, "strerror", None) or str(failure)
        said = f"nothing can listen on {shown} port {port}: {why}"
        raise HoldfastError("cannot_listen", said, remedy=instead, facts={"host": shown, "port": port}) from None
    return made


def bracketed(name: str) -> str:
    """A name or an address as it is in a URL."""
    return f"[{name}]" if ":" in name else name


def own_hosts(host: str, port: int) -> list[str]:
    """The names, with the port, that a request may have been sent to: a page that fools the name service has another.

    All names of loopback mean the same socket.
    """
    names = LOOPBACK if host in LOOPBACK else (host,)
    return [f"{bracketed(name)}:{port}" for name in names]


def config(app: App) -> uvicorn.Config:
    """How the server behaves: quiet, bounded, and soon gone when it is told to end."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SECONDS,
        limit_concurrency=1024,
        http=_Connection,
    )


class _Connection(H11Protocol):
    """Closed when a request does not come to its end in time. How long the answer may take has no bound."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_watching()

    def _watch(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_watching()
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(WHOLE_WITHIN, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

"""Serving over HTTP: on loopback unless told otherwise, to clients that have the token, many at once."""

from __future__ import annotations

import asyncio
import socket
from _collections_abc import Awaitable, Callable
from types import FrameType

import anyio
import h11
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

from holdfast.core import remedies
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError, Refused
from holdfast.surfaces.mcp import keys
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.mcp.server import Service

App = Callable[[dict[str, Any], Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]

PATH = "/mcp"
LARGEST = 1 << 20
"""How many bytes a request may have."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
WHOLE_WITHIN = 20
"""Seconds in which a request has to arrive as a whole, counted from the connection or the answer before it."""
_SECONDS = 5


class Address(Value):
    """Where the server listens, and which names and pages it answers to besides its own."""

    host: str
    port: int
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()


class Listener(Value):
    """A socket that is open, with what answers there."""

    url: str
    token_file: str
    app: Any
    service: Service
    socket: Any


def listen(projects: Projects, address: Address, *, guarded: bool) -> Listener:
    """Opens the socket. Without a token only loopback is served, where other people of the machine can reach it too."""
    if not guarded and address.host not in LOOPBACK:
        said = f"{address.host[:200]} can be reached from other machines, so a token is needed"
        raise Refused("token_needed", said, remedy="leave --no-token out", facts={"host": address.host[:200]})
    bound = _bound(address)
    port = bound.getsockname()[1]
    shown = f"[{address.host}]" if ":" in address.host else address.host
    service = Service(projects, guarded=guarded)
    app: Any = service.server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST,
        transport_security=_security(address, shown, port),
        host=address.host,
    )
    if guarded:
        app = _Guarded(app, keys.token(projects.place, projects.require_writable))
    token_file = keys.token_file(projects.place) if guarded else ""
    return Listener(f"http://{shown}:{port}{PATH}", token_file, app, service, bound)


def serve(listener: Listener) -> None:
    """Answers until the process is told to end; then what checks have started is ended too."""
    config = uvicorn.Config(
        listener.app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SECONDS,
        limit_concurrency=1024,
        http=_Connection,
    )
    anyio.run(_Server(config, listener.service).serve, [listener.socket])


def _bound(address: Address) -> socket.socket:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, where = found[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
        made.listen(128)
    except (OSError, UnicodeError) as failure:
        host, why = address.host[:200], getattr(failure, "strerror", None) or str(failure)
        said = f"nothing can listen on {host} port {address.port}: {why}"
        way, facts = remedies.named("mcp", {"http": True, "port": "0"}), {"host": host, "port": address.port}
        raise HoldfastError("cannot_listen", said, remedy=way, facts=facts) from None
    return made


def _security(address: Address, shown: str, port: int) -> TransportSecuritySettings:
    """The names that a request may have been sent to: a page that fools the name service has another one."""
    own = [*(f"[{name}]" if ":" in name else name for name in LOOPBACK)] if address.host in LOOPBACK else [shown]
    hosts = [f"{name}:{port}" for name in own]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*hosts, *address.hosts],
        allowed_origins=[*(f"http://{name}" for name in hosts), *address.origins],
    )


class _Server(uvicorn.Server):
    """Told to end, it first ends the running checks, and then waits for the requests that wait for them."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.calls.end()
        super().handle_exit(sig, frame)


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


class _Guarded:
    """Lets nobody through who does not present the token."""

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        import hmac

        if scope["type"] == "http":
            given = [value.partition(b" ") for name, value in scope["headers"] if name == b"authorization"]
            right = len(given) == 1 and given[0][0].lower() == b"bearer"
            if not right or not hmac.compare_digest(given[0][2].strip(), self._token):
                said = {"error": {"code": "token_needed", "message": "a token is needed: Authorization: Bearer TOKEN"}}
                await JSONResponse(said, 401, headers={"WWW-Authenticate": "Bearer"})(scope, receive, send)
                return
        await self._app(scope, receive, send)

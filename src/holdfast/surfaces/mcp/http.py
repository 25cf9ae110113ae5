"""Serving over HTTP: on loopback unless told otherwise, to clients that have the token, many at once."""

from __future__ import annotations

from types import FrameType

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from holdfast.core import remedies
from holdfast.core.value import Any, Value
from holdfast.errors import Refused
from holdfast.surfaces import listening
from holdfast.surfaces.listening import App
from holdfast.surfaces.mcp import keys
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.mcp.server import Service

PATH = "/mcp"


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
    if not guarded and address.host not in listening.LOOPBACK:
        said = f"{address.host[:200]} can be reached from other machines, so a token is needed"
        raise Refused("token_needed", said, remedy="leave --no-token out", facts={"host": address.host[:200]})
    bound = listening.bound(address.host, address.port, remedies.named("mcp", {"http": True, "port": "0"}))
    port = bound.getsockname()[1]
    shown = listening.bracketed(address.host)
    service = Service(projects, guarded=guarded)
    app: Any = service.server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=listening.LARGEST,
        transport_security=_security(address, port),
        host=address.host,
    )
    if guarded:
        app = _Guarded(app, keys.token(projects.place, projects.require_writable))
    token_file = keys.token_file(projects.place) if guarded else ""
    return Listener(f"http://{shown}:{port}{PATH}", token_file, app, service, bound)


def serve(listener: Listener) -> None:
    """Answers until the process is told to end; then what checks have started is ended too."""
    anyio.run(_Server(listening.config(listener.app), listener.service).serve, [listener.socket])


def _security(address: Address, port: int) -> TransportSecuritySettings:
    hosts = listening.own_hosts(address.host, port)
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

"""The server of the page: on loopback only, until it is told to end."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from types import FrameType

import anyio
import uvicorn

from holdfast.core import refusals, remedies
from holdfast.core.remedy import Remedy
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError
from holdfast.machine.settings import Settings
from holdfast.surfaces import listening
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.notifying import Beside
from holdfast.surfaces.web import taken
from holdfast.surfaces.web.app import Page
from holdfast.surfaces.web.door import Origin
from holdfast.surfaces.web.linking import Linking

HOST = "holdfast.localhost"
"""A name of loopback that no other server of this machine answers to: passkeys are made for names."""
_TRIED = 100
_HOST_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-")


class Listener(Value):
    """Sockets that are open, with what answers there."""

    page: Any
    sockets: tuple[Any, ...]
    linking: Any = None


def listen(projects: Projects, port: int, origin: str, shown: str = "", *, read_only: bool) -> Listener:
    """Opens the port on every address of loopback, so that no other process can answer there in this one's name."""
    if not read_only:
        projects.require_writable()
    sockets = _bound(projects, port, shown, read_only=read_only)
    port = sockets[0].getsockname()[1]
    try:
        page = Page(projects, Origin(checked_origin(origin, port)), read_only=read_only)
    except HoldfastError:
        for one in sockets:
            one.close()
        raise
    linking = None if read_only else Linking(projects.place, port, page.origin.url, page.link)
    return Listener(page, tuple(sockets), linking)


def _bound(projects: Projects, port: int, shown: str, *, read_only: bool) -> list[socket.socket]:
    """The port on both addresses of loopback; where it is taken, the refusal says by whom as far as that is known."""
    sockets: list[socket.socket] = []
    own = _own_port(port, read_only=read_only)
    try:
        sockets.append(listening.bound("127.0.0.1", port, own))
        sockets += [listening.bound("::1", sockets[0].getsockname()[1], own)] if _has_ipv6() else []
    except HoldfastError as wrong:
        for one in sockets:
            one.close()
        raise taken.refused(projects.place, wrong, port, own, shown, read_only=read_only) from None
    return sockets


def _own_port(port: int, *, read_only: bool) -> Remedy:
    """Where a person approves, the port is to stay the same, because passkeys belong to it."""
    if read_only:
        return remedies.named("web", {"read_only": True, "port": "0"})
    text = "give this project a port of its own and keep it, because passkeys belong to the port"
    return remedies.named("web", {"port": str(_free_after(port))}, text=text, who="person")


def _free_after(port: int) -> int:
    """The next port that nobody has now."""
    for number in range(port + 1, min(port + _TRIED, 65536)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", number))
            return number
    return 0


def serve(listener: Listener) -> None:
    """Answers until it is told to end; a person's page also sends the notifications that they want."""
    page = listener.page
    with ExitStack() as beside:
        beside.enter_context(suppress(KeyboardInterrupt))
        if listener.linking is not None:
            opened, settings = page.projects.opened, page.projects.settings
            beside.enter_context(Beside(opened, settings, address=lambda ulid: f"{page.origin.url}/w/{ulid}"))
        anyio.run(_served, listener)


async def _served(listener: Listener) -> None:
    if listener.linking is not None:
        await listener.linking.open()
    server = _Server(listening.config(listener.page.app), listener.page, listener.linking)
    await server.serve([*listener.sockets])


def checked_origin(written: str, port: int) -> str:
    """The address of the page: its own, or the name by which a tunnel with a certificate leads here."""
    if not written:
        return f"http://{HOST}:{port}"
    scheme, _, rest = written.lower().partition("://")
    host, colon, number = rest.partition(":")
    is_name = bool(host) and _HOST_LETTERS.issuperset(host) and not host.replace(".", "").isdecimal()
    is_port = not colon or (number.isascii() and number.isdigit() and 0 < int(number) < 65536)
    is_own = scheme == "http" and host in (HOST, "localhost") and number == str(port)
    if not (is_name and is_port and (scheme == "https" or is_own)):
        said = f"{written[:200]!r} cannot be the address of the page: https://NAME, or http://localhost:{port}"
        raise refusals.misused(said, remedies.usage("web"))
    return f"{scheme}://{rest}"


def person_of(settings: Settings) -> Settings:
    """The person whose browser is let in: what they send is confirmed by sending it."""
    return settings.replace(actor=settings.actor.replace(surface="web"), person=None, token="")


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


class _Server(uvicorn.Server):
    """Told to end, it first ends the streams of changes, which would not end by themselves."""

    def __init__(self, config: uvicorn.Config, page: Page, linking: Linking | None) -> None:
        super().__init__(config)
        self._page = page
        self._linking = linking

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._page.events.end()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """After it, the signal ends the process: nothing that follows would run."""
        await super().shutdown(sockets)
        if self._linking is not None:
            self._linking.close()

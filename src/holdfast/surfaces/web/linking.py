"""A new link for a server that runs: given to a process at a person's terminal, and to nobody else.

The server listens on a socket that only its user can reach. The kernel says which process asks there, and that process
is judged as the one that started the server was. No secret is in a file.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from _collections_abc import Callable
from contextlib import suppress

from holdfast.core import refusals, remedies
from holdfast.errors import HoldfastError, NotFound
from holdfast.machine import person, processes, served
from holdfast.machine import place as places
from holdfast.machine.place import Place
from holdfast.plain.plainjson import compact, object_in

_LONGEST = 10_000
_PATIENCE = 10


class Linking:
    """The socket of one server, and the file that says where it is."""

    def __init__(self, place: Place, port: int, origin: str, link: Callable[[], str]) -> None:
        self._place, self._origin = place, origin
        self._record = served.path(place, port)
        self._link = link
        self._folder = self._path = ""
        self._server: asyncio.AbstractServer | None = None

    async def open(self) -> None:
        import tempfile

        self._folder = tempfile.mkdtemp(prefix="holdfast-web-")  # the path of a socket must be short
        self._path = os.path.join(self._folder, "link")
        self._server = await asyncio.start_unix_server(self._answer, self._path)
        places.prepare(self._place, insist=True)
        os.makedirs(os.path.dirname(self._record), mode=0o700, exist_ok=True)
        made = f"{self._record}.{os.getpid()}"
        fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            file.write(served.content(self._path, self._origin))
        os.replace(made, self._record)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for path in (self._record, self._path):
            with suppress(OSError):
                os.unlink(path)
        with suppress(OSError):
            os.rmdir(self._folder)

    async def _answer(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pid = _peer(writer.get_extra_info("socket"))
        why = await asyncio.to_thread(_objection, pid)
        said = {"refused": why} if why else {"link": self._link()}
        with suppress(OSError):
            writer.write(compact(said).encode() + b"\n")
            await writer.drain()
        writer.close()


def ask(place: Place, port: int) -> str:
    """The link that a running server gives this process."""
    record = served.read(place, port)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PATIENCE)
            connection.connect(str(record.get("socket") or "/nowhere"))
            said = b""
            while not said.endswith(b"\n") and len(said) < _LONGEST:
                part = connection.recv(4096)
                if not part:
                    break
                said += part
    except OSError:
        wrong = f"no page of this project is served on port {port}"
        raise NotFound("no_server", wrong, remedy=remedies.named("web"), facts={"port": port}) from None
    found = object_in(said) or {}
    if not found.get("link"):
        raise refused(str(found.get("refused") or "the server did not answer"))
    return str(found["link"])


def refused(why: str = "") -> HoldfastError:
    """Why no link is given: who has one may approve."""
    refusal = refusals.person_needed("be let in to the page where approvals are given", remedies.named("web"))
    refusal.message += f": {why}" if why else ""
    look = remedies.named("web", {"read_only": True}, who="agent", text="to look only")
    refusal.remedies = (look, *refusal.remedies)
    return refusal


def _peer(connection: socket.socket) -> int:
    """The process at the other end; 0 where the system does not say."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        else:
            of_local, peer_pid = 0, 2  # SOL_LOCAL and LOCAL_PEERPID of macOS, which Python does not name
            (pid,) = struct.unpack("i", connection.getsockopt(of_local, peer_pid, 4))
    except (OSError, struct.error):
        return 0
    return int(pid)


def _objection(pid: int) -> str:
    """Why a process is at no person's terminal; empty when it is."""
    from holdfast.machine import settings

    own = next(processes.ancestry(pid), None) if pid else None
    if own is None:
        return "who asks cannot be told"
    if not own.terminal:
        return "who asks has no terminal"
    if settings.is_hosted(processes.environment(pid)):
        return "an agent's host runs it"
    return person.objection(pid)

"""Where the page of a project is, while `holdfast web` runs: each server keeps a record below `.holdfast/web`."""

from __future__ import annotations

import os

from holdfast.files import system
from holdfast.machine.place import Place, read_regular
from holdfast.plain.plainjson import compact, object_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.value import Any

_FOLDER, _ENDING = "web", ".json"
_LARGEST = 10_000
_HOSTS = ("holdfast.localhost", "localhost")
"""The names of loopback under which a page may be shown to people: a record is a file that agents may have written."""


def path(place: Place, port: int) -> str:
    return os.path.join(place.home, _FOLDER, f"{port}{_ENDING}")


def content(socket: str, origin: str) -> str:
    """What a server writes of itself: the socket at which it gives links, and its address."""
    return compact({"socket": socket, "pid": os.getpid(), "origin": origin}) + "\n"


def read(place: Place, port: int) -> dict[str, Any]:
    """The record of a port; empty where there is none."""
    return object_in(read_regular(path(place, port), _LARGEST) or b"") or {}


def address(place: Place) -> str:
    """The address of a page of the project that runs on this machine; empty where none does."""
    try:
        names = sorted(os.listdir(os.path.join(place.home, _FOLDER)))
    except OSError:
        return ""
    for name in names:
        port = name.removesuffix(_ENDING)
        if not (port.isascii() and port.isdigit() and name.endswith(_ENDING)):
            continue
        found = address_at(place, int(port))
        if found:
            return found
    return ""


def address_at(place: Place, port: int) -> str:
    """The address of the page of the project that runs on this port; empty where none does, or behind another name."""
    origin = read(place, port).get("origin")
    known = origin in [f"http://{host}:{port}" for host in _HOSTS]
    return str(origin) if known and is_running(place, port) else ""


def is_running(place: Place, port: int) -> bool:
    """Whether the server whose record this is runs still."""
    pid = read(place, port).get("pid")
    return isinstance(pid, int) and pid > 0 and system.here.is_running(pid)

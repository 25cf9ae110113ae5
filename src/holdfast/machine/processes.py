"""The processes of this machine: what one comes from, who has the other end of its terminal, and who logged in."""

from __future__ import annotations

from holdfast.files import system
from holdfast.files.system import port

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Iterator, Sequence

_MOST = 200
"""How many ancestors are followed; nobody has as many."""
_MULTIPLEXERS = ("tmux", "screen")


class Process(port.Process):
    @property
    def called(self) -> str:
        return self.program or self.title

    @property
    def is_multiplexer(self) -> bool:
        named = (self.title, *(path.rpartition("/")[2].lower() for path in (self.program, *self.words[:1])))
        return any(name.partition(":")[0] in _MULTIPLEXERS for name in named)


def ancestry(pid: int) -> Iterator[Process]:
    """The process and those that it comes from, as far as they can be seen."""
    for _ in range(_MOST):
        try:
            one = _read(pid)
        except (OSError, ValueError):
            return
        yield one
        pid = one.parent


def _read(pid: int) -> Process:
    return Process(**vars(system.here.process(pid)))


def environment(pid: int) -> dict[str, str]:
    """The variables that a process was started with; none where they are hidden."""
    try:
        found = (one.partition("=") for one in system.here.environment(pid))
        return {name: value for name, _, value in found if name}
    except (OSError, ValueError):
        return {}


def clients(server: int) -> list[int]:
    """The processes in front at the terminals that a multiplexer has open: those of its clients."""
    terminals = system.here.terminals(server)
    found = []
    for pid in system.here.pids():
        try:
            one = _read(pid)
        except (OSError, ValueError):
            continue
        if one.terminal in terminals and one.group == one.front:
            found.append(pid)
    return found


def owners(found: Sequence[Process]) -> list[int]:
    """The processes that have the other end of a process's pseudo-terminal, by its ancestry.

    Where none can be seen, it is what started the session at the terminal, such as `su`, which is another user's.
    """
    if not found or not system.here.is_pseudo(found[0].terminal):
        return []
    seen = system.here.masters(found[0].terminal)
    return seen or [one.pid for one in found if one.session != found[0].session and not one.program][:1]


def login(found: Sequence[Process]) -> list[str] | None:
    """The address and port of both ends of the ssh login in an ancestry: None without one, empty where it is hidden."""
    server = next((n for n, one in enumerate(found) if one.title.startswith("sshd")), 0)
    if not server:
        return None
    said = system.here.environment(found[server - 1].pid)
    told = next((one.partition("=")[2].split() for one in said if one.startswith("SSH_CONNECTION=")), [])
    if len(told) != 4 or not (told[1].isdecimal() and told[3].isdecimal()):
        return []
    return told if system.here.connected(int(told[3]), int(told[1])) is not None else []


def remote_clients(connection: list[str]) -> list[int]:
    """The processes on this machine that have the client's end of a login."""
    return system.here.connected(int(connection[1]), int(connection[3])) or []


def is_here(address: str) -> bool:
    """Whether an address is one of this machine: only such a one can be listened at."""
    import socket

    try:
        found = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0]
        with socket.socket(found[0], found[1]) as tried:
            tried.bind(found[4])
    except OSError:
        return False
    return True

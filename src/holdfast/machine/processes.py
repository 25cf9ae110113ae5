"""The processes of this machine: what one comes from, who has the other end of its terminal, and who logged in."""

from __future__ import annotations

import os
import sys

from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Iterator, Sequence

_MOST = 200
"""How many ancestors are followed; nobody has as many."""
_MULTIPLEXERS = ("tmux", "screen")
_MASTERS = ("/dev/ptmx", "/dev/pts/ptmx")
_PSEUDO = range(136, 144)
"""The major numbers of pseudo-terminals."""


class Process(Value):
    pid: int
    parent: int
    session: int
    terminal: int
    title: str
    program: str
    words: tuple[str, ...]

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
            one = _read(pid) if sys.platform == "linux" else _listed(pid)
        except (OSError, ValueError):
            return
        yield one
        pid = one.parent


def _read(pid: int) -> Process:
    title, numbers = _numbers(pid)
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read(1 << 16).decode("utf-8", "replace").split("\0")
    try:
        program = os.readlink(f"/proc/{pid}/exe")
    except OSError:  # of another user
        program = ""
    return Process(pid, numbers[0], numbers[2], numbers[3], title, program, tuple(words))


def _numbers(pid: int) -> tuple[str, list[int]]:
    """The title of a process, its parent, group, session, terminal, and the group in front there."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        head, _, rest = file.read().decode("utf-8", "replace").rpartition(")")
    return head.partition("(")[2], list(map(int, rest.split()[1:6]))


def _listed(pid: int) -> Process:
    """The same where there is no `/proc`."""
    import subprocess

    asked = ["/bin/ps", "-o", "ppid=", "-o", "args=", "-p", str(pid)]
    parent, _, line = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip().partition(" ")
    words = tuple(line.split())
    return Process(pid, int(parent), os.getsid(pid), 0, "", "", words)


def clients(server: int) -> list[int]:
    """The processes in front at the terminals that a multiplexer has open: those of its clients."""
    terminals = set()
    for path, number in _opened(server):
        if path.startswith(("/dev/pts/", "/dev/tty")) and path not in ("/dev/tty", *_MASTERS):
            try:
                terminals.add(os.stat(f"/proc/{server}/fd/{number}").st_rdev)
            except OSError:
                continue
    found = []
    for pid in _everybody():
        try:
            _, (_, group, _, terminal, front) = _numbers(pid)
        except (OSError, ValueError):
            continue
        if terminal in terminals and group == front:
            found.append(pid)
    return found


def owners(found: Sequence[Process]) -> list[int]:
    """The processes that have the other end of a process's pseudo-terminal, by its ancestry.

    Where none can be seen, it is what started the session at the terminal, such as `su`, which is another user's.
    """
    terminal = found[0].terminal if found else 0
    if os.major(terminal) not in _PSEUDO:
        return []
    index = f"tty-index:\t{(os.major(terminal) - _PSEUDO[0]) * 256 + os.minor(terminal)}\n"
    seen = [
        one
        for one in _everybody()
        if any(path in _MASTERS and index in _text(f"/proc/{one}/fdinfo/{number}") for path, number in _opened(one))
    ]
    return seen or [one.pid for one in found if one.session != found[0].session and not one.program][:1]


def login(found: Sequence[Process]) -> list[str] | None:
    """The address and port of both ends of the ssh login in an ancestry: None without one, empty where it is hidden."""
    server = next((n for n, one in enumerate(found) if one.title.startswith("sshd")), 0)
    if not server:
        return None
    said = _text(f"/proc/{found[server - 1].pid}/environ").split("\0")
    told = next((one.partition("=")[2].split() for one in said if one.startswith("SSH_CONNECTION=")), [])
    return told if len(told) == 4 and told[1].isdecimal() and told[3].isdecimal() and _rows(told, 3, 1) else []


def remote_clients(connection: list[str]) -> list[int]:
    """The processes on this machine that have the client's end of a login."""
    sockets = {f"socket:[{fields[9]}]" for fields in _rows(connection, 1, 3)}
    return [one for one in _everybody() if any(path in sockets for path, _ in _opened(one))] if sockets else []


def _rows(connection: list[str], *ends: int) -> list[list[str]]:
    """The sockets of this machine from one port of a connection to the other."""
    ports = [f"{int(connection[n]):04X}" for n in ends]
    rows = [row.split() for name in ("tcp", "tcp6") for row in _text(f"/proc/net/{name}").splitlines()]
    return [row for row in rows if len(row) > 9 and [row[n].rpartition(":")[2] for n in (1, 2)] == ports]


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


def _everybody() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:  # there is no `/proc`
        return []


def _opened(pid: int) -> list[tuple[str, str]]:
    """What a process has open, with the number of each; nothing where it is another user's."""
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []
    return [(_link(f"/proc/{pid}/fd/{number}"), number) for number in numbers]


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:  # closed just now
        return ""


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 22).decode("utf-8", "replace")
    except OSError:
        return ""

"""Whether the terminal of this process is a person's, and what they answer there.

Nothing of it can be switched off. What it cannot tell is named in `docs/explanation/gates-and-trust.md`.
"""

from __future__ import annotations

import os
import sys

from holdfast.core import remedies
from holdfast.core.value import Value
from holdfast.errors import HoldfastError
from holdfast.machine import agent_hosts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Iterator

_MOST = 200
"""How many ancestors are followed; nobody has as many."""
_MULTIPLEXERS = ("tmux", "screen")
_LONGEST = 100


class Person:
    """The person at the terminal. `lasting`: one yes is enough for all that this process does, as for one command."""

    def __init__(self, *, lasting: bool) -> None:
        self._lasting = lasting
        self._confirmed = False

    def ask(self, text: str) -> str:
        """The line that is typed at the terminal after the question is there; empty when there is none.

        What was typed or pasted before does not count, and neither does what comes from elsewhere.
        """
        import termios

        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        try:
            terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            termios.tcflush(terminal, termios.TCIFLUSH)
            shown = text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
            while shown:
                shown = shown[os.write(terminal, shown) :]
            return os.read(terminal, _LONGEST).decode("utf-8", "replace")
        except (OSError, termios.error):  # nobody who can answer: the terminal is gone, or others have it
            return ""
        finally:
            os.close(terminal)

    def agrees(self, text: str, *, default: bool = False) -> bool:
        """Whether the answer is a yes; with `default`, Enter means one."""
        said = self.ask(f"{text} [{'Y/n' if default else 'y/N'}] ").lower()
        agreed = said.strip() in ("y", "yes") or (default and said == "\n")
        self._confirmed = agreed and self._lasting
        return agreed

    def confirm(self, what: str) -> None:
        """Refuses what only a person may do, unless they press a key for it now, or have agreed to it just before."""
        if not self._confirmed and not self.agrees(f"{what[:1].upper()}{what[1:]}?", default=True):
            said = "nobody confirmed it at the terminal, and nothing was changed"
            raise HoldfastError("declined", said, remedy=remedies.status(), facts={"what": what})


def objection(pid: int = 0) -> str:
    """Why the terminal of a process is no person's; empty when nothing speaks against it."""
    return _objection(pid or os.getpid(), set())


def _objection(pid: int, seen: set[int]) -> str:
    ancestry = list(_ancestry(pid))
    for one in ancestry:
        host = agent_hosts.name_of(one.title, one.program, one.words)
        if host:
            return f"{host} (process {one.pid}) runs it"
    if ancestry and ancestry[0].session not in [one.pid for one in ancestry]:
        return "it was detached from the shell of its terminal"
    for one in ancestry:
        if one.is_multiplexer and one.pid not in seen:
            seen.add(one.pid)
            clients = _clients(one.pid)
            if not clients:
                return f"nobody is attached to {one.title or one.program} (process {one.pid})"
            found = filter(None, (_objection(client, seen) for client in clients))
            return next(found, "")
    return ""


class Process(Value):
    pid: int
    parent: int
    session: int
    title: str
    program: str
    words: tuple[str, ...]

    @property
    def is_multiplexer(self) -> bool:
        named = (self.title, *(path.rpartition("/")[2].lower() for path in (self.program, *self.words[:1])))
        return any(name.partition(":")[0] in _MULTIPLEXERS for name in named)


def _ancestry(pid: int) -> Iterator[Process]:
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
    return Process(pid, numbers[0], numbers[2], title, program, tuple(words))


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
    return Process(pid, int(parent), os.getsid(pid), "", "", words)


def _clients(server: int) -> list[int]:
    """The processes in front at the terminals that a multiplexer has open: those of its clients."""
    terminals = set()
    try:
        opened = os.listdir(f"/proc/{server}/fd")
    except OSError:  # it runs with another group's rights, or there is no `/proc`
        return []
    for fd in opened:
        try:
            path = os.readlink(f"/proc/{server}/fd/{fd}")
            if path.startswith(("/dev/pts/", "/dev/tty")) and path != "/dev/tty":
                terminals.add(os.stat(f"/proc/{server}/fd/{fd}").st_rdev)
        except OSError:
            continue
    found = []
    for name in os.listdir("/proc"):
        try:
            _, (_, group, _, terminal, front) = _numbers(int(name))
        except (OSError, ValueError):
            continue
        if terminal in terminals and group == front:
            found.append(int(name))
    return found

"""Whether the terminal of this process is a person's, and what they answer there.

Nothing of it can be switched off. What it cannot tell is named in `docs/explanation/gates-and-trust.md`.
"""

from __future__ import annotations

import os
import sys

from holdfast.core import remedies
from holdfast.errors import HoldfastError
from holdfast.machine import agent_hosts, processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Iterable

_FIRST = ("systemd", "init")
_SCHEDULERS = ("cron", "crond", "anacron", "atd")
_LONGEST = 100


class Person:
    """The person at the terminal. `lasting`: one yes is enough for all that this process does, as for one command."""

    def __init__(self, *, lasting: bool) -> None:
        self._lasting = lasting
        self._confirmed = False

    def ask(self, text: str, longest: int = _LONGEST) -> str:
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
            said = os.read(terminal, longest)
            if not said.endswith(b"\n"):  # what is printed next has a line of its own
                os.write(terminal, b"\n")
            return said.decode("utf-8", "replace")
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

    def confirm(self, what: str, *, default: bool = True) -> None:
        """Refuses what only a person may do, unless they press a key for it now, or have agreed to it just before."""
        if not self._confirmed and not self.agrees(f"{what[:1].upper()}{what[1:]}?", default=default):
            said = "not confirmed; nothing was changed"
            raise HoldfastError("declined", said, remedy=remedies.listing(), facts={"what": what})


def objection(pid: int = 0) -> str:
    """Why the terminal of a process is no person's; empty when nothing speaks against it."""
    return _objection(pid or os.getpid(), frozenset())


def host_above() -> str:
    """The agent host that this process comes from; empty when there is none."""
    found = (agent_hosts.name_of(one.title, one.program, one.words) for one in processes.ancestry(os.getpid()))
    return next(filter(None, found), "")


def _objection(pid: int, seen: frozenset[int]) -> str:
    seen |= {pid}
    ancestry = list(processes.ancestry(pid))
    starter = _starter(ancestry)
    if starter:
        return f"{starter} runs it"
    if ancestry and ancestry[0].session not in [one.pid for one in ancestry]:
        return "it was detached from the shell of its terminal"
    for one in ancestry:
        if one.is_multiplexer and one.pid not in seen:
            clients = processes.clients(one.pid)
            if not clients:
                return f"nobody is attached to {one.title or one.program} (process {one.pid})"
            return next(filter(None, (_objection(client, seen | {one.pid}) for client in clients)), "")
    found = (_at_other_end(owner, ancestry[0], seen) for owner in processes.owners(ancestry))
    return next(filter(None, found), "") or _login(ancestry, seen)


def _at_other_end(owner: int, below: processes.Process | None, seen: frozenset[int]) -> str:
    """Why who has the other end of a terminal speaks against a person. A login (`below` is None) takes a terminal."""
    above = list(processes.ancestry(owner))
    starter = _starter(above)
    if starter or not above:
        return f"{starter} has the other end of it" if starter else ""
    first = above[0]
    if below and not (agent_hosts.passes_on(first.called) or agent_hosts.is_tool(first.program, first.words)):
        return ""
    said = f"{first.title} (process {owner}) has the other end of it, and"
    if first.terminal in (0, below and below.terminal):
        return f"{said} no terminal of its own" if not below or _is_left_alone(above) else ""
    why = "it comes back to itself" if owner in seen else _objection(owner, seen)
    return why and f"{said} {why}"


def _login(ancestry: list[processes.Process], seen: frozenset[int]) -> str:
    """Why a login by ssh is no person's: one from this machine is theirs where its client is at their terminal."""
    connection = processes.login(ancestry)
    if connection is None:
        return ""
    if not connection:
        return "where the login comes from cannot be told"
    clients = processes.remote_clients(connection)
    if not clients and processes.is_here(connection[0]):
        return f"the login comes from this machine ({connection[0]}), and its client cannot be found"
    return next(filter(None, (_at_other_end(client, None, seen) for client in clients)), "")


def _is_left_alone(above: list[processes.Process]) -> bool:
    """Whether a tool made the terminal that nothing but tools started, none of which has another terminal.

    One whose session began in another pid namespace has its origin hidden, and one that only passes a terminal on has
    no use without one.
    """
    if not above[0].session or agent_hosts.passes_on(above[0].called):
        return True
    own = above[0].terminal
    known = [*above[:1], *(one for one in above[1:] if one.pid != 1 and one.title not in _FIRST)]
    return all(one.terminal in (0, own) and agent_hosts.is_tool(one.program, one.words) for one in known)


def _starter(ancestry: Iterable[processes.Process]) -> str:
    """The process that speaks against a person: an agent host, or what starts programs by the clock."""
    for one in ancestry:
        host = agent_hosts.name_of(one.title, one.program, one.words)
        if host or one.title in _SCHEDULERS:
            return f"{host or one.title} (process {one.pid})"
    return ""

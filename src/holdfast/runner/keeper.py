"""The process between a runner and a host: the host and all that it started end with it.

It is started as a script. Its standard input is a pipe from the runner that nothing is written to: its end says that
the runner wants the turn to end, or is gone, however that happened. Then the host gets a request, and after its grace
the system ends it. A host that was started by a killed keeper is killed by the system, where it can do that.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import time

if not __package__:  # started as a script, it finds the package by its own place
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from holdfast.files import system

NOT_STARTED = 126
_TICK = 0.02


def main(argv: list[str]) -> int:
    """`GRACE LOCK PROMPT COMMAND…`: a descriptor whose lock this process holds while it lives, and the file that the
    host reads as its standard input, or nothing for an empty one.
    """
    grace, lock, prompt, *command = argv
    os.set_inheritable(int(lock), False)
    woken, wakes = os.pipe()
    for end in (woken, wakes):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a terminal's Ctrl-C is the runner's to understand
    system.here.adopt()
    host = _started(prompt, command)
    code: int | None = None
    while code is None:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
        code = _code(host)
        if code is None and 0 in ready and not os.read(0, 4096):
            return _ended(host, float(grace))
    _sweep(host)
    return code


def _started(prompt: str, command: list[str]) -> int:
    keeper = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        system.here.end_with_parent()
        if os.getppid() != keeper:
            os._exit(NOT_STARTED)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(prompt or os.devnull, os.O_RDONLY), 0)
        os.execvp(command[0], command)  # noqa: S606 - a program and its arguments, as they were given
    except OSError as failure:
        os.write(2, f"{command[0]}: {os.strerror(failure.errno or errno.EIO)}\n".encode())
    finally:
        os._exit(NOT_STARTED)


def _code(host: int) -> int | None:
    """How the host ended; None while it runs. Whatever else ended below this process is forgotten."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return NOT_STARTED
        if pid == host:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if pid == 0:
            return None


def _ended(host: int, grace: float) -> int:
    """Ends the host: by a request, and by force when its grace is over."""
    _signal(host, signal.SIGTERM)
    until = time.monotonic() + grace
    code = _code(host)
    while code is None and time.monotonic() < until:
        time.sleep(_TICK)
        code = _code(host)
    _sweep(host)
    return code if code is not None else 128 + signal.SIGKILL


def _sweep(host: int) -> None:
    """Kills what is left of the host's group, and what it left running in groups of their own."""
    _signal(host, signal.SIGKILL)
    left = system.here.children(os.getpid())
    while left:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ChildProcessError, ProcessLookupError, PermissionError):
                continue
        left = [pid for pid in system.here.children(os.getpid()) if pid not in left]


def _signal(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

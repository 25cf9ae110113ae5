"""An exclusive lock on an open file, waited for without polling and never longer than asked.

`flock` has no time limit of its own, and libraries that poll for it answer in hundreds of milliseconds when
several processes contend. Here the kernel's queue does the waiting, in a thread, and the caller watches the clock.
"""

from __future__ import annotations

import _thread
import fcntl
import os

from holdfast.core.remedy import shell
from holdfast.errors import Conflict
from holdfast.files.replace import make_directories

_SHOWN = 200


def locked(fd: int, path: str, wait: float) -> None:
    """Take the exclusive lock of the file open as `fd`, waiting at most `wait` seconds.

    After a time-out, or any other exception, the descriptor must be closed and the file opened anew: the waiting thread
    shares its open file description, and may take and release the lock through it at any later moment.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if wait <= 0 or not _queued(fd, wait):
            raise _timed_out(fd, path, wait) from None


def unlock(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_UN)


class Locked:
    """`with Locked(folder, wait) as fd:` holds the lock of a folder, which is made where it is missing."""

    def __init__(self, folder: str, wait: float) -> None:
        self._folder = folder
        self._wait = wait
        self._fd = -1

    def __enter__(self) -> int:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        try:
            self._fd = os.open(self._folder, flags)
        except FileNotFoundError:
            make_directories(self._folder, 0o700)
            self._fd = os.open(self._folder, flags)
        try:
            locked(self._fd, self._folder, self._wait)
        except BaseException:
            os.close(self._fd)
            raise
        return self._fd

    def __exit__(self, *_: object) -> None:
        unlock(self._fd)
        os.close(self._fd)


def _queued(fd: int, wait: float) -> bool:
    # The thread needs a number of its own: the caller's may be closed meanwhile, and then stand for another file.
    own = os.dup(fd)
    decided = _thread.allocate_lock()  # whoever takes it first, waiter or clock, settles who has to let go
    arrived = _thread.allocate_lock()
    arrived.acquire()
    failures: list[OSError] = []

    def waiter() -> None:
        try:
            fcntl.flock(own, fcntl.LOCK_EX)
        except OSError as failure:
            failures.append(failure)
        if decided.acquire(False):
            arrived.release()
        elif not failures:
            # A forked child may hold a copy of the descriptor, so closing alone would not release.
            fcntl.flock(own, fcntl.LOCK_UN)
        os.close(own)

    try:
        _thread.start_new_thread(waiter, ())
    except BaseException:
        os.close(own)
        raise
    try:
        in_time = arrived.acquire(timeout=min(wait, _thread.TIMEOUT_MAX)) or not decided.acquire(False)
    except BaseException:
        if not decided.acquire(False) and not failures:
            fcntl.flock(fd, fcntl.LOCK_UN)
        raise
    if failures and in_time:
        raise failures[0]
    return in_time


def _timed_out(fd: int, path: str, wait: float) -> Conflict:
    pid = _holder(fd)
    command = _command_line(pid) if pid else ""
    holder = f"process {pid}" + (f" ({command})" if command else "") if pid else "another process"
    return Conflict(
        "lock_timeout",
        f"{path} is locked by {holder}; gave up after {wait:g} s",
        remedy=shell("ps", "-fp", str(pid)) if pid else "run the command again",
        facts={"path": path, "wait": wait, "pid": pid, "command": command},
    )


def _holder(fd: int) -> int | None:
    """The process that holds the lock, where the kernel tells (Linux, same device number as `stat` reports)."""
    held = os.fstat(fd)
    place = f"{os.major(held.st_dev):02x}:{os.minor(held.st_dev):02x}:{held.st_ino}"
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as table:
            for row in table:
                match row.split():
                    case [_, "FLOCK", _, _, pid, where, *_] if where == place and pid.isdecimal() and pid != "0":
                        return int(pid)
    except OSError:
        pass
    return None


def _command_line(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(4 * _SHOWN).rstrip(b"\0").replace(b"\0", b" ")
    except OSError:
        return ""
    # What another process calls itself ends up on a terminal.
    text = words.decode("utf-8", "backslashreplace")[:_SHOWN]
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)

"""An exclusive lock on an open file, waited for never longer than asked.

`flock` has no time limit of its own, and libraries that poll for it answer in hundreds of milliseconds when
several processes contend. Here the kernel's queue does the waiting, in a thread, and the caller watches the clock.
Most locks are held for less time than it takes to start a thread: those are asked for again a few times first.
"""

from __future__ import annotations

import _thread
import fcntl
import os
from time import sleep

from holdfast.core.remedy import Remedy, shell
from holdfast.errors import Conflict
from holdfast.files import system
from holdfast.files.replace import hand_over, make_directories

_SHOWN = 200
_ASKED, _ASKED_EVERY = 12, 0.00008


def locked(fd: int, path: str, wait: float) -> None:
    """Take the exclusive lock of the file open as `fd`, waiting at most `wait` seconds.

    After a time-out, or any other exception, the descriptor must be closed and the file opened again: the waiting
    thread shares its open file description, and may take and release the lock through it at any later moment.
    """
    for _ in range(_ASKED if wait > _ASKED * _ASKED_EVERY else 1):
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sleep(_ASKED_EVERY)
    if wait <= 0 or not _queued(fd, wait):
        raise _timed_out(fd, path, wait)


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


class FileLock:
    """The lock of a file that stays open, for the threads of this process as for other processes."""

    def __init__(self, path: str, wait: float) -> None:
        self.path = path
        self.fd = -1
        self._wait = wait
        self._turn = _thread.allocate_lock()

    def __del__(self) -> None:
        self._close()

    def take(self, *, or_leave: bool = False) -> bool:
        """Waits for the lock; with `or_leave`, False where somebody holds it."""
        if not self._turn.acquire(False) and (or_leave or not self._turn.acquire(timeout=max(0.0, self._wait))):
            if or_leave:
                return False
            raise _timed_out(self.fd, self.path, self._wait)
        try:
            while True:
                if self.fd < 0:
                    self.fd = self._open()
                taken = self._taken(or_leave)
                if self.is_current:
                    break
                self._close()  # removed, perhaps while it was waited for
        except BaseException:
            self._close()  # a thread that waited may still take the lock through this descriptor
            self._turn.release()
            raise
        if not taken:
            self._turn.release()
        return taken

    def _taken(self, or_leave: bool) -> bool:
        if not or_leave:
            locked(self.fd, self.path, self._wait)
            return True
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @property
    def is_current(self) -> bool:
        """Whether the file is open, and was not removed since."""
        return self.fd >= 0 and os.fstat(self.fd).st_nlink > 0

    def release(self) -> None:
        unlock(self.fd)
        self._turn.release()

    def close(self) -> None:
        """Lets go of the file, unless the lock is held; it is opened again when it is needed."""
        if self._turn.acquire(False):
            self._close()
            self._turn.release()

    def _close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            fd = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            make_directories(os.path.dirname(self.path), 0o700)
            fd = os.open(self.path, flags, 0o600)
        hand_over(fd, os.path.dirname(self.path))
        return fd


def _queued(fd: int, wait: float) -> bool:
    # The thread needs a number of its own: the caller's may be closed meanwhile, and then stand for another file.
    own = os.dup(fd)
    decided = _thread.allocate_lock()  # the first to take it, waiter or clock, settles who has to let go
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
    pid = system.here.locking(fd)
    if pid is None or not system.here.is_running(pid):
        pid = system.here.opened(path)  # who took it has ended, and a program that it started has it on
    command = command_line(pid) if pid else ""
    holder = f"process {pid}" + (f" ({command})" if command else "") if pid else "another process"
    said = f"{path} is locked by {holder}; gave up after {wait:g} s"
    way = ways(pid) if pid else "run the command again"
    facts = {"path": path, "wait": wait, "pid": pid, "command": command}
    return Conflict("lock_timeout", said, remedy=way, facts=facts)


def ways(pid: int) -> tuple[Remedy, ...]:
    """How to look at a process, and to end one that hangs: the next command finishes what it had begun."""
    kill = shell("kill", "-KILL", str(pid), text="if it is stopped or hangs", who="person")
    return shell("ps", "-fp", str(pid)), kill


def command_line(pid: int) -> str:
    """What a process was started with; it may call itself anything, and this is for a terminal."""
    try:
        text = " ".join(system.here.process(pid).words).rstrip()[:_SHOWN]
    except (OSError, ValueError):
        return ""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)

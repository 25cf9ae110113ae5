"""macOS, which tells of itself by calls of its C library, and of processes by `ps` and `lsof`."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from _collections_abc import Callable

from holdfast.core.value import Any
from holdfast.files.system import EXCHANGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.files.system.port import Process

_FULL_SYNC = 51
"""`F_FULLFSYNC`: `fsync` stops at the cache of the drive."""
_SWAP, _EXCLUSIVE = 2, 4
"""Flags of `renamex_np`."""
_LARGEST_TYPE = 4096
_TYPE = slice(72, 88)
"""Where `struct statfs` has the name of the file system."""
_NO_TERMINAL = ("??", "-")


def _run(*words: str) -> str:
    import subprocess

    asked = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, timeout=10)
    return asked.stdout


class MacOS:
    def __init__(self, run: Callable[..., str] = _run, library: Any = None) -> None:
        self._run = run
        self._library = library

    def boot(self) -> str:
        import ctypes

        found, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
        failed = self._calls().sysctlbyname(b"kern.bootsessionuuid", found, ctypes.byref(size), None, 0)
        return "" if failed else found.value.decode("ascii", "replace")

    def uptime(self) -> float:
        return time.clock_gettime(time.CLOCK_MONOTONIC)

    def flush(self, fd: int) -> None:
        try:
            fcntl.fcntl(fd, _FULL_SYNC)
        except OSError as failure:
            if failure.errno not in (errno.ENOTSUP, errno.EINVAL, errno.ENOTTY):
                raise
            os.fsync(fd)  # a file system without it, such as that of a memory card

    def rename(self, source: str, target: str, flag: int) -> int:
        import ctypes

        how = _SWAP if flag == EXCHANGE else _EXCLUSIVE
        while self._calls().renamex_np(os.fsencode(source), os.fsencode(target), how):
            if (failure := ctypes.get_errno()) != errno.EINTR:
                return failure
        return 0

    def file_system(self, path: str) -> str:
        import ctypes

        found = ctypes.create_string_buffer(_LARGEST_TYPE)
        library = self._calls()
        call = getattr(library, "statfs$INODE64", None) or library.statfs
        return "" if call(os.fsencode(path), found) else found.raw[_TYPE].partition(b"\0")[0].decode("ascii", "replace")

    def _calls(self) -> Any:
        if self._library is None:
            import ctypes

            self._library = ctypes.CDLL(None, use_errno=True)
        return self._library

    def folder_left(self) -> str:
        """Hidden: `lsof` would tell it, from a folder that is there."""
        return ""

    def is_running(self, pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except PermissionError:
            return True
        except OSError:
            return False
        return True

    def pids(self) -> list[int]:
        return _numbers(self._run("/bin/ps", "-axo", "pid="))

    def process(self, pid: int) -> Process:
        from holdfast.files.system.port import Process

        said = self._run("/bin/ps", "-ww", "-o", "ppid=,pgid=,tpgid=,tty=,args=", "-p", str(pid)).split(None, 4)
        if len(said) < 4:
            raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
        parent, group, front, terminal = said[:4]
        program = self._run("/bin/ps", "-ww", "-o", "comm=", "-p", str(pid)).strip()
        words = tuple(said[4].split()) if len(said) > 4 else ()
        device = _device(terminal)
        title = os.path.basename(program)
        return Process(pid, int(parent), int(group), os.getsid(pid), device, int(front), title, program, words)

    def environment(self, pid: int) -> list[str]:
        import re

        said = self._run("/bin/ps", "-Eww", "-o", "command=", "-p", str(pid)).strip()
        return re.split(r" (?=[A-Za-z_][A-Za-z0-9_]*=)", said)

    def terminals(self, pid: int) -> set[int]:
        names = self._named("-p", str(pid))
        found = (_device(name.removeprefix("/dev/")) for name in names if name.startswith("/dev/tty"))
        return {device for device in found if device}

    def is_pseudo(self, terminal: int) -> bool:
        return terminal != 0

    def masters(self, terminal: int) -> list[int]:
        """Hidden: each process that has a pseudo-terminal's other end shows the same name for it."""
        return []

    def connected(self, here: int, there: int) -> list[int] | None:
        said = self._run("/usr/sbin/lsof", "-nP", f"-iTCP:{here}", "-sTCP:ESTABLISHED", "-Fpn")
        found, pid = [], 0
        for line in said.splitlines():
            if line.startswith("p"):
                pid = int(line[1:])
            elif line.startswith("n") and line.partition("->")[0].endswith(f":{here}") and line.endswith(f":{there}"):
                found.append(pid)
        return found or None

    def opened(self, path: str) -> int | None:
        found = _numbers(self._run("/usr/sbin/lsof", "-t", "--", os.path.realpath(path)))
        return next((pid for pid in found if pid != os.getpid()), None)

    def locking(self, fd: int) -> int | None:
        """Hidden: who has the file open is asked in its place."""
        return None

    def folders(self, program: str) -> list[tuple[int, str]]:
        said = self._run("/usr/sbin/lsof", "-a", "-c", f"/^{program}$/", "-d", "cwd", "-Fpn")
        found, pid = [], 0
        for line in said.splitlines():
            if line.startswith("p"):
                pid = int(line[1:])
            elif line.startswith("n"):
                found.append((pid, line[1:]))
        return found

    def end_with_parent(self) -> None:
        """There is no such call."""

    def adopt(self) -> None:
        """There is no such call."""

    def children(self, pid: int) -> list[int]:
        rows = (line.split() for line in self._run("/bin/ps", "-axo", "ppid=,pid=").splitlines())
        return [int(row[1]) for row in rows if len(row) == 2 and row[0] == str(pid)]

    def _named(self, *which: str) -> list[str]:
        return [line[1:] for line in self._run("/usr/sbin/lsof", "-Fn", *which).splitlines() if line.startswith("n")]


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split() if word.isdecimal()]


def _device(terminal: str) -> int:
    """The number of a terminal that `ps` names `ttys003` or `s003`; 0 for none."""
    if terminal in _NO_TERMINAL:
        return 0
    name = terminal if terminal.startswith("tty") else f"tty{terminal}"
    try:
        return os.stat(f"/dev/{name}").st_rdev
    except OSError:
        return 0

"""Linux, which tells of processes in `/proc`."""

from __future__ import annotations

import errno
import os
import time
from _collections_abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.files.system.port import Process

_AT_FDCWD = -100
_LARGEST = 1 << 21
"""Bytes; the kernel refuses to be asked for twice as many."""
_MASTERS = ("/dev/ptmx", "/dev/pts/ptmx")
_PSEUDO = range(136, 144)
"""The major numbers of pseudo-terminals."""
_DEATH_SIGNAL, _SUBREAPER, _KILL = 1, 36, 9
"""`PR_SET_PDEATHSIG` and `PR_SET_CHILD_SUBREAPER` of `prctl`, and the signal."""


class Linux:
    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        self._rename: Callable[[str, str, int], int] | None = None

    def boot(self) -> str:
        return self._text("sys/kernel/random/boot_id").strip()

    def uptime(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def flush(self, fd: int) -> None:
        os.fdatasync(fd)

    def rename(self, source: str, target: str, flag: int) -> int:
        if self._rename is None:
            self._rename = _renameat2()
        return self._rename(source, target, flag)

    def file_system(self, path: str) -> str:
        best, kind = "", ""
        for line in self._text("self/mountinfo").splitlines():
            fields, _, rest = line.partition(" - ")
            mount = fields.split(" ")[4].replace("\\040", " ")
            covers = path == mount or path.startswith(mount.rstrip("/") + "/")
            if covers and len(mount) >= len(best):
                best, kind = mount, rest.split(" ")[0]
        return kind

    def folder_left(self) -> str:
        return _link(f"{self._proc}/self/cwd").removesuffix(" (deleted)")

    def is_running(self, pid: int) -> bool:
        return os.path.exists(f"{self._proc}/{pid}")

    def pids(self) -> list[int]:
        try:
            return [int(name) for name in os.listdir(self._proc) if name.isdecimal()]
        except OSError:
            return []

    def process(self, pid: int) -> Process:
        from holdfast.files.system.port import Process

        with open(f"{self._proc}/{pid}/stat", "rb") as file:
            head, _, rest = file.read().decode("utf-8", "replace").rpartition(")")
        with open(f"{self._proc}/{pid}/cmdline", "rb") as file:
            words = file.read(1 << 16).decode("utf-8", "replace").split("\0")
        parent, group, session, terminal, front = map(int, rest.split()[1:6])
        title, program = head.partition("(")[2], _link(f"{self._proc}/{pid}/exe")
        return Process(pid, parent, group, session, terminal, front, title, program, tuple(words))

    def environment(self, pid: int) -> list[str]:
        return self._text(f"{pid}/environ").split("\0")

    def terminals(self, pid: int) -> set[int]:
        found = set()
        for path, number in self._opened(pid):
            if path.startswith(("/dev/pts/", "/dev/tty")) and path not in ("/dev/tty", *_MASTERS):
                try:
                    found.add(os.stat(f"{self._proc}/{pid}/fd/{number}").st_rdev)
                except OSError:
                    continue
        return found

    def is_pseudo(self, terminal: int) -> bool:
        return os.major(terminal) in _PSEUDO

    def masters(self, terminal: int) -> list[int]:
        index = f"tty-index:\t{(os.major(terminal) - _PSEUDO[0]) * 256 + os.minor(terminal)}\n"
        return [pid for pid in self.pids() if self._has_end(pid, index)]

    def _has_end(self, pid: int, index: str) -> bool:
        opened = self._opened(pid)
        return any(path in _MASTERS and index in self._text(f"{pid}/fdinfo/{number}") for path, number in opened)

    def connected(self, here: int, there: int) -> list[int] | None:
        ports = [f"{port:04X}" for port in (here, there)]
        rows = [row.split() for name in ("tcp", "tcp6") for row in self._text(f"net/{name}").splitlines()]
        rows = [row for row in rows if len(row) > 9 and [row[n].rpartition(":")[2] for n in (1, 2)] == ports]
        sockets = {f"socket:[{row[9]}]" for row in rows}
        if not sockets:
            return None
        return [pid for pid in self.pids() if any(path in sockets for path, _ in self._opened(pid))]

    def opened(self, path: str) -> int | None:
        real, others = os.path.realpath(path), (pid for pid in self.pids() if pid != os.getpid())
        return next((pid for pid in others if any(real == one for one, _ in self._opened(pid))), None)

    def locking(self, fd: int) -> int | None:
        held = os.fstat(fd)
        place = f"{os.major(held.st_dev):02x}:{os.minor(held.st_dev):02x}:{held.st_ino}"
        for row in self._text("locks").splitlines():
            match row.split():
                case [_, "FLOCK", _, _, pid, where, *_] if where == place and pid.isdecimal() and pid != "0":
                    return int(pid)
        return None

    def folders(self, program: str) -> list[tuple[int, str]]:
        found = ((pid, f"{self._proc}/{pid}") for pid in self.pids())
        return [(pid, _link(f"{one}/cwd")) for pid, one in found if os.path.basename(_link(f"{one}/exe")) == program]

    def end_with_parent(self) -> None:
        _prctl(_DEATH_SIGNAL, _KILL)

    def adopt(self) -> None:
        _prctl(_SUBREAPER, 1)

    def children(self, pid: int) -> list[int]:
        tasks = f"{self._proc}/{pid}/task"
        try:
            return [
                int(word) for task in os.listdir(tasks) for word in self._text(f"{pid}/task/{task}/children").split()
            ]
        except OSError:
            return []

    def _opened(self, pid: int) -> list[tuple[str, str]]:
        """What a process has open, with the number of each; nothing where it is another user's."""
        folder = f"{self._proc}/{pid}/fd"
        try:
            return [(_link(f"{folder}/{number}"), number) for number in os.listdir(folder)]
        except OSError:
            return []

    def _text(self, name: str) -> str:
        try:
            with open(f"{self._proc}/{name}", "rb") as file:
                return file.read(_LARGEST).decode("utf-8", "replace")
        except OSError:
            return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:  # gone just now, or another user's
        return ""


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _renameat2() -> Callable[[str, str, int], int]:
    import ctypes

    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return lambda source, target, flag: errno.ENOSYS
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def rename(source: str, target: str, flag: int) -> int:
        while call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flag):
            if (failure := ctypes.get_errno()) != errno.EINTR:
                return failure
        return 0

    return rename

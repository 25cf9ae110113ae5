"""What an operating system is asked: boot and clock, syncing and renaming, file systems, processes."""

from __future__ import annotations

from holdfast.core.value import Protocol, Value


class Process(Value):
    """A process as others see it; what they may not see is empty. `front` is the group in front at its terminal."""

    pid: int
    parent: int
    group: int
    session: int
    terminal: int
    front: int
    title: str
    program: str
    words: tuple[str, ...]


class System(Protocol):
    """What an operating system is asked. Methods about processes raise nothing but OSError and ValueError."""

    def boot(self) -> str:
        """What is another one after each start of the machine."""

    def uptime(self) -> float:
        """Seconds that nobody can set, which also count while the machine sleeps."""

    def flush(self, fd: int) -> None:
        """Content and size of a file reach the disk itself, not only its cache."""

    def rename(self, source: str, target: str, flag: int) -> int:
        """0, or the error number; ENOSYS where the system has no such call."""

    def file_system(self, path: str) -> str:
        """The type of the file system a path is on; empty where that cannot be known."""

    def folder_left(self) -> str:
        """The folder of this process, which may be there no more; empty where that cannot be known."""

    def is_running(self, pid: int) -> bool: ...

    def pids(self) -> list[int]: ...

    def process(self, pid: int) -> Process: ...

    def environment(self, pid: int) -> list[str]:
        """The variables a process was started with; nothing where they are hidden."""

    def terminals(self, pid: int) -> set[int]:
        """The device numbers of the terminals that a process has open."""

    def is_pseudo(self, terminal: int) -> bool:
        """Whether a terminal has another end, which a program holds."""

    def masters(self, terminal: int) -> list[int]:
        """The processes that have the other end of a pseudo-terminal."""

    def connected(self, here: int, there: int) -> list[int] | None:
        """The processes that have the end of a connection between two ports; None where there is no such connection."""

    def opened(self, path: str) -> int | None:
        """A process that has this file or folder open."""

    def locking(self, fd: int) -> int | None:
        """The process that holds the lock of an open file."""

    def folders(self, program: str) -> list[tuple[int, str]]:
        """The processes that run a program of this name, and the folder that each is in."""

    def end_with_parent(self) -> None:
        """This process is killed when the one that started it ends, where the system can do that."""

    def adopt(self) -> None:
        """Processes below this one become its children when those between them end, where the system can do that."""

    def children(self, pid: int) -> list[int]:
        """The processes that a process is the parent of."""

"""`.holdfast/runs/ULID/`: what hosts said, what was booked of it, who runs the workflow, and whether to stop."""

from __future__ import annotations

import os
from _collections_abc import Iterator, Mapping
from contextlib import suppress
from json import JSONDecodeError, dumps, loads

from holdfast.core.value import Any
from holdfast.files.locks import FileLock
from holdfast.files.replace import make_directories, write_private

KEPT = 20
"""How many sessions of a workflow are kept, the newest."""
LARGEST = 64 << 20
"""How much a host may say in one session."""
STOP, NOW = "turn", "now"


class Folder:
    def __init__(self, home: str, ulid: str) -> None:
        self.path = os.path.join(home, "runs", ulid)
        self._lock: FileLock | None = None

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    def take(self) -> bool:
        """Whether this process is the runner from now on. The system lets go of the lock when it ends, however."""
        make_directories(self.path, 0o700)
        self._lock = FileLock(self.file("lock"), 0.0)
        return self._lock.take(or_leave=True)

    def is_taken(self) -> bool:
        """Whether somebody runs the workflow now."""
        if not os.path.exists(self.file("lock")):
            return False
        lock = FileLock(self.file("lock"), 0.0)
        if not lock.take(or_leave=True):
            return True
        lock.release()
        lock.close()
        return False

    def let_go(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock.close()
            self._lock = None

    # The lease, and how the run stands

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        write_private(self.file(name), dumps(value).encode())

    def read(self, name: str) -> dict[str, Any]:
        """Empty where it is not there, or torn."""
        try:
            with open(self.file(name), "rb") as file:
                found = loads(file.read(1 << 16))
        except (OSError, JSONDecodeError, UnicodeDecodeError):
            return {}
        return found if isinstance(found, dict) else {}

    def tell(self, name: str, value: Mapping[str, Any]) -> None:
        """Notes how the run stands, and touches the folder of all runs: those who look there see that something is
        new by one look for all of them.
        """
        self.write(name, value)
        self._touch()

    def end(self) -> None:
        self.forget("now")
        self._touch()

    def _touch(self) -> None:
        with suppress(OSError):
            os.utime(os.path.dirname(self.path))

    def standing(self, revision: int) -> dict[str, Any]:
        """How the turn stands; where nobody runs the workflow, why the last run ended for a person, unless something
        happened to the workflow since.
        """
        found = self.now() or (self.read("ended") if os.path.exists(self.file("ended")) else {})
        return found if "ended" not in found or found.get("revision") == revision else {}

    def now(self) -> dict[str, Any]:
        """How the turn of a host stands, where somebody runs the workflow; empty where nobody does."""
        found = self.read("now") if os.path.exists(self.file("now")) else {}
        return found if found and self.is_taken() else {}

    def forget(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.file(name))

    def ask_stop(self, how: str) -> None:
        self.write("stop", {"how": how})

    def asked_to_stop(self) -> str:
        return str(self.read("stop").get("how") or "") if os.path.exists(self.file("stop")) else ""

    # Sessions

    def prompt(self, session: str, text: str) -> str:
        """The file with what a host is asked in its next turn."""
        path = self.file(f"{session}.prompt")
        write_private(path, text.encode())
        return path

    def sessions(self) -> list[str]:
        """The sessions that are kept, the oldest first."""
        try:
            names = [name for name in os.listdir(self.path) if name.endswith(".ledger")]
        except FileNotFoundError:
            return []
        return [name.removesuffix(".ledger") for name in sorted(names, key=self._age)]

    def _age(self, name: str) -> int:
        try:
            return os.stat(self.file(name)).st_mtime_ns
        except OSError:
            return 0

    def prune(self) -> None:
        for session in self.sessions()[:-KEPT]:
            for ending in ("jsonl", "err", "prompt", "ledger"):
                self.forget(f"{session}.{ending}")

    def append(self, name: str, value: Mapping[str, Any]) -> None:
        """One line more, which is on the disk when this returns."""
        fd = os.open(self.file(name), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(fd).st_size
            torn = b"\n" if size and os.pread(fd, 1, size - 1) != b"\n" else b""
            os.write(fd, torn + dumps(value).encode() + b"\n")
            os.fdatasync(fd) if hasattr(os, "fdatasync") else os.fsync(fd)
        finally:
            os.close(fd)

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [value for _, value in read_lines(self.file(name), 0)]

    def open_output(self, name: str) -> int:
        return os.open(self.file(name), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def size(self, name: str) -> int:
        try:
            return os.stat(self.file(name)).st_size
        except FileNotFoundError:
            return 0

    def end_of(self, name: str, most: int = 2000) -> str:
        """The last words in a file."""
        try:
            with open(self.file(name), "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - most))
                return file.read(most).decode("utf-8", "replace").strip()
        except FileNotFoundError:
            return ""


def read_lines(path: str, offset: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The whole lines of a file from an offset on, each with where it ends; what is no object is an empty one."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return
    with file:
        file.seek(offset)
        for line in file:
            if not line.endswith(b"\n"):
                return
            offset += len(line)
            try:
                value = loads(line)
            except (JSONDecodeError, UnicodeDecodeError, RecursionError):
                value = {}
            yield offset, value if isinstance(value, dict) else {}

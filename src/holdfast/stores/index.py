"""The index: what there is, without opening every journal.

It names the active workflows, the newest finished ones and how many there are. A workflow whose entry is about to
change leaves a durable mark first, so that a process that dies in between leaves nothing out.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator

from holdfast.codec import decode, encode, parse, to_text
from holdfast.core.names import is_ulid
from holdfast.ports import Entry
from holdfast.stores.locks import locked, unlock
from holdfast.stores.replace import durable_write, flush, make_directories, remove

NEWEST = 100


class Mark:
    """Held by the process that changes a workflow's entry; what is left of a dead one's can be seen by others."""

    def __init__(self, path: str, wait: float) -> None:
        self._path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            locked(self._fd, path, wait)
        except BaseException:
            os.close(self._fd)
            raise

    def release(self) -> None:
        """The entry is in the index."""
        remove(self._path)
        os.close(self._fd)

    def abandon(self) -> None:
        """Nothing was changed after all, or nobody knows: whoever looks next finds out."""
        os.close(self._fd)


class Index:
    def __init__(self, home: str, wait: float) -> None:
        self._path = os.path.join(home, "index")
        self._marks = os.path.join(home, "unsettled")
        self._home = home
        self._wait = wait
        self._seen: tuple[tuple[int, int, int], dict[str, Entry], int] | None = None

    def mark(self, ulid: str) -> Mark:
        """Says durably, before it happens, that a workflow's entry is about to change."""
        make_directories(self._marks, 0o700)
        mark = Mark(os.path.join(self._marks, ulid), self._wait)
        folder = os.open(self._marks, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            flush(folder)
        finally:
            os.close(folder)
        return mark

    def marked(self) -> list[str]:
        """Workflows whose writer died before the index knew. A mark that is still held belongs to a living one."""
        try:
            names = [name for name in os.listdir(self._marks) if is_ulid(name)]
        except FileNotFoundError:
            return []
        return [name for name in sorted(names) if self._left_behind(name)]

    def read(self, rebuild: Callable[[], Iterator[Entry]]) -> tuple[dict[str, Entry], int]:
        """Entries by ULID, and how many finished workflows there are in all."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return self._rebuilt(rebuild) if os.path.isdir(os.path.join(self._home, "journal")) else ({}, 0)
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._seen and self._seen[0] == stamp:
            return self._seen[1], self._seen[2]
        try:
            with open(self._path, "rb") as file:
                data = parse(file.read())
            entries = {item["ulid"]: decode(Entry, item) for item in (*data["active"], *data["finished"])}
            finished = int(data["finished_count"])
        except (ValueError, KeyError, TypeError):
            return self._rebuilt(rebuild)
        self._seen = (stamp, entries, finished)
        return entries, finished

    def put(self, entry: Entry, rebuild: Callable[[], Iterator[Entry]]) -> None:
        """Replaces one entry, durably."""
        folder = self._lock()
        try:
            entries, finished = self.read(rebuild)
            old = entries.get(entry.ulid)
            if entry.says_the_same_as(old):
                return
            finished += (not entry.active) - (old is not None and not old.active)
            self._write({**entries, entry.ulid: entry}, max(0, finished))
        finally:
            unlock(folder)
            os.close(folder)

    def drop(self, ulids: set[str], rebuild: Callable[[], Iterator[Entry]]) -> None:
        """Forgets finished workflows whose journals were archived."""
        folder = self._lock()
        try:
            entries, finished = self.read(rebuild)
            kept = {ulid: entry for ulid, entry in entries.items() if ulid not in ulids}
            self._write(kept, max(0, finished - len(ulids)))
        finally:
            unlock(folder)
            os.close(folder)

    def rebuild(self, entries: Callable[[], Iterator[Entry]]) -> None:
        folder = self._lock()
        try:
            self._rebuilt(entries)
        finally:
            unlock(folder)
            os.close(folder)

    def _rebuilt(self, rebuild: Callable[[], Iterator[Entry]]) -> tuple[dict[str, Entry], int]:
        entries = {entry.ulid: entry for entry in rebuild()}
        finished = sum(not entry.active for entry in entries.values())
        self._write(entries, finished)
        return entries, finished

    def _write(self, entries: dict[str, Entry], finished: int) -> None:
        active = [entry for entry in entries.values() if entry.active]
        ended = sorted((e for e in entries.values() if not e.active), key=lambda e: e.updated_at)[-NEWEST:]
        data = {"active": encode(active), "finished": encode(ended), "finished_count": finished}
        durable_write(self._path, to_text(data).encode(), dir_mode=0o700)
        self._seen = None

    def _lock(self) -> int:
        folder = os.open(self._home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            locked(folder, self._home, self._wait)
        except BaseException:
            os.close(folder)
            raise
        return folder

    def _left_behind(self, ulid: str) -> bool:
        try:
            fd = os.open(os.path.join(self._marks, ulid), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(fd)
        return True

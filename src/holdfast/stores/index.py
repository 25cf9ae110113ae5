"""The index: what there is, without opening every journal.

It names the active workflows, the newest finished ones and how many there are. A workflow whose entry is about to
change leaves a durable mark first, so that a process that dies in between leaves nothing out.
"""

from __future__ import annotations

import fcntl
import os
from _collections_abc import Callable, Iterator

from holdfast.core.names import is_ulid
from holdfast.core.value import Any
from holdfast.engine.codec import decode, encode
from holdfast.engine.ports import Entry, refuse_second
from holdfast.errors import HoldfastError
from holdfast.files.locks import Locked
from holdfast.files.replace import (
    durable_write,
    hand_over,
    make_directories,
    not_written,
    read_file,
    remove,
    sync_directories,
)
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact, parse

NEWEST = 100
_FINISHED = b',"finished":'


class Mark:
    """Held by every process that is changing a workflow's entry; one that nobody holds was left by a dead process.

    Several may hold it at once, so that nobody waits for it with a journal locked. `before` is the entry until now.
    """

    def __init__(self, path: str, before: Entry | None) -> None:
        self.before = before
        self._path = path
        while True:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                hand_over(self._fd, os.path.dirname(path))
                fcntl.flock(self._fd, fcntl.LOCK_SH)  # held exclusively only for the moment of a removal
                if os.path.samestat(os.fstat(self._fd), os.stat(path)):
                    return
            except FileNotFoundError:
                pass
            except BaseException:
                os.close(self._fd)
                raise
            os.close(self._fd)  # its last holder removed it meanwhile

    def release(self) -> None:
        """The entry is in the index. The last one to hold the mark takes it away."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(self._path)
        except BlockingIOError:
            pass
        finally:
            os.close(self._fd)

    def abandon(self) -> None:
        """Nothing was changed after all, or nobody knows: the next reader detects it."""
        os.close(self._fd)


class Listing:
    """What the index says. Most questions are about the active workflows, so the others are read when asked for."""

    def __init__(self, active: dict[str, Entry], finished: bytes, count: int, *, has_unpublished: bool = False) -> None:
        self.active = active
        self.finished_count = count
        self.has_unpublished = has_unpublished
        self._finished = finished

    def all(self) -> dict[str, Entry]:
        return {**self.active, **_entries(parse(self._finished))}


def _entries(items: list[dict[str, Any]]) -> dict[str, Entry]:
    return {item["ulid"]: decode(Entry, item) for item in items}


def unkept(entries: Iterator[Entry]) -> Listing:
    """What an index of these would say."""
    known = list(entries)
    finished = [entry for entry in known if not entry.active]
    active = {entry.ulid: entry for entry in known if entry.active}
    has_unpublished = any(entry.to_finalize for entry in finished)
    return Listing(active, compact(encode(finished[-NEWEST:])).encode(), len(finished), has_unpublished=has_unpublished)


class Index:
    def __init__(self, home: str, wait: float) -> None:
        self.path = os.path.join(home, "index")
        self._marks = os.path.join(home, "unsettled")
        self._home = home
        self._wait = wait
        self._seen: tuple[tuple[int, int, int], Listing] | None = None

    def mark(self, ulid: str, before: Entry | None = None) -> Mark:
        """Says durably, before it happens, that a workflow's entry is about to change."""
        path = os.path.join(self._marks, ulid)
        try:
            made = make_directories(self._marks, 0o700)
            mark = Mark(path, before)
            try:
                sync_directories(self._marks, made)
            except BaseException:
                mark.abandon()
                raise
        except OSError as failure:
            raise not_written(path, failure) from failure
        return mark

    def marked(self) -> list[str]:
        """Workflows whose writer died before the index knew. A mark that is still held belongs to a living one."""
        return [name for name in self.announced() if self._left_behind(name)]

    def announced(self) -> list[str]:
        """Workflows whose entry is about to change, or was when a process died."""
        try:
            return sorted(name for name in os.listdir(self._marks) if is_ulid(name))
        except FileNotFoundError:
            return []

    def read(self, rebuild: Callable[[], Iterator[Entry]]) -> Listing:
        """The entries, and how many finished workflows there are in all."""
        found = self.stored()
        if found is None:
            if not os.path.isdir(os.path.join(self._home, "journal")):
                return Listing({}, b"[]", 0)
            with Locked(self._home, self._wait):
                found = self.stored() or self._rebuilt(rebuild)
        return found

    def add(self, entry: Entry, make: Callable[[], Entry], rebuild: Callable[[], Iterator[Entry]]) -> None:
        """Names a new workflow, which `make` brings about, unless one that is there is in its way."""
        with Locked(self._home, self._wait):
            entries, finished = self._known(rebuild)
            refuse_second(entry, entries.values())
            entry = make()
            try:
                self._write({**entries, entry.ulid: entry}, finished + (not entry.active))
            except HoldfastError:
                pass  # it is there, and its mark says that the index may not know

    def put(
        self, ulid: str, newest: Callable[[], Entry], before: Entry | None, rebuild: Callable[[], Iterator[Entry]]
    ) -> None:
        """Replaces one entry, durably, by what `newest` gives once nobody else can write the index."""
        with Locked(self._home, self._wait):
            entries, finished = self._known(rebuild)
            entry, old = newest(), entries.get(ulid)
            if entry.says_the_same_as(old):
                return
            old = old or before
            finished += (not entry.active) - (old is not None and not old.active)
            self._write({**entries, ulid: entry}, max(0, finished))

    def drop(self, ulids: set[str], rebuild: Callable[[], Iterator[Entry]]) -> None:
        """Forgets finished workflows whose journals were archived."""
        with Locked(self._home, self._wait):
            entries, finished = self._known(rebuild)
            kept = {ulid: entry for ulid, entry in entries.items() if ulid not in ulids}
            self._write(kept, max(0, finished - len(ulids)))

    def rebuild(self, entries: Callable[[], Iterator[Entry]]) -> None:
        with Locked(self._home, self._wait):
            self._rebuilt(entries)

    def _known(self, rebuild: Callable[[], Iterator[Entry]]) -> tuple[dict[str, Entry], int]:
        found = self.stored() or self._rebuilt(rebuild)
        return found.all(), found.finished_count

    def entry(self, ulid: str) -> Entry | None:
        """What the file says of a workflow, unless that may have changed since."""
        listing = self.stored()
        return listing.all().get(ulid) if listing and ulid not in self.announced() else None

    def stored(self) -> Listing | None:
        """What the file says; None when it is missing or damaged. The seal covers what is read later."""
        try:
            found = os.stat(self.path)
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
            if self._seen and self._seen[0] == stamp:
                return self._seen[1]
            first, _, last = read_file(self.path).partition(_FINISHED)
            data, finished = parse(first + b"}"), last[:-1]
            if data["seal"] != digest(finished):
                return None
            count, left = int(data["finished_count"]), "left" in data
            listing = Listing(_entries(data["active"]), finished, count, has_unpublished=left)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        self._seen = (stamp, listing)
        return listing

    def _rebuilt(self, rebuild: Callable[[], Iterator[Entry]]) -> Listing:
        entries = {entry.ulid: entry for entry in rebuild()}
        return self._write(entries, sum(not entry.active for entry in entries.values()))

    def _write(self, entries: dict[str, Entry], finished: int) -> Listing:
        active = {ulid: entry for ulid, entry in entries.items() if entry.active}
        over = [entry for entry in entries.values() if not entry.active]
        ended = sorted(over, key=lambda e: (e.to_finalize, e.updated_at))[-NEWEST:]
        last = compact(encode(ended)).encode()
        left = {"left": True} if any(entry.to_finalize for entry in ended) else {}  # hooks look for it at this place
        first = {"active": encode(list(active.values())), **left, "finished_count": finished, "seal": digest(last)}
        data = compact(first).encode()[:-1] + _FINISHED + last + b"}"
        durable_write(self.path, data, dir_mode=0o700, alone=True)
        self._seen = None
        return Listing(active, last, finished, has_unpublished=bool(left))

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

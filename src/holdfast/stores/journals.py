"""The journal files of a home: where each lies, which are open, and what is known beside them."""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core import remedies
from holdfast.core.names import is_ulid
from holdfast.core.state import State
from holdfast.errors import Broken, HoldfastError, NotFound
from holdfast.stores.index import Index
from holdfast.stores.journal import Journal
from holdfast.stores.lines import Line
from holdfast.stores.opened import Opened
from holdfast.stores.snapshots import Snapshots, entries
from holdfast.stores.witness import Seen, Witness, lines_missing

OPEN_AT_ONCE = 64
"""How many files may be open: a list of many workflows must not use up the descriptors of the process."""
WORKFLOWS_AT_ONCE = OPEN_AT_ONCE // 3
"""Each has a journal and the two records beside it."""


class Journals:
    def __init__(self, home: str, wait: float, snapshots: Snapshots, index: Index, outside: str = "") -> None:
        self._home = home
        self._wait = wait
        self._snapshots = snapshots
        self._index = index
        self._outside = outside
        self._open: dict[str, Opened] = {}

    def path(self, ulid: str) -> str:
        """Sharded by the last two characters, which are random: the first are the time."""
        if not is_ulid(ulid):
            raise NotFound("no_journal", f"{ulid[:40]!r} is not the id of a workflow", remedy=remedies.listing())
        return os.path.join(self._home, "journal", ulid[-2:].lower(), f"{ulid}.jsonl")

    def has(self, ulid: str) -> bool:
        return is_ulid(ulid) and os.path.exists(self.path(ulid))

    def every(self) -> Iterator[str]:
        yield from _ulids(os.path.join(self._home, "journal"), ".jsonl")
        for ulid in sorted({*_ulids(os.path.join(self._home, "state"), ".last"), *self._recorded_outside()}):
            if not self.has(ulid) and self.witness(ulid).newest():
                yield ulid  # its journal is gone as a whole

    def _recorded_outside(self) -> list[str]:
        try:
            return list(filter(is_ulid, os.listdir(self._outside))) if self._outside else []
        except OSError:
            return []

    def was_born(self, ulid: str) -> bool:
        """Whether somebody was told of the workflow: not before its first line is there."""
        return self.has_line(ulid) or self.witness(ulid).newest() is not None

    def has_line(self, ulid: str) -> bool:
        try:
            with Journal(self.path(ulid), wait=self._wait) as journal:
                return any(True for _ in journal.history())
        except NotFound:
            return False
        except HoldfastError:
            return True  # damaged, which is for a person to see

    def whole_lines(self, ulid: str) -> bytes:
        with Journal(self.path(ulid), wait=self._wait) as journal:
            journal.synced_read()
            return journal.content()

    def witness(self, ulid: str) -> Witness:
        return self._snapshots.witness(ulid, self._wait)

    def seen(self, ulid: str) -> Seen | None:
        """The newest line of a journal that was acknowledged, as far as is known beside it."""
        seen = self.witness(ulid).newest()
        if seen is None and (entry := self._index.entry(ulid)) and entry.sum:
            return Seen(entry.revision, entry.sum)
        return seen

    def opened(self, ulid: str) -> Opened:
        """A handle of its own, which has read what is there."""
        try:
            return self._read(ulid)
        except Broken as lost:
            if lost.code != "lines_missing":
                raise
            try:
                with self.witness(ulid):
                    return self._read(ulid)  # nobody puts another file in its place meanwhile
            except OSError:
                raise lost from None

    def _read(self, ulid: str) -> Opened:
        path, seen = self.path(ulid), self.seen(ulid)  # before the journal, which may have more by then
        try:
            journal = Journal(path, wait=self._wait, witness=self.witness(ulid))
        except NotFound:
            if seen is None or self.witness(ulid).newest() is None:
                raise
            raise lines_missing(path, 1, seen.seq) from None
        return Opened.read(journal, self._snapshots, ulid, seen)

    def handle(self, ulid: str) -> Opened:
        handle = self._open.get(ulid)
        if handle and handle.journal.overtaken:
            self.forget(ulid)
            handle = None
        if handle is None or handle.resting:
            awake = [other for other in list(self._open.values()) if not other.resting]
            for other in awake if len(awake) >= WORKFLOWS_AT_ONCE else ():
                other.rest()
        if handle is None:
            made = self.opened(ulid)
            handle = self._open.setdefault(ulid, made)
            if handle is not made:
                made.journal.close()
        handle.resting = False
        return handle

    def keep(self, ulid: str, handle: Opened) -> None:
        self._open[ulid] = handle

    def taken(self, ulid: str, handle: Opened, lines: list[Line]) -> State:
        try:
            return handle.take(lines)
        except Broken:
            # The journal has gone past lines that could not be folded: the next look must start over.
            self._open.pop(ulid, None)
            handle.journal.close()
            raise

    def forget(self, ulid: str) -> None:
        handle = self._open.pop(ulid, None)
        if handle:
            handle.journal.close()

    def close(self) -> None:
        for handle in self._open.values():
            handle.journal.close()


def _ulids(folder: str, ending: str) -> Iterator[str]:
    """The workflows that have a file in one of the shards of a folder."""
    for _, name in entries(folder):
        ulid = name.removesuffix(ending)
        if is_ulid(ulid):
            yield ulid

"""The embedded store: one journal file a workflow, a snapshot of its fold, and an index."""

from __future__ import annotations

import os
from _collections_abc import Callable, Iterator, Sequence

from holdfast.core import queries, remedies
from holdfast.core.apply import Record
from holdfast.core.names import checked, is_ulid
from holdfast.core.state import State
from holdfast.engine.codec import encode_record
from holdfast.engine.ports import (
    Changes,
    Copy,
    Cursor,
    Entry,
    Examined,
    Fault,
    Standing,
    View,
    changes_between,
    entry_of,
    standing,
)
from holdfast.errors import HoldfastError, NotFound, Refused
from holdfast.files.locks import Locked
from holdfast.files.replace import make_directories, remove, sync_directories
from holdfast.machine.place import regular
from holdfast.stores.index import NEWEST, Index, Listing, Mark, unkept
from holdfast.stores.journal import Journal
from holdfast.stores.journals import WORKFLOWS_AT_ONCE, Journals
from holdfast.stores.opened import Opened, record_of
from holdfast.stores.shown import ShowingHere, ShownFile
from holdfast.stores.snapshots import Snapshots


def _entry(state: State, journal: Journal) -> Entry:
    durable = journal.durable
    return entry_of(state).replace(sum=durable.sum) if durable and durable.seq == state.revision else entry_of(state)


class FilesStore:
    def __init__(
        self,
        home: str,
        *,
        wait: float = 10.0,
        refusal: Callable[[], HoldfastError | None] = lambda: None,
        outside: str = "",
    ) -> None:
        """`outside` is a folder that is not restored or removed together with the home."""
        self._home = home
        self._refusal = refusal
        self._wait = wait
        self._index = Index(home, wait)
        self._snapshots = Snapshots(home, outside)
        self._journals = Journals(home, wait, self._snapshots, self._index, outside)
        self._marks: dict[str, list[Mark]] = {}
        self._shown: dict[str, ShownFile] = {}
        self._watched: tuple[dict[str, Entry], list[tuple[str, str, str]]] = ({}, [])

    def __del__(self) -> None:
        self.close()
        for mark in (mark for marks in self._marks.values() for mark in marks):
            mark.abandon()

    def close(self) -> None:
        """Closes all files. One that is needed again is opened again."""
        self._journals.close()
        for file in self._shown.values():
            file.close()

    @property
    def read_only(self) -> HoldfastError | None:
        return self._refusal()

    def _require_writable(self) -> None:
        refusal = self._refusal()
        if refusal is not None:
            raise refusal

    def create(self, record: Record, state: State) -> None:
        self._require_writable()
        ulid = state.ulid

        def make() -> Entry:
            path, body, witness = self.file_of(ulid), encode_record(record).encode(), self._journals.witness(ulid)
            journal = Journal.create(path, body, wait=self._wait, witness=witness)
            self._journals.keep(ulid, Opened(journal, state))
            return _entry(state, journal)

        self._marks[ulid] = [self._added(state, make)]

    def load(self, ulid: str) -> State:
        handle = self._journals.handle(ulid)
        with handle.lock:
            state = self._journals.taken(ulid, handle, handle.journal.synced_read())
            handle.snapshot_when_due(self._snapshots, lambda: self.read_only is None)
            return state

    def newest(self, ulid: str) -> State:
        handle = self._journals.handle(ulid)
        with handle.lock:
            return self._journals.taken(ulid, handle, handle.journal.read())

    def commit(
        self,
        ulid: str,
        change: Callable[[State], tuple[Record, State] | None],
        meanwhile: Callable[[State], None] | None = None,
    ) -> State:
        self._require_writable()
        handle = self._journals.handle(ulid)
        with handle.lock:
            with handle.journal.writing() as lines:
                before = self._journals.taken(ulid, handle, lines)
                changed = change(before)
                if changed is not None:
                    record, after = changed
                    handle.journal.vouch()
                    if standing(after) != standing(before):
                        self._marks.setdefault(ulid, []).append(self._index.mark(ulid, entry_of(before)))
                    handle.journal.append(encode_record(record).encode())
                    handle.state = after
            try:
                kept = handle.state
                handle.journal.sync((lambda: meanwhile(kept)) if meanwhile and kept else None)
            except HoldfastError:
                self._journals.forget(ulid)
                for mark in self._marks.pop(ulid, ()):
                    mark.abandon()
                raise
            state = handle.state
            assert state is not None
            handle.snapshot_when_due(self._snapshots)
            return state

    def settle(self, state: State, then: Callable[[], None] | None = None) -> None:
        ulid = state.ulid
        marks: list[Mark] = []
        if ulid in self._marks:
            with self._journals.handle(ulid).lock:  # so that what each mark announced has been written
                marks = self._marks.pop(ulid, [])
        try:
            if marks:
                # Another thread or process may have continued since: the index gets what holds when it is written.
                self._index.put(ulid, lambda: self._entry(ulid), marks[0].before, self._rebuilt)
            if then:
                then()
        except BaseException:
            for mark in marks:
                mark.abandon()
            raise
        for mark in marks:
            mark.release()

    def history(self, ulid: str, after: int = 0, until: int = 0) -> Iterator[Record]:
        journal = self._journals.handle(ulid).journal
        for line in journal.history(after):
            if until and line.seq > until:
                return
            yield record_of(line, journal.path)

    def exclusively(self, name: str, wait: float | None = None) -> Locked:
        """The lock of a folder below the home, which is made where it is missing."""
        self._require_writable()
        return Locked(os.path.join(self._home, name), self._wait if wait is None else wait)

    def shown(self, ulid: str) -> View | None:
        return self._shown_file(ulid).read(self._journals.handle(ulid).journal.inode)

    def showing(self, ulid: str, *, hand_over: bool = False) -> ShowingHere | None:
        inode, file = self._journals.handle(ulid).journal.inode, self._shown_file(ulid)
        return ShowingHere(file, inode) if file.take(or_leave=hand_over) else None

    def _shown_file(self, ulid: str) -> ShownFile:
        known = self._shown.get(ulid)
        if known is None:
            if len(self._shown) >= WORKFLOWS_AT_ONCE:
                for other in list(self._shown.values()):
                    other.close()
                self._shown = {}
            known = self._shown.setdefault(ulid, ShownFile(self._snapshots.shown(ulid), self._wait))
        return known

    def has(self, ulid: str) -> bool:
        return self._journals.has(ulid)

    def every(self) -> Iterator[str]:
        return self._journals.every()

    def stamp(self, ulid: str) -> str:
        found = self._stat(ulid)
        return f"{found.st_ino}.{found.st_size}.{found.st_mtime_ns}" if found else ""

    def touched(self, ulid: str) -> float:
        found = self._stat(ulid)
        return found.st_mtime if found else 0.0

    def _stat(self, ulid: str) -> os.stat_result | None:
        try:
            return os.stat(self.file_of(ulid)) if is_ulid(ulid) else None
        except FileNotFoundError:
            return None

    def changes(self, since: Cursor | None = None, only: Sequence[str] = ()) -> Changes:
        if only:
            return changes_between(since, {ulid: (ulid, stamp) for ulid in only if (stamp := self.stamp(ulid))})
        listed, files = self._listing().active, self._watched[1]
        if listed is not self._watched[0]:
            files = [(entry.ulid, entry.id, self.file_of(entry.ulid)) for entry in listed.values()]
            self._watched = (listed, files)
        now: dict[str, tuple[str, object]] = {}
        for ulid, id_, file in files:
            try:
                found = os.stat(file)
            except FileNotFoundError:
                continue
            now[ulid] = (id_, (found.st_ino, found.st_size, found.st_mtime_ns))
        return changes_between(since, now)

    def begins_with(self, ulid: str, data: bytes) -> bool:
        try:
            return self.has(ulid) and regular(self.file_of(ulid), len(data)) == data
        except OSError:
            return False

    def examine_copy(self, data: bytes, name: str) -> Copy:
        from holdfast.stores.copies import examined

        return examined(data, name)

    def export(self, ulid: str) -> bytes:
        handle = self._journals.handle(ulid)
        with handle.lock:
            self._journals.taken(ulid, handle, handle.journal.synced_read())
            return handle.journal.content()

    def compare(self, data: bytes, name: str = "the copy") -> Standing:
        from holdfast.stores.copies import compared

        copy = self.examine_copy(data, name)
        return compared(copy, self._journals.whole_lines(copy.ulid) if self._journals.has_line(copy.ulid) else None)

    def fast_forward(self, data: bytes, name: str = "the copy") -> State:
        return self._took(data, name)

    def supersede(self, data: bytes, kept: str, name: str = "the copy") -> State:
        return self._took(data, name, checked(kept, "journal to keep"))

    def entries(self) -> list[Entry]:
        entries = self._listing().all()
        return sorted(entries.values(), key=lambda entry: (not entry.active, entry.ulid))

    def active(self) -> list[Entry]:
        return sorted(self._listing().active.values(), key=lambda entry: entry.ulid)

    def unpublished(self) -> list[Entry]:
        return [entry for entry in self.entries() if entry.to_finalize] if self._listing().has_unpublished else []

    def finished_count(self) -> int:
        return self._listing().finished_count

    def _listing(self) -> Listing:
        """What the index says. Where it cannot be brought up to date, what the journals say is told and not kept."""
        if self.read_only is None:
            return self._index.read(self._rebuilt)
        found = self._index.stored()
        return found if found and not self.announced() else unkept(self._rebuilt())

    def started_with(self, key: str) -> Entry | None:
        found = next((entry for entry in self.entries() if entry.key == key), None) if key else None
        if found or not key or self.finished_count() < NEWEST:
            return found
        from holdfast.stores.keys import Keys

        ulid = Keys(self._home).started_with(key, self.every(), self._key_of)
        return self._entry(ulid) if ulid else None

    def _key_of(self, ulid: str) -> str | None:
        try:
            with Journal(self.file_of(ulid), wait=self._wait) as journal:
                return next(record_of(line, journal.path).key for line in journal.history())
        except (HoldfastError, StopIteration):
            return None

    def find(self, word: str) -> list[Entry]:
        entries = self.entries()
        found = [entry for entry in entries if entry.id.startswith(word) or entry.ulid.startswith(word)]
        if found or self.finished_count() <= sum(not entry.active for entry in entries):
            return found
        if is_ulid(word):
            return [entry_of(self.load(word))] if self.has(word) else []
        return [entry for entry in self._rebuilt() if entry.id.startswith(word)]

    def announced(self) -> list[str]:
        return self._index.announced()

    def unsettled(self) -> list[str]:
        """Workflows whose writer died before the index knew; the mark goes when they are settled."""
        left = []
        for ulid in self._index.marked() if self.read_only is None else ():
            mark = self._index.mark(ulid)
            if self._journals.was_born(ulid):
                self._marks.setdefault(ulid, []).append(mark)
                left.append(ulid)
            else:
                self._discard(ulid, mark)
        return left

    def _discard(self, ulid: str, mark: Mark) -> None:
        """Removes a journal that never came to be, unless someone has just brought its lines from a copy."""
        never = False
        try:
            with Locked(self._home, self._wait):
                never = not self._journals.was_born(ulid)
                if never:
                    remove(self.file_of(ulid))
                    mark.release()
        finally:
            if not never:
                mark.abandon()

    def rebuild(self) -> None:
        self._require_writable()
        self._index.rebuild(self._rebuilt)
        for path in self._snapshots.stray(self.has):
            remove(path)

    def archive(self, ulid: str) -> str:
        self._require_writable()
        target = os.path.join(self._home, "archive", os.path.basename(self.file_of(ulid)))
        handle = self._journals.handle(ulid)
        with handle.lock, handle.journal.writing() as lines:
            if queries.is_active(self._journals.taken(ulid, handle, lines)):
                said = f"{ulid} is active, and only what is finished is archived"
                raise Refused("still_active", said, remedy=remedies.cancel(workflow=ulid), facts={"workflow": ulid})
            make_directories(os.path.dirname(target), 0o700)
            with self._journals.witness(ulid) as witness:
                witness.clear()
                os.rename(self.file_of(ulid), target)
        self._journals.forget(ulid)
        self._snapshots.drop(ulid, gone=True)
        self._index.drop({ulid}, self._rebuilt)
        return target

    def delete(self, ulids: Sequence[str]) -> None:
        """The index is made again: how many of them it counted as finished may be unknown by now."""
        self._require_writable()
        for ulid in ulids:
            self._journals.forget(ulid)
            for mark in self._marks.pop(ulid, ()):
                mark.abandon()
            with self._journals.witness(ulid) as witness:
                witness.clear()
                remove(self.file_of(ulid))
            self._snapshots.drop(ulid, gone=True)
            if os.path.isdir(os.path.dirname(self.file_of(ulid))):
                sync_directories(os.path.dirname(self.file_of(ulid)), [])
        if ulids:
            self.rebuild()

    def examine(self, ulid: str) -> Examined:
        from holdfast.stores.examination import examined, read

        path, found, seen = self.file_of(ulid), self._stat(ulid), self._journals.seen(ulid)
        if found is None and seen is None:
            raise NotFound("no_journal", f"there is no journal at {path}", remedy=remedies.listing())
        size = found.st_size if found else 0
        return examined(ulid, path, size, read(path, seen), self._snapshots.kept(ulid))

    def repair(self, ulid: str, examined: Examined) -> str:
        from holdfast.stores.examination import cut

        self._require_writable()
        if not examined.can_be_cut:
            self._snapshots.drop(ulid)
            return ""
        mark = self._index.mark(ulid)  # until it is settled, the index may speak of lines that are given up
        try:
            with self._journals.witness(ulid) as witness:
                witness.clear()
                kept = cut(self._home, examined, self._snapshots, self._wait)
        finally:
            mark.abandon()
        self._journals.forget(ulid)
        return kept

    def faults(self, examined: Sequence[Examined]) -> list[Fault]:
        from holdfast.stores.examination import faults

        return faults(self._home, self._index, self._snapshots.stray(self.has), examined)

    def file_of(self, ulid: str) -> str:
        return self._journals.path(ulid)

    def _added(self, state: State, make: Callable[[], Entry]) -> Mark:
        """Names a new workflow that `make` brings about; the mark is held until its documents are there too."""
        mark = self._index.mark(state.ulid)
        try:
            self._index.add(entry_of(state), make, self._rebuilt)
        except BaseException:
            if self.has(state.ulid):
                mark.abandon()
            else:
                mark.release()
            raise
        return mark

    def _took(self, data: bytes, name: str, kept: str = "") -> State:
        from holdfast.stores.imports import Imports

        self._require_writable()
        known = Imports(self._home, self._wait, self._index, self._snapshots, self._journals, self._marks)
        return known.take(self.examine_copy(data, name), name, kept, self._added)

    def _entry(self, ulid: str) -> Entry:
        state = self.load(ulid)
        return _entry(state, self._journals.handle(ulid).journal)

    def _rebuilt(self) -> Iterator[Entry]:
        """From the journals themselves: a handle of this process may be behind, and may be in use.

        One that cannot be read keeps its name as far as it can be told, and a mark: the index learns the rest from
        the next reader.
        """
        for ulid in filter(self.has, self.every()):
            try:
                fresh = self._journals.opened(ulid)
                with fresh.journal:
                    fresh.journal.sync()
                    assert fresh.state is not None
                    yield _entry(fresh.state, fresh.journal)
            except NotFound:
                continue  # before its first line, nobody was told of it
            except HoldfastError:
                if ulid not in self._index.announced():
                    self._index.mark(ulid).abandon()
                begun = self.examine(ulid).state
                if begun is not None:
                    yield entry_of(begun).replace(active=True)

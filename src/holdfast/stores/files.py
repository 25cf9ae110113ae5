"""The embedded store: one journal file a workflow, a snapshot of its fold, and an index."""

from __future__ import annotations

import os
from _collections_abc import Callable, Iterator, Sequence
from _thread import allocate_lock

from holdfast.core import queries, remedies
from holdfast.core.apply import Record, fold
from holdfast.core.names import checked, is_ulid
from holdfast.core.state import State
from holdfast.engine.codec import decode_record, encode_record
from holdfast.engine.ports import Changes, Copy, Entry, Examined, Fault, Standing, changes_between, entry_of, standing
from holdfast.errors import Broken, Conflict, HoldfastError, NotFound, Refused
from holdfast.files.locks import Locked
from holdfast.files.replace import durable_write, make_directories, not_written, read_file, remove, sync_directories
from holdfast.machine.place import regular
from holdfast.stores.index import Index, Listing, Mark, unkept
from holdfast.stores.journal import Journal
from holdfast.stores.lines import Line
from holdfast.stores.snapshots import Snapshots

SNAPSHOT_EVERY = 64
OPEN_AT_ONCE = 64
"""How many journals may be open: a list of many workflows must not use up the descriptors of the process."""


class _Open:
    """A journal that is open in this process, with the state folded so far."""

    def __init__(self, journal: Journal, state: State | None, snapshot_at: int) -> None:
        self.journal = journal
        self.state = state
        self.snapshot_at = snapshot_at
        self.lock = allocate_lock()
        self.resting = False

    def take(self, lines: list[Line]) -> State:
        for line in lines:
            self.state = fold(self.state, decode_record(line.body))
        if self.state is None:
            raise NotFound("no_journal", f"{self.journal.path} has no first line", remedy=remedies.doctor())
        return self.state

    def rest(self) -> None:
        """Lets go of the file if nobody is using it; the journal opens it again when it is needed."""
        if self.lock.acquire(False):
            self.journal.close()
            self.resting = True
            self.lock.release()


def _set_aside(path: str, ours: bytes) -> None:
    """Keeps a journal that gives way, durably.

    It is written again in any case: who made an earlier try may have died before it was durable.
    """
    from holdfast.stores.copies import require_beginning

    try:
        require_beginning(read_file(path), ours, path)
    except FileNotFoundError:
        pass
    except OSError as failure:
        raise not_written(path, failure) from failure
    durable_write(path, ours, dir_mode=0o700, alone=True)


class FilesStore:
    def __init__(
        self, home: str, *, wait: float = 10.0, refusal: Callable[[], HoldfastError | None] = lambda: None
    ) -> None:
        self._home = home
        self._refusal = refusal
        self._wait = wait
        self._index = Index(home, wait)
        self._snapshots = Snapshots(home)
        self._open: dict[str, _Open] = {}
        self._marks: dict[str, list[Mark]] = {}

    def __del__(self) -> None:
        """Whoever lets go of a store lets go of its files."""
        for handle in self._open.values():
            handle.journal.close()

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

        def make() -> None:
            journal = Journal.create(self.file_of(ulid), encode_record(record).encode(), wait=self._wait)
            self._open[ulid] = _Open(journal, state, 0)

        self._marks[ulid] = [self._added(state, make)]

    def load(self, ulid: str) -> State:
        handle = self._handle(ulid)
        with handle.lock:
            return self._taken(ulid, handle, handle.journal.synced_read())

    def commit(self, ulid: str, change: Callable[[State], tuple[Record, State] | None]) -> State:
        self._require_writable()
        handle = self._handle(ulid)
        with handle.lock:
            with handle.journal.writing() as lines:
                before = self._taken(ulid, handle, lines)
                changed = change(before)
                if changed is not None:
                    record, after = changed
                    handle.journal.vouch()
                    if standing(after) != standing(before):
                        self._marks.setdefault(ulid, []).append(self._index.mark(ulid, entry_of(before)))
                    handle.journal.append(encode_record(record).encode())
                    handle.state = after
            try:
                handle.journal.sync()
            except HoldfastError:
                self._open.pop(ulid, None)
                for mark in self._marks.pop(ulid, ()):
                    mark.abandon()
                raise
            state = handle.state
            assert state is not None
            self._snapshot_when_due(handle, state)
            return state

    def settle(self, state: State, then: Callable[[], None] | None = None) -> None:
        ulid = state.ulid
        marks: list[Mark] = []
        if ulid in self._marks:
            with self._handle(ulid).lock:  # so that what each mark announced has been written
                marks = self._marks.pop(ulid, [])
        try:
            if marks:
                # Another thread or process may have gone on since: the index gets what holds when it is written.
                self._index.put(ulid, lambda: entry_of(self.load(ulid)), marks[0].before, self._rebuilt)
            if then:
                then()
        except BaseException:
            for mark in marks:
                mark.abandon()
            raise
        for mark in marks:
            mark.release()

    def history(self, ulid: str, after: int = 0, until: int = 0) -> Iterator[Record]:
        handle = self._handle(ulid)
        for line in handle.journal.history(after):
            if until and line.seq > until:
                return
            yield decode_record(line.body)

    def exclusively(self, name: str, wait: float | None = None) -> Locked:
        """The lock of a folder below the home, which is made where it is missing."""
        self._require_writable()
        return Locked(os.path.join(self._home, name), self._wait if wait is None else wait)

    def has(self, ulid: str) -> bool:
        return is_ulid(ulid) and os.path.exists(self.file_of(ulid))

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

    def changes(self, since: str = "") -> Changes:
        return changes_between(since, ((entry, self.stamp(entry.ulid)) for entry in self.active()))

    def begins_with(self, ulid: str, data: bytes) -> bool:
        try:
            return self.has(ulid) and regular(self.file_of(ulid), len(data)) == data
        except OSError:
            return False

    def examine_copy(self, data: bytes, name: str) -> Copy:
        from holdfast.stores.copies import examined

        return examined(data, name)

    def export(self, ulid: str) -> bytes:
        handle = self._handle(ulid)
        with handle.lock:
            self._taken(ulid, handle, handle.journal.synced_read())
            return handle.journal.content()

    def compare(self, data: bytes, name: str = "the copy") -> Standing:
        from holdfast.stores.copies import compared

        copy = self.examine_copy(data, name)
        return compared(copy, self.export(copy.ulid) if self._was_born(copy.ulid) else None)

    def fast_forward(self, data: bytes, name: str = "the copy") -> State:
        return self._took(data, name)

    def supersede(self, data: bytes, kept: str, name: str = "the copy") -> State:
        return self._took(data, name, checked(kept, "journal to keep"))

    def entries(self) -> list[Entry]:
        entries = self._listing().all()
        return sorted(entries.values(), key=lambda entry: (not entry.active, entry.ulid))

    def active(self) -> list[Entry]:
        return sorted(self._listing().active.values(), key=lambda entry: entry.ulid)

    def finished_count(self) -> int:
        return self._listing().finished_count

    def _listing(self) -> Listing:
        """What the index says. Where it cannot be brought up to date, what the journals say is told and not kept."""
        if self.read_only is None:
            return self._index.read(self._rebuilt)
        found = self._index.stored()
        return found if found and not self.announced() else unkept(self._rebuilt())

    def started_with(self, key: str) -> Entry | None:
        return next((entry for entry in self.entries() if entry.key == key), None) if key else None

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
            if self._was_born(ulid):
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
                never = not self._was_born(ulid)
                if never:
                    remove(self.file_of(ulid))
                    mark.release()
        finally:
            if not never:
                mark.abandon()

    def _was_born(self, ulid: str) -> bool:
        """Whether the first line is there: before it, nobody was told of the workflow."""
        try:
            with Journal(self.file_of(ulid), wait=self._wait) as journal:
                return any(True for _ in journal.history())
        except NotFound:
            return False
        except HoldfastError:
            return True  # damaged, which is for a person to see

    def rebuild(self) -> None:
        self._require_writable()
        self._index.rebuild(self._rebuilt)
        for path in self._snapshots.stray(self.has):
            remove(path)

    def every(self) -> Iterator[str]:
        journals = os.path.join(self._home, "journal")
        try:
            shards = sorted(os.listdir(journals))
        except FileNotFoundError:
            return
        for shard in shards:
            for name in sorted(os.listdir(os.path.join(journals, shard))):
                ulid = name.removesuffix(".jsonl")
                if is_ulid(ulid):
                    yield ulid

    def archive(self, ulid: str) -> str:
        self._require_writable()
        target = os.path.join(self._home, "archive", os.path.basename(self.file_of(ulid)))
        handle = self._handle(ulid)
        with handle.lock, handle.journal.writing() as lines:
            if queries.is_active(self._taken(ulid, handle, lines)):
                said = f"{ulid} is active, and only what is finished is archived"
                raise Refused("still_active", said, remedy=remedies.cancel(workflow=ulid), facts={"workflow": ulid})
            make_directories(os.path.dirname(target), 0o700)
            os.rename(self.file_of(ulid), target)
        self._forget(ulid)
        self._snapshots.drop(ulid)
        self._index.drop({ulid}, self._rebuilt)
        return target

    def delete(self, ulids: Sequence[str]) -> None:
        """The index is made anew: how many of them it counted as finished may be unknown by now."""
        self._require_writable()
        for ulid in ulids:
            self._forget(ulid)
            for mark in self._marks.pop(ulid, ()):
                mark.abandon()
            remove(self.file_of(ulid))
            self._snapshots.drop(ulid)
            if os.path.isdir(os.path.dirname(self.file_of(ulid))):
                sync_directories(os.path.dirname(self.file_of(ulid)), [])
        if ulids:
            self.rebuild()

    def examine(self, ulid: str) -> Examined:
        from holdfast.stores.examination import examined, read

        path, found = self.file_of(ulid), self._stat(ulid)
        if found is None:
            raise NotFound("no_journal", f"there is no journal at {path}", remedy=remedies.listing())
        return examined(ulid, path, found.st_size, read(path), self._snapshots.kept(ulid))

    def repair(self, ulid: str, examined: Examined) -> str:
        from holdfast.stores.examination import cut

        self._require_writable()
        if not examined.can_be_cut:
            self._snapshots.drop(ulid)
            return ""
        kept = cut(self._home, examined, self._snapshots, self._wait)
        self._forget(ulid)
        return kept

    def faults(self, examined: Sequence[Examined]) -> list[Fault]:
        from holdfast.stores.examination import faults

        return faults(self._home, self._index, self._snapshots.stray(self.has), examined)

    def file_of(self, ulid: str) -> str:
        """Sharded by the last two characters, which are random: the first are the time."""
        if not is_ulid(ulid):
            raise NotFound("no_journal", f"{ulid[:40]!r} is not the id of a workflow", remedy=remedies.listing())
        return os.path.join(self._home, "journal", ulid[-2:].lower(), f"{ulid}.jsonl")

    def _added(self, state: State, make: Callable[[], None]) -> Mark:
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
        self._require_writable()
        copy = self.examine_copy(data, name)
        if self._was_born(copy.ulid) or not self._brought(copy):
            self._followed(copy, name, kept)
        handle = self._handle(copy.ulid)
        with handle.lock:
            state = self._taken(copy.ulid, handle, handle.journal.synced_read())
            self._snapshot_when_due(handle, state)
            return state

    def _brought(self, copy: Copy) -> bool:
        """Whether the workflow was new here, and all its lines came at once."""
        ulid = copy.ulid

        def make() -> None:
            if self._was_born(ulid):
                raise Conflict("journal_exists", f"there already is a journal of {ulid}", facts={"workflow": ulid})
            durable_write(self.file_of(ulid), copy.data, dir_mode=0o700, alone=True)

        try:
            mark = self._added(copy.state, make)
        except Conflict:
            if self._was_born(ulid):
                return False  # another process was faster
            raise
        mark.before = entry_of(copy.state)  # an old one that is finished is counted by now, and may be listed no more
        self._marks.setdefault(ulid, []).append(mark)
        self._forget(ulid)
        return True

    def _followed(self, copy: Copy, name: str, kept: str) -> None:
        """The lines of a copy that has more than ours, or is preferred to ours, take their place as a whole.

        Appended one by one they would be seen too soon: they say of each other that they are durable, which was true
        where they were written and is true here only once all of them are.
        """
        from holdfast.stores.copies import gives_way

        ulid = copy.ulid
        archive = os.path.join(self._home, "archive", f"{ulid}-{kept}.jsonl")
        keep = (lambda ours: _set_aside(archive, ours)) if kept else None
        handle = self._handle(ulid)
        with handle.lock, handle.journal.writing() as lines:
            before = self._taken(ulid, handle, lines)
            if not gives_way(handle.journal.content(), copy, name, keep):
                return
            mark = self._index.mark(ulid, entry_of(before))
            try:
                self._snapshots.drop(ulid)
                durable_write(self.file_of(ulid), copy.data, dir_mode=0o700, alone=True)
            except BaseException:
                mark.abandon()
                raise
            self._marks.setdefault(ulid, []).append(mark)
        self._forget(ulid)

    def _forget(self, ulid: str) -> None:
        handle = self._open.pop(ulid, None)
        if handle:
            handle.journal.close()

    def _handle(self, ulid: str) -> _Open:
        handle = self._open.get(ulid)
        if handle and handle.journal.overtaken:
            self._forget(ulid)
            handle = None
        if handle is None or handle.resting:
            awake = [other for other in list(self._open.values()) if not other.resting]
            for other in awake if len(awake) >= OPEN_AT_ONCE else ():
                other.rest()
        if handle is None:
            made = self._opened(ulid)
            handle = self._open.setdefault(ulid, made)
            if handle is not made:
                made.journal.close()
        handle.resting = False
        return handle

    def _opened(self, ulid: str) -> _Open:
        """The fold up to the last snapshot, if there is a good one: loading does not grow with history."""
        journal = Journal(self.file_of(ulid), wait=self._wait)
        state = self._snapshots.found(ulid, journal)
        return _Open(journal, state, state.revision if state else 0)

    def _taken(self, ulid: str, handle: _Open, lines: list[Line]) -> State:
        try:
            return handle.take(lines)
        except Broken:
            # The journal has gone past lines that could not be folded: the next look must begin anew.
            self._open.pop(ulid, None)
            handle.journal.close()
            raise

    def _snapshot_when_due(self, handle: _Open, state: State) -> None:
        position = handle.journal.position
        if state.revision - handle.snapshot_at < SNAPSHOT_EVERY or position is None or position.seq != state.revision:
            return
        try:
            self._snapshots.write(state, position)
            handle.snapshot_at = state.revision
        except HoldfastError:
            pass  # the lines are durable, and the next one takes the snapshot

    def _rebuilt(self) -> Iterator[Entry]:
        """From the journals themselves: a handle of this process may be behind, and may be in use."""
        for ulid in self.every():
            try:
                fresh = self._opened(ulid)
            except HoldfastError:
                continue
            try:
                yield entry_of(fresh.take(fresh.journal.synced_read()))
            except HoldfastError:
                continue
            finally:
                fresh.journal.close()

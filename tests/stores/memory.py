"""The reference store: everything a store promises, in memory. To test by, and to read before the others."""

from __future__ import annotations

import time
from _collections_abc import Callable, Iterator, Sequence
from _thread import allocate_lock

from holdfast.core import queries, remedies
from holdfast.core.apply import Record, fold
from holdfast.core.state import State
from holdfast.engine.codec import decode_record, encode_record
from holdfast.engine.ports import Entry, changes_between, entry_of, refuse_second
from holdfast.errors import Broken, Conflict, NotFound, Refused
from holdfast.stores import copies, examination
from holdfast.stores.lines import FIRST, Line, head, parsed, seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType

    from holdfast.engine.ports import Changes, Copy, Cursor, Examined, Fault, Standing, View

_WAIT = 10.0


class MemoryStore:
    read_only = None

    def __init__(self) -> None:
        self._journals: dict[str, bytes] = {}
        self._states: dict[str, State] = {}
        self._touched: dict[str, float] = {}
        self._archive: dict[str, bytes] = {}
        self._shown: dict[str, View] = {}
        self._lock = allocate_lock()
        self._locks: dict[str, LockType] = {}

    def create(self, record: Record, state: State) -> None:
        with self._lock:
            if state.ulid in self._journals:
                raise Conflict("journal_exists", f"there already is a workflow {state.ulid}")
            refuse_second(entry_of(state), self.entries())
            self._keep(state.ulid, record)

    def load(self, ulid: str) -> State:
        if ulid not in self._states:
            raise NotFound("no_journal", f"there is no workflow {ulid}", remedy=remedies.listing())
        return self._states[ulid]

    newest = load

    def commit(
        self,
        ulid: str,
        change: Callable[[State], tuple[Record, State] | None],
        meanwhile: Callable[[State], None] | None = None,
    ) -> State:
        with self._lock:
            before = self.load(ulid)
            changed = change(before)
            if changed is None:
                return before
            return self._keep(ulid, changed[0])

    def settle(self, state: State, then: Callable[[], None] | None = None) -> None:
        """Nothing can be behind here."""
        if then:
            then()

    def history(self, ulid: str, after: int = 0, until: int = 0) -> Iterator[Record]:
        self.load(ulid)
        for line in self._lines(ulid):
            if line.seq > after and not 0 < until < line.seq:
                yield decode_record(line.body)

    def entries(self) -> list[Entry]:
        return sorted((entry_of(state) for state in self._states.values()), key=lambda e: (not e.active, e.ulid))

    def active(self) -> list[Entry]:
        return [entry for entry in self.entries() if entry.active]

    def unpublished(self) -> list[Entry]:
        return [entry for entry in self.entries() if entry.to_finalize]

    def finished_count(self) -> int:
        return sum(not entry.active for entry in self.entries())

    def find(self, word: str) -> list[Entry]:
        return [entry for entry in self.entries() if entry.id.startswith(word) or entry.ulid.startswith(word)]

    def started_with(self, key: str) -> Entry | None:
        return next((entry for entry in self.entries() if entry.key == key), None) if key else None

    def every(self) -> Iterator[str]:
        return iter(sorted(self._journals))

    def has(self, ulid: str) -> bool:
        return ulid in self._journals

    def announced(self) -> list[str]:
        return []

    def unsettled(self) -> list[str]:
        return []

    def stamp(self, ulid: str) -> str:
        return str(len(self._journals.get(ulid, b"")) or "")

    def touched(self, ulid: str) -> float:
        return self._touched.get(ulid, 0.0)

    def changes(self, since: Cursor | None = None, only: Sequence[str] = ()) -> Changes:
        named = {ulid: ulid for ulid in only} or {entry.ulid: entry.id for entry in self.active()}
        return changes_between(since, {ulid: (id_, at) for ulid, id_ in named.items() if (at := self.stamp(ulid))})

    def file_of(self, ulid: str) -> str:
        return ""

    def export(self, ulid: str) -> bytes:
        self.load(ulid)
        return self._journals[ulid]

    def begins_with(self, ulid: str, data: bytes) -> bool:
        return self.has(ulid) and self._journals[ulid].startswith(data)

    def examine_copy(self, data: bytes, name: str) -> Copy:
        return copies.examined(data, name)

    def compare(self, data: bytes, name: str = "the copy") -> Standing:
        copy = self.examine_copy(data, name)
        return copies.compared(copy, self._journals.get(copy.ulid))

    def fast_forward(self, data: bytes, name: str = "the copy") -> State:
        return self._took(self.examine_copy(data, name), name, None)

    def supersede(self, data: bytes, kept: str, name: str = "the copy") -> State:
        copy = self.examine_copy(data, name)

        def keep(ours: bytes) -> None:
            place = f"{copy.ulid}-{kept}"
            copies.require_beginning(self._archive.get(place, b""), ours, place)
            self._archive[place] = ours

        return self._took(copy, name, keep)

    def exclusively(self, name: str, wait: float | None = None) -> _Held:
        return _Held(self._locks.setdefault(name, allocate_lock()), name, _WAIT if wait is None else wait)

    def shown(self, ulid: str) -> View | None:
        return self._shown.get(ulid)

    def showing(self, ulid: str, *, hand_over: bool = False) -> _Showing | None:
        lock = self._locks.setdefault(f"showing {ulid}", allocate_lock())
        if hand_over and not lock.acquire(False):
            return None
        if not hand_over:
            _Held(lock, ulid, _WAIT).__enter__()
        return _Showing(lock, lambda view: self._shown.update({ulid: view}))

    def archive(self, ulid: str) -> str:
        with self._lock:
            if queries.is_active(self.load(ulid)):
                raise Refused("still_active", f"{ulid} is active", remedy=remedies.cancel(workflow=ulid))
            self._archive[ulid] = self._journals[ulid]
            self._drop(ulid)
        return ulid

    def delete(self, ulids: Sequence[str]) -> None:
        with self._lock:
            for ulid in ulids:
                self._drop(ulid)

    def examine(self, ulid: str) -> Examined:
        if not self.has(ulid):
            raise NotFound("no_journal", f"there is no workflow {ulid}", remedy=remedies.listing())
        return examination.examined(ulid, ulid, len(self._journals[ulid]), self._lines(ulid))

    def repair(self, ulid: str, examined: Examined) -> str:
        if not examined.can_be_cut:
            return ""
        with self._lock:
            data = self._journals[ulid]
            examination.require_unchanged(examined, len(data) == examined.size)
            place = f"{ulid}-damaged"
            self._archive[place] = data
            self._drop(ulid)
            if examined.state is not None:
                self._journals[ulid], self._states[ulid] = data[: examined.end], examined.state
        return place

    def faults(self, examined: Sequence[Examined]) -> list[Fault]:
        return []

    def rebuild(self) -> None:
        """There is no index."""

    def _took(self, copy: Copy, name: str, keep: Callable[[bytes], None] | None) -> State:
        with self._lock:
            ours = self._journals.get(copy.ulid)
            if ours is None:
                refuse_second(entry_of(copy.state), self.entries())
            if ours is None or copies.gives_way(ours, copy, name, keep):
                self._journals[copy.ulid], self._states[copy.ulid] = copy.data, copy.state
                self._shown.pop(copy.ulid, None)
                self._touched[copy.ulid] = time.time()
            return self._states[copy.ulid]

    def _drop(self, ulid: str) -> None:
        for kept in (self._journals, self._states, self._touched, self._shown):
            kept.pop(ulid, None)

    def _keep(self, ulid: str, record: Record) -> State:
        """The state is the fold of what was written down, not of what was meant."""
        written = self._journals.get(ulid, b"")
        last = parsed(written[written.rfind(b"\n", 0, -1) + 1 :], 0)
        seq, prev = (last.seq, last.sum) if last else (0, FIRST)
        text = head(seq + 1, seq, prev) + encode_record(record).encode()[1:-1]
        raw = text + seal(text)
        line = parsed(raw, len(written))
        assert line is not None
        self._states[ulid] = fold(self._states.get(ulid), decode_record(line.body))
        self._journals[ulid] = written + raw
        self._touched[ulid] = time.time()
        return self._states[ulid]

    def _lines(self, ulid: str) -> Iterator[Line]:
        try:
            yield from copies.lines_of(self._journals[ulid], ulid)
        except Broken as damage:
            raise Broken("journal_damaged", damage.message, remedy=remedies.doctor(), facts=damage.facts) from damage


class _Held:
    """A lock that is held for the length of a `with`."""

    def __init__(self, lock: LockType, name: str, wait: float) -> None:
        self._lock = lock
        self._name = name
        self._wait = wait

    def __enter__(self) -> None:
        if not self._lock.acquire(timeout=self._wait):
            said = f"{self._name} is locked; gave up after {self._wait:g} s"
            raise Conflict("lock_timeout", said, remedy="run the command again", facts={"wait": self._wait})

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class _Showing:
    def __init__(self, lock: LockType, keep: Callable[[View], None]) -> None:
        self._lock = lock
        self.keep = keep

    def __enter__(self) -> _Showing:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

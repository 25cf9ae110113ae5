"""The reference store: everything a store promises, in memory. For tests, and to read before the others."""

from __future__ import annotations

from _collections_abc import Callable, Iterator
from _thread import allocate_lock

from holdfast.core import remedies
from holdfast.core.apply import Record, fold
from holdfast.core.state import State
from holdfast.engine.codec import decode_record, encode_record
from holdfast.engine.ports import Entry, entry_of, refuse_second
from holdfast.errors import Conflict, NotFound
from holdfast.plain.plainjson import parse


class MemoryStore:
    def __init__(self) -> None:
        self._journals: dict[str, list[str]] = {}
        self._states: dict[str, State] = {}
        self._lock = allocate_lock()

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

    def commit(self, ulid: str, change: Callable[[State], tuple[Record, State] | None]) -> State:
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

    def history(self, ulid: str, after: int = 0) -> Iterator[Record]:
        self.load(ulid)
        yield from self._records(ulid, after)

    def entries(self) -> list[Entry]:
        return sorted((entry_of(state) for state in self._states.values()), key=lambda e: (not e.active, e.ulid))

    def active(self) -> list[Entry]:
        return [entry for entry in self.entries() if entry.active]

    def find(self, word: str) -> list[Entry]:
        return [entry for entry in self.entries() if entry.id.startswith(word) or entry.ulid.startswith(word)]

    def unsettled(self) -> list[str]:
        return []

    def _keep(self, ulid: str, record: Record) -> State:
        """The state is the fold of what was written down, not of what was meant."""
        written = self._journals.setdefault(ulid, [])
        written.append(encode_record(record))
        (read,) = self._records(ulid, len(written) - 1)
        self._states[ulid] = fold(self._states.get(ulid), read)
        return self._states[ulid]

    def _records(self, ulid: str, after: int) -> Iterator[Record]:
        for seq, body in enumerate(self._journals[ulid][after:], after + 1):
            yield decode_record({**parse(body), "seq": seq})

"""The reference store: everything a store promises, in memory. For tests, and to read before the others."""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable, Iterator

from holdfast.codec import decode_record, encode_record
from holdfast.core.apply import Record, replay
from holdfast.core.state import State
from holdfast.errors import Conflict, NotFound
from holdfast.plainjson import parse
from holdfast.ports import Entry, entry_of, refuse_second


class MemoryStore:
    def __init__(self) -> None:
        self._journals: dict[str, list[str]] = {}
        self._lock = allocate_lock()

    def create(self, record: Record, state: State) -> None:
        with self._lock:
            if state.ulid in self._journals:
                raise Conflict("journal_exists", f"there already is a workflow {state.ulid}")
            refuse_second(entry_of(state), self.entries())
            self._journals[state.ulid] = [encode_record(record)]

    def load(self, ulid: str) -> State:
        state = replay(self.history(ulid))
        assert state is not None
        return state

    def commit(self, ulid: str, change: Callable[[State], tuple[Record, State] | None]) -> State:
        with self._lock:
            before = self.load(ulid)
            changed = change(before)
            if changed is None:
                return before
            record, _ = changed
            self._journals[ulid].append(encode_record(record))
            return self.load(ulid)

    def settle(self, state: State, then: Callable[[], None] | None = None) -> None:
        """Nothing can be behind here."""
        if then:
            then()

    def history(self, ulid: str, after: int = 0) -> Iterator[Record]:
        if ulid not in self._journals:
            raise NotFound("no_journal", f"there is no workflow {ulid}", remedy="holdfast list")
        for seq, body in enumerate(self._journals[ulid][after:], after + 1):
            yield decode_record({**parse(body), "seq": seq})

    def entries(self) -> list[Entry]:
        return sorted((entry_of(self.load(ulid)) for ulid in self._journals), key=lambda e: (not e.active, e.ulid))

    def find(self, word: str) -> list[Entry]:
        return [entry for entry in self.entries() if entry.id.startswith(word) or entry.ulid.startswith(word)]

    def unsettled(self) -> list[str]:
        return []

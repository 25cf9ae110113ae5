"""The embedded store: one journal file a workflow, a snapshot of its fold, and an index."""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Iterator

from holdfast.codec import decode_record, decode_state, encode, encode_record, parse, to_text
from holdfast.core.apply import Record, fold
from holdfast.core.names import is_ulid
from holdfast.core.state import State
from holdfast.digest import digest
from holdfast.errors import HoldfastError, NotFound
from holdfast.ports import Entry, entry_of, standing
from holdfast.stores.index import Index, Mark
from holdfast.stores.journal import Journal
from holdfast.stores.lines import Line, Position
from holdfast.stores.replace import replace

SNAPSHOT_EVERY = 64


class _Open:
    """A journal that is open in this process, with the state folded so far."""

    def __init__(self, journal: Journal, state: State | None, snapshot_at: int) -> None:
        self.journal = journal
        self.state = state
        self.snapshot_at = snapshot_at
        self.lock = allocate_lock()

    def take(self, lines: list[Line]) -> State:
        for line in lines:
            self.state = fold(self.state, decode_record(line.body))
        if self.state is None:
            raise NotFound("no_journal", f"{self.journal.path} has no first line", remedy="holdfast doctor")
        return self.state


class FilesStore:
    def __init__(self, home: str, *, wait: float = 10.0) -> None:
        self._home = home
        self._wait = wait
        self._index = Index(home, wait)
        self._open: dict[str, _Open] = {}
        self._marks: dict[str, Mark] = {}

    def create(self, record: Record, state: State) -> None:
        mark = self._index.mark(state.ulid)
        try:
            journal = Journal.create(self.path(state.ulid), encode_record(record).encode(), wait=self._wait)
        except BaseException:
            mark.abandon()
            raise
        self._marks[state.ulid] = mark
        self._open[state.ulid] = _Open(journal, state, 0)

    def load(self, ulid: str) -> State:
        handle = self._handle(ulid)
        with handle.lock:
            return handle.take(handle.journal.synced_read())

    def commit(self, ulid: str, change: Callable[[State], tuple[Record, State] | None]) -> State:
        handle = self._handle(ulid)
        with handle.lock:
            with handle.journal.writing() as lines:
                before = handle.take(lines)
                changed = change(before)
                if changed is not None:
                    record, after = changed
                    if standing(after) != standing(before) and ulid not in self._marks:
                        self._marks[ulid] = self._index.mark(ulid)
                    handle.journal.append(encode_record(record).encode())
                    handle.state = after
            try:
                handle.journal.sync()
            except HoldfastError:
                self._open.pop(ulid, None)
                if ulid in self._marks:
                    self._marks.pop(ulid).abandon()
                raise
            state = handle.state
            assert state is not None
            if state.revision - handle.snapshot_at >= SNAPSHOT_EVERY:
                self._snapshot(handle, state)
            return state

    def settle(self, state: State) -> None:
        mark = self._marks.pop(state.ulid, None)
        if mark is not None:
            self._index.put(entry_of(state), self._rebuilt)
            mark.release()

    def history(self, ulid: str, after: int = 0) -> Iterator[Record]:
        handle = self._handle(ulid)
        for line in handle.journal.history(after):
            yield decode_record(line.body)

    def entries(self) -> list[Entry]:
        entries, _ = self._index.read(self._rebuilt)
        return sorted(entries.values(), key=lambda entry: (not entry.active, entry.ulid))

    def finished_count(self) -> int:
        return self._index.read(self._rebuilt)[1]

    def find(self, word: str) -> list[Entry]:
        found = [entry for entry in self.entries() if entry.id.startswith(word) or entry.ulid.startswith(word)]
        if found or self.finished_count() <= len(self.entries()):
            return found
        if is_ulid(word):
            return [entry_of(self.load(word))] if os.path.exists(self.path(word)) else []
        return [entry for entry in self._rebuilt() if entry.id.startswith(word)]

    def unsettled(self) -> list[str]:
        """Workflows whose writer died before the index knew; the mark goes when they are settled."""
        left = []
        for ulid in self._index.marked():
            mark = self._index.mark(ulid)
            if os.path.exists(self.path(ulid)):
                self._marks[ulid] = mark
                left.append(ulid)
            else:
                mark.release()
        return left

    def rebuild_index(self) -> None:
        self._index.rebuild(self._rebuilt)

    def ulids(self) -> Iterator[str]:
        """Every workflow that has a journal here."""
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
        """Moves a finished workflow's journal out of the way; it stays readable there."""
        self._open.pop(ulid, None)
        target = os.path.join(self._home, "archive", os.path.basename(self.path(ulid)))
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        os.rename(self.path(ulid), target)
        for view in (self._snapshot_path(ulid), self._snapshot_path(ulid) + ".slot"):
            if os.path.exists(view):
                os.unlink(view)
        self._index.drop({ulid}, self._rebuilt)
        return target

    def path(self, ulid: str) -> str:
        """Sharded by the last two characters, which are random: the first are the time."""
        if not is_ulid(ulid):
            raise NotFound("no_journal", f"{ulid[:40]!r} is not the id of a workflow", remedy="holdfast list")
        return os.path.join(self._home, "journal", ulid[-2:].lower(), f"{ulid}.jsonl")

    def _snapshot_path(self, ulid: str) -> str:
        return os.path.join(self._home, "state", ulid[-2:].lower(), f"{ulid}.json")

    def _handle(self, ulid: str) -> _Open:
        handle = self._open.get(ulid)
        if handle is None:
            journal = Journal(self.path(ulid), wait=self._wait)
            state, revision = self._resumed(ulid, journal)
            handle = self._open[ulid] = _Open(journal, state, revision)
        return handle

    def _resumed(self, ulid: str, journal: Journal) -> tuple[State | None, int]:
        """The fold up to the last snapshot, if there is a good one: loading does not grow with history."""
        try:
            with open(self._snapshot_path(ulid), "rb") as file:
                seal, _, body = file.read().partition(b"\n")
        except OSError:
            return None, 0
        if digest(body).encode() != seal:
            return None, 0
        data = parse(body)
        if not journal.seek(Position(**data["position"])):
            return None, 0
        state = decode_state(data["state"])
        return state, state.revision

    def _snapshot(self, handle: _Open, state: State) -> None:
        position = handle.journal.position
        if position is None or position.seq != state.revision:
            return
        body = to_text({"position": encode(position), "state": encode(state)}).encode()
        path = self._snapshot_path(state.ulid)
        replace(path, digest(body).encode() + b"\n" + body, path + ".slot", dir_mode=0o700)
        handle.snapshot_at = state.revision

    def _rebuilt(self) -> Iterator[Entry]:
        for ulid in self.ulids():
            in_use = ulid in self._open
            try:
                yield entry_of(self._open[ulid].take([]) if in_use else self.load(ulid))
            except HoldfastError:
                continue
            finally:
                if not in_use and ulid in self._open:
                    self._open.pop(ulid).journal.close()

"""A journal that is open in this process, with the state folded so far."""

from __future__ import annotations

from _collections_abc import Callable
from _thread import allocate_lock

from holdfast.core import remedies
from holdfast.core.apply import Fold, Record
from holdfast.core.state import State
from holdfast.engine.codec import decode_record
from holdfast.errors import Broken, HoldfastError, NotFound
from holdfast.stores.journal import Journal
from holdfast.stores.lines import Line, Position
from holdfast.stores.snapshots import Snapshots
from holdfast.stores.witness import Seen

FOREIGN = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What decoding and folding lead to when a line, though whole, is nothing that Holdfast writes."""
SNAPSHOT_EVERY = 64
AT_ONCE = 1024
"""How many lines of a journal are in memory at once when it is opened."""


def record_of(line: Line, name: str) -> Record:
    """What a line says; `name` is what a refusal calls its journal."""
    try:
        return decode_record(line.body)
    except FOREIGN as wrong:
        raise _strange(line, name, wrong) from wrong


def folded(state: State | None, lines: list[Line], name: str) -> State:
    """The state after these lines."""
    folding, line = Fold(state), lines[0]
    try:
        for line in lines:
            folding.add(decode_record(line.body))
        return folding.state
    except Broken:
        raise  # of a newer version, which is no damage
    except (HoldfastError, *FOREIGN) as wrong:
        raise _strange(line, name, wrong) from wrong


def _strange(line: Line, name: str, wrong: Exception) -> Broken:
    said = "".join(c if c.isprintable() else "?" for c in f"{type(wrong).__name__} {wrong}"[:200])
    return Broken(
        "journal_damaged",
        f"{name} is whole, but line {line.seq} is not what Holdfast writes: {said}",
        remedy=remedies.doctor(),
        facts={"path": name, "offset": line.start, "seq": line.seq},
    )


class Opened:
    def __init__(self, journal: Journal, state: State | None = None, snapshot_at: int = 0) -> None:
        self.journal = journal
        self.state = state
        self.lock = allocate_lock()
        self.resting = False
        self._snapshot_at = snapshot_at
        self._durable: tuple[Position, State] | None = None

    @classmethod
    def read(cls, journal: Journal, snapshots: Snapshots, ulid: str, seen: Seen | None) -> Opened:
        """The fold from the last snapshot on, if there is a good one: loading does not grow with history.

        `seen` is a line that was acknowledged; so was the one of the snapshot.
        """
        try:
            kept = snapshots.found(ulid)
            is_there = kept is not None and journal.seek(kept[0])
            if kept and not is_there and (seen is None or seen.seq < kept[0].seq):
                seen = Seen(kept[0].seq, kept[0].sum)
            if seen:
                journal.expect(seen)
            made = cls(journal, kept[1], kept[0].seq) if kept and is_there else cls(journal)
            while True:
                lines = journal.read(AT_ONCE)
                made.take(lines)
                if len(lines) < AT_ONCE:
                    return made
        except BaseException:
            journal.close()
            raise

    def take(self, lines: list[Line]) -> State:
        state = self.state
        known = min(max(0, self.journal.synced - lines[0].seq + 1), len(lines)) if lines else 0
        if known:
            state = folded(state, lines[:known], self.journal.path)
            self._durable = lines[known - 1].position, state
        if lines[known:]:
            state = folded(state, lines[known:], self.journal.path)
        if state is None:
            raise NotFound("no_journal", f"{self.journal.path} has no first line", remedy=remedies.doctor())
        self.state = state
        return state

    def snapshot_when_due(self, snapshots: Snapshots, may_write: Callable[[], bool] = lambda: True) -> None:
        """Of the newest line that is known to be durable, by a process that has read so many: also by a reader.

        Where several processes write, one of them is enough.
        """
        state, position = self.state, self.journal.position
        if state is None or position is None or state.revision - self._snapshot_at < SNAPSHOT_EVERY:
            return
        if not may_write():
            return
        if self._snapshot_at:  # one was good, or was made here
            self._snapshot_at = max(self._snapshot_at, min(snapshots.reached(state.ulid), state.revision))
            if state.revision - self._snapshot_at < SNAPSHOT_EVERY:
                return
        if position.seq <= self.journal.synced:
            self._durable = position, state
        if self._durable and self._durable[0].seq > self._snapshot_at:
            position, state = self._durable
            self._snapshot_at = position.seq
            self.journal.beside(lambda: snapshots.write(state, position))

    def rest(self) -> None:
        """Lets go of the file if nobody is using it; the journal opens it again when it is needed."""
        if self.lock.acquire(False):
            self.journal.close()
            self.resting = True
            self.lock.release()

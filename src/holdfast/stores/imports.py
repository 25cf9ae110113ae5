"""Journals that come from elsewhere, and whose lines take the place of those that are here."""

from __future__ import annotations

import os
from _collections_abc import Callable, Sequence

from holdfast.core.state import State
from holdfast.engine.ports import Copy, Entry, entry_of
from holdfast.errors import Conflict
from holdfast.files.replace import durable_write, not_written, read_file
from holdfast.stores.copies import gives_way, require_beginning
from holdfast.stores.index import Index, Mark
from holdfast.stores.journal import Journal
from holdfast.stores.journals import Journals
from holdfast.stores.lines import Line, sum_before
from holdfast.stores.opened import Opened
from holdfast.stores.snapshots import Snapshots
from holdfast.stores.witness import Seen, lines_missing


class Imports:
    def __init__(
        self,
        home: str,
        wait: float,
        index: Index,
        snapshots: Snapshots,
        journals: Journals,
        marks: dict[str, list[Mark]],
    ) -> None:
        self._home = home
        self._wait = wait
        self._index = index
        self._snapshots = snapshots
        self._journals = journals
        self._marks = marks

    def take(self, copy: Copy, name: str, kept: str, add: Callable[[State, Callable[[], Entry]], Mark]) -> State:
        """The state after it. `kept` names the journal that gives way, and `add` names a new workflow in the index."""
        seen = self._journals.seen(copy.ulid)  # asked first: another process may bring the journal at this moment
        is_here = self._journals.has_line(copy.ulid)
        if not is_here:
            self._require(copy, [], seen)
        if is_here or not self._brought(copy, add):
            self._followed(copy, name, kept)
        handle = self._journals.handle(copy.ulid)
        with handle.lock:
            state = self._journals.taken(copy.ulid, handle, handle.journal.synced_read())
            handle.snapshot_when_due(self._snapshots)
            return state

    def _brought(self, copy: Copy, add: Callable[[State, Callable[[], Entry]], Mark]) -> bool:
        """Whether the workflow was new here, and all its lines came at once."""
        ulid = copy.ulid

        def make() -> Entry:
            if self._journals.has_line(ulid):
                raise Conflict("journal_exists", f"there already is a journal of {ulid}", facts={"workflow": ulid})
            self._put_in_place(copy)
            return entry_of(copy.state).replace(sum=sum_before(copy.data, len(copy.data)))

        try:
            mark = add(copy.state, make)
        except Conflict:
            if self._journals.has_line(ulid):
                return False  # another process was faster
            raise
        mark.before = entry_of(copy.state)  # an old one that is finished is counted by now, and may be listed no more
        self._marks.setdefault(ulid, []).append(mark)
        self._journals.forget(ulid)
        return True

    def _require(self, copy: Copy, lines: Sequence[Line], seen: Seen | None) -> None:
        """What was acknowledged is here, or the copy brings it back."""
        if seen and not _has(copy, seen) and [line.sum for line in lines[seen.seq - 1 : seen.seq]] != [seen.sum]:
            raise lines_missing(self._journals.path(copy.ulid), min(len(lines) + 1, seen.seq), seen.seq)

    def _put_in_place(self, copy: Copy) -> None:
        """What is known of the lines that were there is forgotten first, so that nothing speaks against the copy."""
        with self._journals.witness(copy.ulid) as witness:
            witness.clear()
            self._snapshots.drop(copy.ulid)
            durable_write(self._journals.path(copy.ulid), copy.data, dir_mode=0o700, alone=True)
            witness.put(Seen(copy.state.revision, sum_before(copy.data, len(copy.data))))

    def _followed(self, copy: Copy, name: str, kept: str) -> None:
        """The lines of a copy that has more than ours, or is preferred to ours, take their place as a whole.

        Appended one by one they would be seen too soon: they say of each other that they are durable, which was true
        where they were written and is true here only once all of them are.
        """
        ulid = copy.ulid
        archive = os.path.join(self._home, "archive", f"{ulid}-{kept}.jsonl")
        keep = (lambda ours: _set_aside(archive, ours)) if kept else None
        with Journal(self._journals.path(ulid), wait=self._wait) as journal, journal.writing() as lines:
            before = Opened(journal).take(lines)
            self._require(copy, lines, self._journals.seen(ulid))
            if not gives_way(journal.content(), copy, name, keep):
                return
            mark = self._index.mark(ulid, entry_of(before))
            try:
                self._put_in_place(copy)
            except BaseException:
                mark.abandon()
                raise
            self._marks.setdefault(ulid, []).append(mark)
        self._journals.forget(ulid)


def _has(copy: Copy, seen: Seen) -> bool:
    return seen.seq <= len(copy.ends) and sum_before(copy.data, copy.ends[seen.seq - 1]) == seen.sum


def _set_aside(path: str, ours: bytes) -> None:
    """Keeps a journal that gives way, durably.

    It is written again in any case: who made an earlier try may have died before it was durable.
    """
    try:
        require_beginning(read_file(path), ours, path)
    except FileNotFoundError:
        pass
    except OSError as failure:
        raise not_written(path, failure) from failure
    durable_write(path, ours, dir_mode=0o700, alone=True)

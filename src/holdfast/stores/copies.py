"""Copies of a journal that travel with git: whether one can be believed, and how it stands to the journal here.

A copy comes from outside. It is taken in only when every line is whole, chained to the one before, and says something
that can be folded, and kept: a workflow that the index could not name would hide all others.
"""

from __future__ import annotations

from _collections_abc import Callable, Iterator

from holdfast.core import remedies
from holdfast.core.apply import Record, fold
from holdfast.core.events import Adopted, Started
from holdfast.core.names import is_ulid
from holdfast.core.state import State
from holdfast.engine.codec import decode_record, encode
from holdfast.engine.ports import AHEAD, BEHIND, FORKED, LARGEST_COPY, SAME, UNKNOWN, Copy, Standing, entry_of
from holdfast.errors import Broken, Conflict, HoldfastError
from holdfast.plain.plainjson import compact
from holdfast.stores.lines import FIRST, Line, parsed
from holdfast.stores.opened import FOREIGN

_SHOWN = 400
_KINDS = {"active": bool, "revision": int, "to_finalize": bool}


def examined(data: bytes, name: str) -> Copy:
    """The copy, if all of it can be believed; `name` is what a refusal calls it."""
    if len(data) > LARGEST_COPY:
        number = data.count(b"\n", 0, LARGEST_COPY) + 1
        raise _damaged(name, LARGEST_COPY, number, f"goes beyond {LARGEST_COPY >> 20} MiB")
    state: State | None = None
    record: Record | None = None
    ends, sums = [], []
    for line in lines_of(data, name):
        try:
            record = decode_record(line.body)
            state = _folded(state, record)
            if line.end == len(data):
                _refuse_unkept(state)
        except Broken:
            raise  # of a newer version, which is no damage
        except (HoldfastError, *FOREIGN) as failure:
            said = _printable(f"{type(failure).__name__} {failure}")
            raise _damaged(name, line.start, line.seq, f"is not what Holdfast writes: {said}") from failure
        ends.append(line.end)
        sums.append(line.sum)
    if state is None or record is None:
        raise _damaged(name, 0, 1, "is missing")
    return Copy(ulid=state.ulid, data=data, ends=tuple(ends), sums=tuple(sums), last=record, state=state)


def compared(copy: Copy, ours: bytes | None) -> Standing:
    """How a copy stands to the whole lines of the journal here, None where there is no journal."""
    theirs = len(copy.ends)
    if ours is None:
        return Standing(ulid=copy.ulid, kind=UNKNOWN, common=0, ours=0, theirs=theirs)
    count = ours.count(b"\n")
    common = _shared(copy, ours)
    kinds = {(True, True): SAME, (True, False): AHEAD, (False, True): BEHIND, (False, False): FORKED}
    kind = kinds[common == count, common == theirs]
    return Standing(ulid=copy.ulid, kind=kind, common=common, ours=count, theirs=theirs)


def gives_way(ours: bytes, copy: Copy, name: str, keep: Callable[[bytes], None] | None) -> bool:
    """Whether a copy is to take the place of our lines. Where they differ, `keep` gets ours first."""
    found = compared(copy, ours)
    if found.kind == FORKED:
        if keep is None:
            raise _forked(found, name)
        keep(ours)
    return found.kind in (AHEAD, FORKED)


def require_beginning(there: bytes, ours: bytes, path: str) -> None:
    """What an earlier try put into the archive may be the beginning of a journal that gives way, nothing else."""
    if not ours.startswith(there):
        said = f"{path} already keeps another journal; nothing was changed"
        raise Conflict("archive_exists", said, remedy=remedies.recover(), facts={"path": path})


def _forked(found: Standing, name: str) -> Conflict:
    return Conflict(
        "journal_forked",
        f"{_printable(name)} and the journal of {found.ulid} here differ after line {found.common}: "
        f"{found.theirs} lines are there and {found.ours} here",
        remedy=remedies.recover(),
        facts={"ulid": found.ulid, "common": found.common, "ours": found.ours, "theirs": found.theirs},
    )


def lines_of(data: bytes, name: str) -> Iterator[Line]:
    """Every line, in order. Git tears no files, so that half a line at the end is damage like any other."""
    seq, prev, at = 0, FIRST, 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        line = parsed(data[at:end], at)
        if line is None:
            raise _damaged(name, at, seq + 1, "is cut off" if data[end - 1] != ord("\n") else "is not whole")
        if line.seq != seq + 1 or line.body["prev"] != prev:
            raise _damaged(name, at, seq + 1, "does not follow from the one before")
        yield line
        seq, prev, at = line.seq, line.sum, line.end


def _folded(state: State | None, record: Record) -> State:
    """The state after a record. A journal is of one workflow, which its first event starts, and no other."""
    first_ids = [event.ulid for event in record.events if isinstance(event, (Started, Adopted))]
    if state is None and not (first_ids and isinstance(record.events[0], (Started, Adopted))):
        raise ValueError("no workflow starts here")
    if len(first_ids) > (state is None):
        raise ValueError("another workflow starts here")
    if not all(map(is_ulid, first_ids)):
        raise ValueError("the workflow has no ULID")
    return fold(state, record)


def _refuse_unkept(state: State) -> None:
    """What cannot be written down again would stop the index and every snapshot."""
    entry = entry_of(state)
    for name, value in entry.items():
        if not isinstance(value, _KINDS.get(name, str)) and (name, value) != ("branch", None):
            raise TypeError(f"{name} is no text")
    compact(encode([entry, state])).encode()


def _shared(copy: Copy, ours: bytes) -> int:
    """How many lines of the copy are here, byte for byte."""
    start = 0
    for number, end in enumerate(copy.ends):
        if ours[start:end] != copy.data[start:end]:
            return number
        start = end
    return len(copy.ends)


def _damaged(name: str, offset: int, line: int, what: str) -> Broken:
    name = _printable(name)
    said = f"{name} is damaged at byte {offset}: line {line} {what}"
    return Broken("copy_damaged", said, remedy=remedies.doctor(), facts={"name": name, "offset": offset, "line": line})


def _printable(text: str) -> str:
    """What came from outside ends up on a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[:_SHOWN])

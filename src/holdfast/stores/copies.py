"""Copies of a journal that travel with git: whether one can be believed, and how it stands to the journal here.

A copy comes from outside. It is taken in only when every line is whole, chained to the one before, and says something
that can be folded, and kept: a workflow that the index could not name would hide all others.
"""

from __future__ import annotations

from holdfast.core import remedies
from holdfast.core.apply import Record, fold
from holdfast.core.events import Adopted, Started
from holdfast.core.names import is_ulid
from holdfast.core.state import State
from holdfast.core.value import Value
from holdfast.engine.codec import decode_record, encode
from holdfast.engine.ports import entry_of
from holdfast.errors import Broken, Conflict, HoldfastError
from holdfast.files.replace import durable_write, not_written, read_file
from holdfast.plain.plainjson import compact
from holdfast.stores.lines import FIRST, parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Iterator

    from holdfast.stores.lines import Line

LARGEST = 256 << 20
_SHOWN = 400
UNKNOWN, SAME, BEHIND, AHEAD, FORKED = "unknown", "same", "behind", "ahead", "forked"
_FOREIGN = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What decoding and folding lead to when a line, though sealed, is nothing that Holdfast writes."""


class Standing(Value):
    """How a copy stands to the journal here: `common` is the last line they share, the others count the lines."""

    ulid: str
    kind: str
    common: int
    ours: int
    theirs: int


class Copy(Value):
    """A copy that was found good: its bytes, where each line ends, and the state it leads to."""

    ulid: str
    data: bytes
    ends: tuple[int, ...]
    state: State


def examined(data: bytes, name: str) -> Copy:
    """The copy, if all of it can be believed; `name` is what a refusal calls it."""
    if len(data) > LARGEST:
        raise _damaged(name, LARGEST, data.count(b"\n", 0, LARGEST) + 1, f"goes beyond {LARGEST >> 20} MiB")
    state: State | None = None
    ends = []
    for line in _lines(data, name):
        try:
            state = _folded(state, decode_record(line.body))
            if line.end == len(data):
                _refuse_unkept(state)
        except Broken:
            raise  # of a newer version, which is no damage
        except (HoldfastError, *_FOREIGN) as failure:
            said = _printable(f"{type(failure).__name__} {failure}")
            raise _damaged(name, line.start, line.seq, f"is not what Holdfast writes: {said}") from failure
        ends.append(line.end)
    if state is None:
        raise _damaged(name, 0, 1, "is missing")
    return Copy(ulid=state.ulid, data=data, ends=tuple(ends), state=state)


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


def gives_way(ours: bytes, copy: Copy, name: str, archive: str) -> bool:
    """Whether a copy is to take the place of our lines. Where they differ, that needs an archive, which gets ours."""
    found = compared(copy, ours)
    if found.kind == FORKED:
        if not archive:
            raise _forked(found, name)
        _keep(archive, ours)
    return found.kind in (AHEAD, FORKED)


def _keep(path: str, ours: bytes) -> None:
    """Puts a journal that gives way aside, durably. What an earlier try put there may be its beginning, nothing else.

    It is written again in any case: who made that try may have died before it was durable.
    """
    try:
        there = read_file(path)
    except FileNotFoundError:
        there = b""
    except OSError as failure:
        raise not_written(path, failure) from failure
    if not ours.startswith(there):
        raise Conflict(
            "archive_exists",
            f"{path} already keeps another journal; nothing was changed",
            remedy=remedies.recover(),
            facts={"path": path},
        )
    durable_write(path, ours, dir_mode=0o700, alone=True)


def _forked(found: Standing, name: str) -> Conflict:
    return Conflict(
        "journal_forked",
        f"{_printable(name)} and the journal of {found.ulid} here differ after line {found.common}: "
        f"{found.theirs} lines are there and {found.ours} here",
        remedy=remedies.recover(),
        facts={"ulid": found.ulid, "common": found.common, "ours": found.ours, "theirs": found.theirs},
    )


def _lines(data: bytes, name: str) -> Iterator[Line]:
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
    births = [event.ulid for event in record.events if isinstance(event, (Started, Adopted))]
    if state is None and not (births and isinstance(record.events[0], (Started, Adopted))):
        raise ValueError("no workflow starts here")
    if len(births) > (state is None):
        raise ValueError("another workflow starts here")
    if not all(map(is_ulid, births)):
        raise ValueError("the workflow has no ULID")
    return fold(state, record)


def _refuse_unkept(state: State) -> None:
    """What cannot be written down again would stop the index and every snapshot."""
    entry = entry_of(state)
    for name, value in entry.items():
        if not isinstance(value, bool if name == "active" else str) and (name, value) != ("branch", None):
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
    return Broken(
        "copy_damaged",
        f"{name} is damaged at byte {offset}: line {line} {what}",
        remedy=remedies.doctor(),
        facts={"name": name, "offset": offset, "line": line},
    )


def _printable(text: str) -> str:
    """What came from outside ends up on a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[:_SHOWN])

"""Journals, read whole and without touching them, and what the views of them should say."""

from __future__ import annotations

import os
from _collections_abc import Iterable, Iterator, Sequence

from holdfast.core import remedies
from holdfast.core.state import State
from holdfast.engine.codec import encode
from holdfast.engine.ports import Examined, Fault, entry_of
from holdfast.errors import Broken, Conflict, HoldfastError, NotFound
from holdfast.files.locks import locked
from holdfast.files.replace import durable_write, read_file, remove, sync_directories
from holdfast.plain.plainjson import compact
from holdfast.stores.index import NEWEST, Index
from holdfast.stores.journal import Journal
from holdfast.stores.lines import Line
from holdfast.stores.opened import folded
from holdfast.stores.snapshots import Snapshots
from holdfast.stores.witness import Seen, lines_missing

NO_SNAPSHOT = (-1, None)


def examined(
    ulid: str, name: str, size: int, journal: Iterable[Line], snapshot: tuple[int, State | None] = NO_SNAPSHOT
) -> Examined:
    """Reads `journal` to its end, or to what is wrong with it, and compares the snapshot with the fold at its line."""
    position, kept = snapshot
    state: State | None = None
    lines = end = 0
    damage: HoldfastError | None = None
    at_snapshot: State | None = None
    try:
        for line in journal:
            state = folded(state, [line], name)
            lines, end = line.seq, line.end
            if line.seq == position:
                at_snapshot = state
    except HoldfastError as error:
        damage = error
    if damage is None and size and not lines:
        damage = Broken("journal_damaged", f"{name} has no line that is whole", facts={"path": name, "offset": 0})
    wrong = "" if damage else _compared(position, kept, at_snapshot)
    return Examined(ulid, name, size, state, lines, end, damage, wrong)


def read(path: str, seen: Seen | None) -> Iterator[Line]:
    """Every line, with the one that was acknowledged last as far as is known."""
    try:
        with Journal(path) as journal:
            if seen:
                journal.expect(seen)
            yield from journal.history()
    except NotFound:
        raise lines_missing(path, 1, seen.seq if seen else 1) from None


def _compared(revision: int, kept: State | None, replayed: State | None) -> str:
    if revision < 0:
        return ""
    if kept is None:
        return "cannot be read"
    if replayed is None:
        return f"is of revision {revision}, which the journal does not have"
    return "" if compact(encode(kept)) == compact(encode(replayed)) else "differs from the journal"


def cut(home: str, examined: Examined, snapshots: Snapshots, wait: float) -> str:
    """Keeps a copy of the whole file in quarantine, then only the good lines; says where the copy is.

    The copy is durable before the journal is replaced. Where no line is whole, only the copy stays.
    """
    from holdfast.files import quarantine

    path = examined.name
    if not os.path.exists(path):
        snapshots.drop(examined.ulid)
        return ""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        locked(fd, path, wait)
        data = read_file(path)
        require_unchanged(examined, len(data) == examined.size and os.path.samestat(os.fstat(fd), os.stat(path)))
        kept = quarantine.keep(home, path, data, examined.damage.message if examined.damage else "damaged")
        snapshots.drop(examined.ulid)
        if examined.end:
            durable_write(path, data[: examined.end])
        else:
            remove(path)
            sync_directories(os.path.dirname(path), [])
    finally:
        os.close(fd)
    return kept


def require_unchanged(examined: Examined, is_same: bool) -> None:
    if not is_same:
        said = f"{examined.name} changed while it was examined"
        raise Conflict("journal_changed", said, remedy=remedies.doctor(repair=True), facts={"path": examined.name})


def faults(home: str, index: Index, stray: Sequence[str], examined: Sequence[Examined]) -> list[Fault]:
    root = os.path.dirname(home)
    paths = (os.path.relpath(path, root) for path in stray)
    found = [Fault("snapshot", f"{path} is of a workflow that is gone", path) for path in paths]
    for ulid in index.marked():
        message = f"a process died before the views of {ulid} were in place; the next command finishes them"
        found.append(Fault("unsettled", message, f"{os.path.basename(home)}/unsettled/{ulid}"))
    wrong = _index_fault(index, examined)
    return [*found, Fault("index", wrong, os.path.relpath(index.path, root))] if wrong else found


def _index_fault(index: Index, examined: Sequence[Examined]) -> str:
    """The index against the journals, those aside that are damaged or whose change it is still to learn of."""
    aside = {one.ulid for one in examined if one.state is None or one.damage} | set(index.announced())
    wanted = {one.ulid: entry_of(one.state) for one in examined if one.state is not None and one.ulid not in aside}
    listing = index.stored()
    if listing is None:
        if os.path.exists(index.path):
            return "the index cannot be read"
        return "the index is missing" if wanted else ""
    listed = listing.all()
    strangers = [ulid for ulid in listed if ulid not in wanted and ulid not in aside]
    wrong = [u for u, entry in listed.items() if u in wanted and not entry.says_the_same_as(wanted[u])]
    finished = sum(not entry.active for entry in wanted.values())
    unlisted = [u for u, e in wanted.items() if u not in listed and (e.active or finished <= NEWEST)]
    differs = [*strangers, *wrong, *unlisted]
    if differs:
        return f"the index differs from the journals: {len(differs)} entries"
    if not aside and listing.finished_count != finished:
        counts = f"{listing.finished_count} for {finished}"
        return f"the index differs from the journals: the count of finished ones, {counts},"
    return ""

"""Journals, read whole and without touching them; and cutting off what cannot be read, when a person asks for it."""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.apply import fold
from holdfast.core.state import State
from holdfast.core.value import Value
from holdfast.engine.codec import decode_record, decode_state, encode
from holdfast.errors import Broken, Conflict, HoldfastError
from holdfast.files.locks import locked
from holdfast.files.replace import durable_write, remove, sync_directories
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact, parse
from holdfast.stores.journal import Journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.project.wiring import Wired


class Reading(Value):
    """A journal from its first line on: the fold of what is whole, where that ends, and what is wrong after it."""

    ulid: str
    path: str
    size: int
    state: State | None = None
    lines: int = 0
    end: int = 0
    damage: HoldfastError | None = None
    snapshot: str = ""
    """What is wrong with the snapshot of the fold; empty when it is right, or there is none."""

    @property
    def survives(self) -> str:
        if not self.state:
            return "nothing before that can be read"
        return f"the {self.lines} lines before it are whole, until {self.state.updated_at}"


def read(wired: Wired, ulid: str) -> Reading:
    path = wired.store.path(ulid)
    found = os.path.getsize(path)
    position, kept = _snapshot(wired, ulid)
    state: State | None = None
    lines = end = 0
    damage: HoldfastError | None = None
    at_snapshot: State | None = None
    try:
        with Journal(path) as journal:
            for line in journal.history():
                state = fold(state, decode_record(line.body))
                lines, end = line.seq, line.end
                if line.seq == position:
                    at_snapshot = state
    except HoldfastError as error:
        damage = error
    except (KeyError, TypeError, ValueError, AssertionError, AttributeError) as error:
        damage = Broken(
            "journal_damaged",
            f"{path} is whole, but line {lines + 1} is not what Holdfast writes: {type(error).__name__} {error}",
            facts={"path": path, "offset": end, "seq": lines + 1},
        )
    if damage is None and found and not lines:
        damage = Broken("journal_damaged", f"{path} has no line that is whole", facts={"path": path, "offset": 0})
    wrong = "" if damage else _compared(position, kept, at_snapshot)
    return Reading(ulid, path, found, state, lines, end, damage, wrong)


def _snapshot(wired: Wired, ulid: str) -> tuple[int, State | None]:
    """The revision a snapshot is of, and what it says; -1 where there is none, 0 where it cannot be read."""
    try:
        with open(snapshot_path(wired, ulid), "rb") as file:
            seal, _, body = file.read().partition(b"\n")
    except FileNotFoundError:
        return -1, None
    if digest(body).encode() != seal:
        return 0, None
    try:
        state = decode_state(parse(body)["state"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return 0, None
    return state.revision, state


def _compared(revision: int, kept: State | None, replayed: State | None) -> str:
    if revision < 0:
        return ""
    if kept is None:
        return "cannot be read"
    if replayed is None:
        return f"is of revision {revision}, which the journal does not have"
    return "" if compact(encode(kept)) == compact(encode(replayed)) else "differs from the journal"


def snapshot_path(wired: Wired, ulid: str) -> str:
    return os.path.join(wired.place.home, "state", ulid[-2:].lower(), f"{ulid}.json")


def drop_snapshot(wired: Wired, ulid: str) -> None:
    """It is a view: the next loading folds the journal from its first line, and the next snapshot is right."""
    for view in (snapshot_path(wired, ulid), snapshot_path(wired, ulid) + ".slot"):
        remove(view)


def cut(wired: Wired, reading: Reading) -> str:
    """Keeps a copy of the whole file in quarantine, then only the good lines; says where the copy is.

    The copy is durable before the journal is replaced. Where no line is whole, only the copy stays.
    """
    fd = os.open(reading.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        locked(fd, reading.path, wired.settings.lock_wait)
        with open(reading.path, "rb") as file:
            data = file.read()
        if len(data) != reading.size or not os.path.samestat(os.fstat(fd), os.stat(reading.path)):
            raise Conflict(
                "journal_changed",
                f"{reading.path} changed while it was examined",
                remedy=remedies.doctor(repair=True),
                facts={"path": reading.path},
            )
        said = reading.damage.message if reading.damage else "damaged"
        kept = wired.documents.quarantine(reading.path, data, said)
        drop_snapshot(wired, reading.ulid)
        if reading.end:
            durable_write(reading.path, data[: reading.end])
        else:
            remove(reading.path)
            sync_directories(os.path.dirname(reading.path), [])
    finally:
        os.close(fd)
    return kept

"""Journals that lost lines: where these can be brought back from, and what becomes of the rest."""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core import remedies
from holdfast.core.state import State
from holdfast.engine.ports import LARGEST_COPY, Examined
from holdfast.errors import HoldfastError
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.systems.seam.registry import dialect, upkeep
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep.findings import Finding, broken

REPAIR = remedies.doctor(repair=True)


def finding(wired: Wired, reading: Examined, path: str) -> Finding:
    """What is missing, what is still there, and where the rest may be."""
    damage = reading.damage
    assert damage is not None
    said = [damage.message.replace(reading.name, path), reading.survives, *_showing(wired, reading.state)]
    copies = [name for name, data in _copies(wired, reading) if _reaches(wired, reading, name, data)]
    back = REPAIR.replace(text=f"bring the lines back from {copies[0]}") if copies else None
    keep = REPAIR.replace(text="give the missing lines up; copies go to quarantine")
    ways = (back,) if back else ("restore the file from a backup", keep)
    return broken(damage.code, "; ".join(said), ways, path)


def gone(wired: Wired, readings: list[Examined]) -> Iterator[Finding]:
    """What is told of journals that are gone as a whole, of those together that no copy brings back."""
    lost = []
    for reading in readings:
        if any(_reaches(wired, reading, name, data) for name, data in _copies(wired, reading)):
            yield finding(wired, reading, os.path.relpath(reading.name, wired.place.root))
        else:
            lost.append(reading)
    if lost:
        path = os.path.relpath(lost[0].name, wired.place.root)
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        give_up = REPAIR.replace(
            text="accept the loss; documents are then adopted, and their approvals are only claims"
        )
        said = f"{counted(lost)} {'is' if len(lost) == 1 else 'are'} gone: {path}{more}"
        yield broken("lines_missing", said, ("restore .holdfast from a backup", give_up), path)


def counted(lost: list[Examined]) -> str:
    """Journals that are gone: `2 journals with 9 lines that were acknowledged`."""
    lines = sum(int(str(one.damage.facts.get("missing", 0))) for one in lost if one.damage)
    what = "1 line that was" if lines == 1 else f"{lines} lines that were"
    return f"{len(lost)} journal{'' if len(lost) == 1 else 's'} with {what} acknowledged"


def _showing(wired: Wired, state: State | None) -> Iterator[str]:
    """The documents that show something else than the lines that are left."""
    if state is not None:
        known = {digest(wired.documents.render(state)), *(h for s in state.renderings for h in s.documents.values())}
        for path, data in _documents(wired, state):
            if digest(data) not in known:
                yield f"{path} shows more than these lines"


def bring_back(wired: Wired, reading: Examined) -> str:
    """Takes the missing lines from a copy that has them all; says from which, empty where there is none."""
    if reading.damage is None or reading.damage.code != "lines_missing":
        return ""
    for name, data in _copies(wired, reading):
        if _reaches(wired, reading, name, data):
            try:
                wired.reconciler.settle(wired.engine.show(wired.store.fast_forward(data, name)))
                return name
            except HoldfastError:
                continue  # of other lines than those that are missing
    return ""


def _reaches(wired: Wired, reading: Examined, name: str, data: bytes) -> bool:
    try:
        copy = wired.store.examine_copy(data, name)
    except HoldfastError:
        return False
    last = reading.damage.facts.get("last", 0) if reading.damage else 0
    return copy.ulid == reading.ulid and isinstance(last, int) and len(copy.ends) >= last


def _copies(wired: Wired, reading: Examined) -> Iterator[tuple[str, bytes]]:
    """Every copy of a journal that Holdfast knows of: what travels with git, the archive, the quarantine."""
    if reading.state is not None:
        name, data = upkeep(reading.state.dialect).copy(wired, reading.state)
        if data:
            yield name, data
    for folder in ("archive", "quarantine"):
        full = os.path.join(wired.place.home, folder)
        for name in sorted(os.listdir(full), reverse=True) if os.path.isdir(full) else ():
            if reading.ulid in name and name.endswith(".jsonl"):
                data = read_regular(os.path.join(full, name), LARGEST_COPY)
                if data:
                    yield os.path.relpath(os.path.join(full, name), wired.place.root), data


def give_up(wired: Wired, reading: Examined) -> Iterator[str]:
    """A person decided to continue with what is whole. Journal and documents are kept first; yields what was done."""
    path = os.path.relpath(reading.name, wired.place.root)
    count = reading.damage.facts.get("missing") if reading.damage else None
    kept = wired.store.repair(reading.ulid, reading)
    if count:
        which = "1 line that was acknowledged is" if count == 1 else f"{count} lines that were acknowledged are"
        yield f"{path} continues after line {reading.lines}: {which} given up"
    else:
        yield f"{path} was cut at byte {reading.end}; the whole of it is in {kept}"
    if reading.state is None:
        return
    state = wired.store.load(reading.ulid)
    for document, data in _documents(wired, state):
        if not wired.documents.recognition.wrote(state, document, digest(data)):
            copy = wired.documents.quarantine(document, data, "it shows lines of the journal that were given up")
            wired.documents.accept(state, document, data)
            yield f"{document} is rendered again; what it showed is in {copy}"
    wired.reconciler.settle(wired.engine.show(state))


def _documents(wired: Wired, state: State) -> Iterator[tuple[str, bytes]]:
    lens = dialect(state.dialect).document
    for path in (lens.path(state), *lens.former(state)):
        data = wired.documents.read(state, path) if path and not wired.documents.elsewhere(state, path) else None
        if data is not None:
            yield path, data

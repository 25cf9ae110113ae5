"""Archives workflows that ended, and cancels those that nobody continued. Nothing is deleted that cannot be read again.

The order makes a crash harmless at any point: first the document goes, then the journal moves to the archive, then
the index forgets it. Cleaning once more does the rest.
"""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core import commands as cmd
from holdfast.core import moment, queries
from holdfast.core.definition import BUILT_IN
from holdfast.core.state import Actor, State
from holdfast.core.value import Value
from holdfast.documents import reconcile as kinds
from holdfast.errors import HoldfastError, NotFound, Refused
from holdfast.files.replace import remove
from holdfast.plain.digest import digest
from holdfast.project.project import Project
from holdfast.systems.seam.registry import dialect, system
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep import surroundings

DAY = 86_400
STALE_AFTER = 7 * DAY
CLEANER = Actor("engine", surface="clean")


class Cleaned(Value):
    """Workflows by id, documents by path."""

    archived: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    abandoned: tuple[str, ...] = ()


def clean(
    project: Project,
    *,
    now: str,
    dry_run: bool = False,
    all: bool = False,  # noqa: A002
    skills: bool = False,
    active: bool = False,
) -> Cleaned:
    """Archives what ended a day ago, or ever with `all`; gives up stale skills. Ages are the journals' own.

    With `active`, every workflow of a dialect whose documents are cleared away is given up, whatever its age.
    With `skills`, only what the index knows of definitions that are given up: quick enough for every start of one.
    """
    wired = project.wired
    if not os.path.isdir(wired.place.home):
        return Cleaned()
    if not dry_run:
        wired.reconciler.heal()
        _finish_earlier(wired)
    given_up = [state.id for state in _given_up(wired, dry_run=dry_run)] if active else []
    archived, removed = [], []
    for state in _finished_skills(wired) if skills else _finished(wired):
        kept_for = system(state.dialect).kept_for
        if not kept_for or (not all and moment.between(_ended(state), now) < kept_for):
            continue
        path = _document(wired, state)
        if not dry_run and not _archived(wired, state, path):
            continue
        archived.append(state.id)
        removed += [path] if path else []
    abandoned = [state.id for state in _stale(wired, now, dry_run=dry_run)]
    return Cleaned(tuple(archived), tuple(removed), (*given_up, *abandoned))


def _finished(wired: Wired) -> Iterator[State]:
    """From the journals: the index names only the newest. A damaged one is left to the doctor."""
    for ulid in list(wired.store.every()):
        try:
            reading = wired.store.examine(ulid)
        except NotFound:
            continue
        if reading.state is not None and not reading.damage and not queries.is_active(reading.state):
            yield reading.state


def _finished_skills(wired: Wired) -> Iterator[State]:
    for entry in wired.store.entries():
        if not entry.active and entry.type in system(entry.dialect).gives_up:
            try:
                yield wired.store.load(entry.ulid)
            except HoldfastError:
                continue


def _ended(state: State) -> str:
    mark = state.finalized or state.cancelled
    return mark.at if mark else state.finished_at


def _document(wired: Wired, state: State) -> str:
    """The path of a finished workflow's document, where it is there and no other workflow of that id wrote it."""
    path = dialect(state.dialect).document.path(state)
    try:
        data = wired.documents.read(state, path)
        if data is None or wired.documents.elsewhere(state, path):
            return ""
        ours = wired.documents.recognition.wrote(state, path, digest(data))
        return path if ours or not wired.documents.namesake(state, path, digest(data)) else ""
    except HoldfastError:
        return ""


def _archived(wired: Wired, state: State, path: str) -> bool:
    """False when somebody opened the workflow again meanwhile."""
    if path:
        data = wired.documents.read(state, path)
        if data is not None and not wired.documents.recognition.wrote(state, path, digest(data)):
            wired.documents.quarantine(path, data, f"changed after {state.id} had ended, and cleaned away")
        remove(wired.documents.full(state, path))
    try:
        wired.store.archive(state.ulid)
    except Refused:
        return False
    surroundings.drop_slots(wired, state.ulid)
    surroundings.drop_logs(wired)
    return True


def _finish_earlier(wired: Wired) -> None:
    """An earlier cleaning may have died between moving a journal and telling the index."""
    surroundings.drop_slots(wired)
    surroundings.drop_logs(wired)
    if any(not wired.store.has(entry.ulid) for entry in wired.store.entries()):
        wired.store.rebuild()


def _stale(wired: Wired, now: str, *, dry_run: bool) -> Iterator[State]:
    """Skills that nobody continued with. One that waits for somebody, is stuck or paused is not stale, only patient."""
    for entry in wired.store.entries():
        if not entry.active or entry.type not in system(entry.dialect).gives_up:
            continue
        try:
            state = wired.store.load(entry.ulid)
            if not _is_stale(state, now) or _touched(wired, state):
                continue
            if not dry_run:
                reason = f"nothing happened since {state.updated_at}"
                wired.reconciler.settle(wired.engine.execute(state.ulid, cmd.Cancel(reason), CLEANER))
        except HoldfastError:
            continue
        yield state


def _given_up(wired: Wired, *, dry_run: bool) -> Iterator[State]:
    for entry in wired.store.active():
        if system(entry.dialect).kept_for and entry.worktree == wired.place.key():
            state = wired.store.load(entry.ulid)
            if not dry_run:
                wired.reconciler.settle(wired.engine.execute(state.ulid, cmd.Cancel("all state was cleared"), CLEANER))
            yield state


def _is_stale(state: State, now: str) -> bool:
    if state.source != BUILT_IN and state.origin != "adopted":
        return False
    return queries.status(state) == "in_progress" and moment.between(state.updated_at, now) >= STALE_AFTER


def _touched(wired: Wired, state: State) -> bool:
    """Scripts may have continued in the document alone: what they wrote is still to be decided."""
    path = dialect(state.dialect).document.path(state)
    kind = wired.reconciler.classify(state, path, wired.documents.read(state, path))
    return kind in (kinds.EDITED, kinds.FROM_GIT, kinds.WRITING)

"""Which of several active workflows a session continues with: by what was written last, and by whom.

What a session itself wrote or named counts first. Notes that an agent keeps for itself, and that name another workflow
since, count more than that. Otherwise it is the one that somebody did something about last: its document, a command, or
a file of the project that speaks of it. That a compaction found a workflow says nothing about it. A session that is at
some workflow does not get one that only others are at.
"""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast.core import events as ev
from holdfast.core import moment, queries
from holdfast.core.apply import Record
from holdfast.core.state import State
from holdfast.core.value import Value
from holdfast.documents.reconcile import FILE
from holdfast.errors import HoldfastError
from holdfast.systems.seam.registry import dialect, upkeep
from holdfast.systems.seam.wired import Wired

LATEST = 200
"""How many of the newest lines of a journal are looked at."""


class _Evidence(Value):
    """What speaks for a workflow, in seconds since 1970."""

    session: float
    """When the session itself last wrote or named it."""
    acted: float
    source: str
    """The file of the project that speaks of it and was written last, and when."""
    written: float

    @property
    def last(self) -> float:
        return max(self.acted, self.written)


def best(wired: Wired, states: Sequence[State], session: str, meant: Sequence[str]) -> tuple[State, str] | None:
    """The state to continue with, and why; `meant` are those of this branch. None where there is nothing to choose."""
    active = [state for state in states if queries.is_active(state)]
    if any(session in state.seats for state in active):
        active = [state for state in active if not any(state.seats) or session in state.seats]
    found = [(state, _evidence(wired, state, session)) for state in active]
    if not found:
        return None
    if len(found) == 1:
        return found[0][0], "this session is at it, and others at the rest"
    own, mine = max(found, key=lambda one: one[1].session)
    noted = [one for one in found if one[1].source in upkeep(one[0].dialect).own_notes]
    name, notes = max(noted, key=lambda one: one[1].written, default=(own, mine))
    if mine.session and not (name is not own and notes.written > max(mine.session, mine.written)):
        return own, "this session worked on it last"
    first, told = max(found, key=lambda one: (one[0].ulid in meant, one[1].last, session in one[0].seats))
    if mine.session:
        first, told = name, notes
    at = moment.whole(moment.from_epoch(int(told.last)))
    is_noted = told.written > told.acted
    return first, f"{told.source}, written {at}, names it" if is_noted else f"it was worked on last, {at}"


def _evidence(wired: Wired, state: State, session: str) -> _Evidence:
    own = acted = 0.0
    try:
        for record in wired.store.history(state.ulid, max(0, state.revision - LATEST)):
            if _is_an_act(record):
                acted = _at(wired, state, record)
                own = acted if session and record.actor.session == session else own
    except HoldfastError:
        pass  # of its journal: what is known speaks for it
    path = dialect(state.dialect).document.path(state)
    if path and not wired.documents.is_untouched(state, path):
        acted = max(acted, _written(wired, path))  # an edit that nobody has looked at yet
    files = {source: _written(wired, source) for source in upkeep(state.dialect).sources(state)}
    source = max(files, key=lambda name: files[name], default="")
    return _Evidence(own, acted, source, files.get(source, 0.0))


def _is_an_act(record: Record) -> bool:
    """What hooks note by themselves is none, but for a session that sat down because it wrote or was told."""
    return record.actor.kind != "hook" or any(isinstance(event, ev.Seated) for event in record.events)


def _at(wired: Wired, state: State, record: Record) -> float:
    """When it was done. A document that was found was written before."""
    at = moment.to_epoch(record.at)
    if record.revision == 1 and record.actor.kind == FILE.kind:
        written = _written(wired, dialect(state.dialect).document.path(state))
        return min(at, written) if written else at
    return at


def _written(wired: Wired, path: str) -> float:
    try:
        return os.stat(os.path.join(wired.place.worktree, path)).st_mtime
    except OSError:
        return 0.0

"""Which workflow a session of a host is at."""

from __future__ import annotations

import os

from holdfast.core import queries
from holdfast.core.briefing import Briefing, position
from holdfast.core.commands import Facts
from holdfast.core.state import Actor, State
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError
from holdfast.systems.seam.found import loaded
from holdfast.systems.seam.registry import upkeep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.project.project import Project
    from holdfast.project.workflow import Workflow

LONGEST = 100
"""How much of a session's id is kept, here as in the environment."""
OTHERS = 5
"""How many of the other workflows a session is told of one by one."""


def hook_of(session: str) -> Actor:
    """Who acts when a hook notes something for a session."""
    return Actor("hook", surface="hook", session=session[:LONGEST])


def bound(project: Project, session: str) -> State | None:
    """The active workflow that a session sat down at last."""
    if not session:
        return None
    wired = project.wired
    listed = [str(one["ulid"]) for one in wired.documents.guard.entries() if session in one.get("sessions", ())]
    found = [state for state in loaded(wired, listed) if session in state.seats and queries.is_active(state)]
    return max(found, key=lambda state: state.seats[session].at, default=None)


def named_or_chosen(project: Project, word: str, session: str, *, finished: bool = False) -> tuple[Workflow, list[str]]:
    """The workflow that is named; without a name the one to go on with, and a line of each other.

    With `finished`, the last one that ended, where none is active any more.
    """
    if word:
        return project.workflow(word), []
    project.heal()
    first, others = chosen(project, session)
    return first or project.latest(finished=finished), others


def chosen(project: Project, session: str) -> tuple[Workflow | None, list[str]]:
    """The workflow a session goes on with, and a line of each other: its own first, else the one last worked on here,
    on this branch where there is one.

    There may be a great many: only those are opened that are told of.
    """
    from holdfast.project.workflow import Workflow

    wired = project.wired
    running = [entry for entry in wired.store.active() if entry.worktree == wired.place.key()]
    meant = {entry.ulid for entry in wired.candidates()}
    running.sort(key=lambda entry: (entry.ulid in meant, _touched(project, entry)), reverse=True)
    own = bound(project, session)
    if own is not None:
        running = [entry for entry in running if entry.ulid != own.ulid]
        first: State | None = _looked_at(project, own)
    else:
        first = None
        while running and first is None:
            states = [_looked_at(project, state) for state in loaded(wired, [running.pop(0).ulid])]
            first = next((state for state in states if queries.is_active(state)), None)
    others = [position(Briefing(state, Facts(""))) for state in loaded(wired, [e.ulid for e in running[:OTHERS]])]
    if running[OTHERS:]:
        others.append(f"and {len(running) - OTHERS} more: holdfast list")
    return Workflow(wired, first) if first is not None else None, others


def _touched(project: Project, entry: Entry) -> float:
    """When somebody last did something to a workflow, or wrote its document: from the files, without opening them."""
    last, file = project.wired.store.touched(entry.ulid), upkeep(entry.dialect).touched(entry)
    try:
        return max(last, os.stat(os.path.join(project.wired.place.worktree, file)).st_mtime) if file else last
    except OSError:
        return last


def _looked_at(project: Project, state: State) -> State:
    """With what others wrote into its document; where that cannot be read, as the journal has it."""
    try:
        return project.wired.reconciler.reconcile(state)
    except HoldfastError:
        return state

"""Which workflow a session of a host is at."""

from __future__ import annotations

import os

from holdfast.core import commands as cmd
from holdfast.core import queries
from holdfast.core.briefing import Briefing
from holdfast.core.facts import Facts
from holdfast.core.standing import position
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
COMPARED = 8
"""How many of the active workflows, those touched last, are opened to find the one to continue with."""


def hook_of(session: str) -> Actor:
    """Who acts when a hook notes something for a session."""
    return Actor("hook", surface="hook", session=session[:LONGEST])


def bound(project: Project, session: str) -> State | None:
    """The active workflow that a session sat down at last, of those that can be read."""
    return _newest(session, loaded(project.wired, _seated(project, session)))


def _seated(project: Project, session: str) -> list[str]:
    """The workflows that a session sat down at and that were active then."""
    entries = project.wired.documents.guard.entries() if session else ()
    return [str(one["ulid"]) for one in entries if session in one.get("sessions", ())]


def unreadable(project: Project, session: str) -> list[str]:
    """The workflows that a session sat down at and whose journals cannot be read."""
    ulids = _seated(project, session)
    found = {state.ulid for state in loaded(project.wired, ulids, quietly=True)}
    return [ulid for ulid in ulids if ulid not in found]


def _newest(session: str, states: list[State]) -> State | None:
    found = [state for state in states if session in state.seats and queries.is_active(state)]
    return max(found, key=lambda state: state.seats[session].at, default=None)


def named_or_chosen(project: Project, word: str, session: str, *, finished: bool = False) -> tuple[Workflow, list[str]]:
    """The workflow that is named, which the session is at from then on; without a name the one to continue with, and a
    line of each other.

    With `finished`, the last one that ended, where none is active any more.
    """
    if word:
        workflow = project.workflow(word)
        sit(project, workflow.state, session)
        return project.workflow(workflow.ulid), []
    project.heal()
    first, others = chosen(project, session)
    return first or project.latest(finished=finished), others


def sit(project: Project, state: State, session: str) -> None:
    """The session is at this workflow from now on: it wrote its document, or takes it up by its name."""
    wired = project.wired
    if not session or not queries.is_active(state) or wired.store.read_only:
        return
    own = bound(project, session)
    if own is None or own.ulid != state.ulid:
        wired.execute(state.ulid, cmd.Sit(), wired.settings.actor)


def chosen(project: Project, session: str) -> tuple[Workflow | None, list[str]]:
    """The workflow a session continues with, and a line of each other: by the evidence where there are several (see
    `choosing`); where none is active here, the only one, as for a command without `-w`.

    There may be a great many: only those are opened that are told of. Where the session's own cannot be read, this
    fails: another one in its place would lead the agent to somebody else's work.
    """
    from holdfast.project.workflow import Workflow

    wired = project.wired
    meant = wired.candidates()
    running = [entry for entry in wired.store.active() if entry.worktree == wired.place.key()]
    running = running or list(meant if len(meant) == 1 else ())
    running.sort(key=lambda entry: (entry in meant, _touched(project, entry)), reverse=True)
    seated = [wired.store.load(ulid) for ulid in _seated(project, session)]
    own = _newest(session, seated)
    why = ""
    if len(running) > 1:
        from holdfast.project import choosing

        here = [entry.ulid for entry in running[:COMPARED]]
        others = loaded(wired, [ulid for ulid in here if all(state.ulid != ulid for state in seated)], quietly=True)
        best = choosing.best(wired, [*seated, *others], session, [entry.ulid for entry in meant])
        own, why = best or (own, "")
    if own is not None:
        running = [entry for entry in running if entry.ulid != own.ulid]
        ended = looked_at(project, own)
        first: State | None = ended
        if running and not queries.is_active(ended):
            return chosen(project, session)  # its document is gone: that ended it
    else:
        first = None
        while running and first is None:
            states = [looked_at(project, state) for state in loaded(wired, [running.pop(0).ulid])]
            first = next((state for state in states if queries.is_active(state)), None)
        left = loaded(wired, [] if first else [entry.ulid for entry in wired.to_finalize()])
        first = first or max(left, key=lambda state: state.updated_at, default=None)
    others_ = [position(Briefing(state, Facts(""))) for state in loaded(wired, [e.ulid for e in running[:OTHERS]])]
    if running[OTHERS:]:
        others_.append(f"and {len(running) - OTHERS} more: holdfast list")
    workflow = Workflow(wired, first) if first is not None else None
    if workflow is not None and others_:
        workflow.chosen = why
    return workflow, others_


def _touched(project: Project, entry: Entry) -> float:
    """When somebody last did something to a workflow, or wrote its document: from the files, without opening them."""
    last, file = project.wired.store.touched(entry.ulid), upkeep(entry.dialect).touched(entry)
    try:
        return max(last, os.stat(os.path.join(project.wired.place.worktree, file)).st_mtime) if file else last
    except OSError:
        return last


def looked_at(project: Project, state: State, *, complete: bool = False) -> State:
    """With what others wrote into its document; where that cannot be read, as the journal has it."""
    try:
        return project.wired.reconciler.reconcile(state, complete=complete)
    except HoldfastError:
        return state

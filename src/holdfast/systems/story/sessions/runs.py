"""The workflows of a session: found, carried over to the project, or forgotten."""

from __future__ import annotations

import os

from holdfast.core import commands as cmd
from holdfast.core import queries
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.documents import approved
from holdfast.files.replace import make_directories
from holdfast.plain.digest import digest
from holdfast.systems.seam.found import loaded
from holdfast.systems.seam.registry import dialect
from holdfast.systems.seam.wired import Wired
from holdfast.systems.story.sessions.changes import APPEARED
from holdfast.systems.story.sessions.files import content, drop
from holdfast.systems.story.sessions.layout import ARTIFACTS, STATES, WORKSPACE, Layout

ACTIVE_TOO = "active_too"
"""Why a run of the session cannot become one of the project: the same work is under way there."""


def named(wired: Wired, layout: Layout) -> list[str]:
    """The ULIDs of a session's workflows, the finished and cancelled ones too, the damaged ones included.

    The index names all active ones and the newest finished ones. Only where it leaves some out are journals opened.
    """
    entries = wired.store.entries()
    found = [e.ulid for e in entries if (e.session, e.worktree) == (layout.name, layout.worktree)]
    if wired.store.finished_count() > sum(not entry.active for entry in entries):
        known = {entry.ulid for entry in entries}
        rest = [ulid for ulid in wired.store.every() if ulid not in known]
        found += [state.ulid for state in loaded(wired, rest, quietly=True) if _belongs(state, layout)]
    return sorted(found)


def of(wired: Wired, layout: Layout) -> list[State]:
    """The workflows themselves. A damaged one is refused: nobody knows what it would carry over."""
    return [state for ulid in named(wired, layout) if _belongs(state := wired.store.load(ulid), layout)]


def _belongs(state: State, layout: Layout) -> bool:
    return (state.session, state.worktree) == (layout.name, layout.worktree)


def settled(wired: Wired, states: list[State]) -> list[State]:
    """Edits of their documents are decided first: what is carried over is what people see."""
    return [wired.reconciler.reconcile(state) if queries.is_active(state) else state for state in states]


def summary(state: State) -> dict[str, Any]:
    word = dialect(state.dialect).status_words.get(queries.status(state), queries.status(state))
    return {"workflow_id": state.id, "ulid": state.ulid, "workflow_type": state.type, "status": word}


def twins(wired: Wired, layout: Layout, states: list[State]) -> list[State]:
    """The active runs outside of sessions that are the same work as an active one of the session: one has to go."""
    own = [_work(state) for state in states if queries.is_active(state)]
    outside = [e.ulid for e in wired.store.active() if not e.session and e.worktree == layout.worktree] if own else []
    return [state for state in loaded(wired, outside, quietly=True) if _work(state) in own]


def _work(state: State) -> tuple[str, str, dict[str, Any]]:
    """What a run is of: the chapters of two acts may have the same number."""
    return state.type, state.subject, {name: state.context.get(name) for name in ("level", "act", "chapter", "scene")}


def conflicts(wired: Wired, layout: Layout, states: list[State]) -> list[dict[str, str]]:
    """Documents that would come to be where another file is, and work that would be under way twice."""
    out = []
    for state in twins(wired, layout, states):
        path = dialect(state.dialect).document.path(state)
        out.append({"path": path, "reason": ACTIVE_TOO, "workflow_id": state.id})
    for state in states:
        document = dialect(state.dialect).document
        here, there = document.path(state), document.path(state.replace(session=""))
        if here != there and os.path.lexists(layout.full(there)):
            out.append({"path": there, "reason": APPEARED})
    return out


def carry_over(wired: Wired, layout: Layout, ulids: list[str]) -> None:
    """Makes workflows the project's own: journal first, then document and lists. Twice is as good as once."""
    wired.reconciler.heal()
    found = [state.ulid for state in of(wired, layout)]  # one may have been started since the plan was made
    for ulid in dict.fromkeys((*ulids, *found)):
        command = cmd.Rehome(f"{layout.folder}/", f"{WORKSPACE}/", ARTIFACTS)
        state = wired.execute(ulid, command, wired.settings.actor)  # of the session, not of one lease
        # A command forgives a document that cannot be put in place. Here the one in the session is about to go.
        wired.reconciler.settle(wired.engine.show(state))
        home = dialect(state.dialect).folder
        if home and os.path.isdir(layout.copy_of(os.path.relpath(home(state), WORKSPACE))):
            make_directories(layout.full(home(state)), 0o777)  # a run that has produced nothing yet still has its place


def is_view(wired: Wired, layout: Layout, path: str, ulids: list[str]) -> bool:
    """Whether a file among the session's documents is only what Holdfast wrote there."""
    if path == f"{STATES}/index.json":
        return True
    hashed = digest(content(layout.copy_of(path)) or b"")
    return any(hashed in wired.documents.recognition.hashes(wired.store.load(ulid)) for ulid in ulids)


def traces(wired: Wired, layout: Layout, states: list[State]) -> list[str]:
    """Files of workflows that are outside of the session's folder: their logs, and documents of other dialects."""
    out = []
    for state in states:
        spoken = dialect(state.dialect)
        if spoken.log:
            out.append(spoken.log(state))
        path = spoken.document.path(state)
        data = None if path.startswith(f"{layout.folder}/") else content(layout.full(path))
        # Ids recur in some dialects: the document may be that of another workflow by now.
        if data is not None and digest(data) in wired.documents.recognition.hashes(state):
            out.append(path)
    return out


def forget(wired: Wired, layout: Layout, ulids: list[str], files: list[str]) -> None:
    """Removes journals, what was made from them, and files they left in the project."""
    wired.store.delete(ulids)
    for folder in (os.path.join(wired.place.home, named) for named in ("slots", approved.FOLDER)):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name.partition("-")[0] in ulids:
                drop(os.path.join(folder, name))
    for path in files:
        drop(layout.full(path))

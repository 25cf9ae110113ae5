"""Documents that a journal knows: one that was lost and came back is the workflow that it was, with all its gates."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, moment, queries, remedies
from holdfast.core.definition import Definition
from holdfast.core.facts import Facts
from holdfast.core.remedy import Scope, typed
from holdfast.core.state import Alert, State
from holdfast.core.value import Any
from holdfast.documents.lens.spec import Dialect
from holdfast.documents.reconcile import FILE
from holdfast.engine.ports import Entry
from holdfast.errors import Conflict, HoldfastError
from holdfast.files.replace import durable_write, remove
from holdfast.plain.digest import digest
from holdfast.systems.seam.found import Found, loaded, orphaned
from holdfast.systems.seam.wired import Wired

_NEVER = "1970-01-01T00:00:00Z"


def namesakes(wired: Wired, found: Found) -> list[State]:
    """The workflows of this worktree that have a name of a document, the newest first."""
    names = {name for name in found.names if name}
    same = {e.ulid for name in names for e in wired.store.find(name) if (e.id, e.worktree) == (name, wired.place.key())}
    return loaded(wired, sorted(same, reverse=True), quietly=True)


def known(wired: Wired, found: Found) -> State | None:
    """The workflow that wrote a document: it has its id, and began when the document says that it began."""
    created = _created(found.dialect, found.document)
    same = (state for state in namesakes(wired, found) if created)
    return next((s for s in same if _created(found.dialect, wired.documents.value(s)) == created), None)


def _created(spoken: Dialect, document: Mapping[str, Any]) -> str:
    """When the workflow of a document began, to the second; empty where it is none that can be understood."""
    try:
        return str(int(moment.to_epoch(spoken.adopt(document, None, Facts(now=_NEVER), "").created_at)))
    except HoldfastError:
        return ""


def goes_on(wired: Wired, state: State, found: Found) -> bool:
    """Whether a document takes back that a workflow was given up.

    What was given up by way of the document is taken back the same way, and an end that it claims is an edit. Otherwise
    an old rendering says nothing: git and backups bring such a document by themselves.
    """
    if queries.is_active(state) or state.finalized or (said := _said(state, found)).cancelled:
        return False
    if state.cancelled is not None and state.cancelled.by == FILE.kind:
        return True
    if not _step(state, said):
        return False
    if state.cancelled is not None:
        return digest(found.data) not in wired.documents.recognition.hashes(state)
    return list(wired.store.history(state.ulid))[-1].actor.kind == FILE.kind


def _said(state: State, found: Found) -> State:
    """How the workflow is by what the document says."""
    definition = Definition(name=state.type, steps=state.plan.steps)
    return found.dialect.adopt(found.document, definition, Facts(now=_NEVER), state.ulid)


def _step(state: State, said: State) -> str:
    """The first step that is still to be done by what a document says; empty when it speaks of an end too."""
    return next((path for path in state.plan.leaves() if said.step(path).status not in lifecycle.FINISHED), "")


def take(wired: Wired, found: Found) -> State | None:
    """Reopens the workflow that a document belongs to, and decides about the document as an edit.

    None where no journal knows the document.
    """
    state = known(wired, found)
    if state is None or queries.is_active(state):
        return None
    if not goes_on(wired, state, found):
        message = f"{found.path} is a document of {state.id}, which has ended"
        facts = {"workflow": state.id, "ulid": state.ulid, "path": found.path}
        resume = remedies.resume(workflow=state.ulid)
        way = remedies.person("this", resume) if queries.is_by_person(state.cancelled) else (resume,)
        raise Conflict("already_ended", message, remedy=way, facts=facts)
    path = found.dialect.document.path(state.replace(cancelled=None, finished_at=""))
    if path != found.path and wired.documents.read(state, path) is None:
        durable_write(wired.documents.full(state, path), found.data, mode=found.dialect.mode)
        remove(wired.documents.full(state, found.path))
    opened = cmd.Reinstate() if state.cancelled else cmd.Reopen(_step(state, _said(state, found)))
    said = f"{path} is back, so {state.id}, which had ended, continues"
    alert = Alert(wired.world.now(), "document_returned", said, path)
    after = wired.execute(state.ulid, cmd.Together((opened, cmd.Alarm(alert))), FILE)
    return wired.reconciler.reconcile(after)


def reopened(wired: Wired, entry: Entry) -> State | None:
    """The workflow of an entry that has ended, where its document is back."""
    if entry.worktree != wired.place.key() or wired.store.read_only:
        return None
    back = [one for one in orphaned(wired, only=entry.dialect) if one.id == entry.id and one.wrong is None]
    states = ((one, known(wired, one)) for one in back)
    return next((take(wired, one) for one, state in states if state and state.ulid == entry.ulid), None)


def take_second(wired: Wired, found: Found) -> None:
    """A second document of an active workflow, which began when it did: an edit, where it is the newer of the two.

    A copy of what the workflow's own document said is left alone.
    """
    state = known(wired, found)
    if state is None or not queries.is_active(state):
        return
    path = found.dialect.document.path(state)
    full, other = wired.documents.full(state, path), wired.documents.full(state, found.path)
    is_there = os.path.lexists(full)
    if is_there and wired.documents.recognition.ever_wrote(
        state, path, digest(found.data), lambda past: wired.engine.is_base(past, found.document)
    ):
        return
    said = f"{found.path} is a second document of {state.id}, whose own is {path}"
    said = said if is_there else f"{found.path} is the document of {state.id}, whose place is {path}"
    if is_there and os.stat(other).st_mtime < os.stat(full).st_mtime:
        said += ", and older: it changes nothing"
        if all(alert.message != said for alert in state.alerts):
            wired.execute(state.ulid, cmd.Alarm(Alert(wired.world.now(), "second_document", said, found.path)), FILE)
        return
    state = wired.reconciler.reconcile(state) if is_there else state
    kept = wired.documents.quarantine(found.path, found.data, said)
    durable_write(full, found.data, mode=found.dialect.mode)
    remove(other)
    said += ": it was taken as an edit of that one, and removed" if is_there else ": it was restored there"
    state = wired.reconciler.reconcile(state, complete=True)
    wired.execute(state.ulid, cmd.Alarm(Alert(wired.world.now(), "second_document", said, path, kept)), FILE)


def tell_namesake(wired: Wired, state: State) -> None:
    """Another active workflow of the same name may be the same work, begun a second time."""
    named = (state.title or "").casefold()
    same = [e for e in wired.store.active() if (e.dialect, e.worktree) == (state.dialect, state.worktree)]
    other = next((e for e in same if e.ulid != state.ulid and (e.title or "").casefold() == named), None)
    if other is None or not queries.is_active(state):
        return
    given_up = typed(remedies.cancel(workflow=other.ulid), Scope(active={other.ulid: other.id}, about=other.ulid))
    said = (
        f"{other.id} is active too and has the same name, but another created_at. If this is the same work: {given_up}"
    )
    wired.execute(state.ulid, cmd.Alarm(Alert(wired.world.now(), "same_name", said)), FILE)

"""Workflows that nobody registered: state files that agents wrote, and notes of the project that speak of one.

What is found is merged with what is known. An agent's own fields are never written over: notes only add what is new
in them since they were last looked at.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import moment, queries
from holdfast.core.facts import Facts
from holdfast.core.state import Actor, Alert, State
from holdfast.core.value import Any
from holdfast.documents.lens.edits import finishing
from holdfast.documents.reconcile import FILE
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError
from holdfast.plain import ulid
from holdfast.systems.compaction.adoption import file_of
from holdfast.systems.compaction.document import DIALECT, left_out, position
from holdfast.systems.compaction.rules import seen
from holdfast.systems.seam.found import loaded
from holdfast.systems.seam.parts import Upkeep
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.systems.compaction.detection import Sighting

MOST_COMPARED = 50
"""How many active workflows are opened to find the one of a plan."""
_ENDS = ("completed", "cancelled")
NOTES = ("CLAUDE.local.md", "CLAUDE/Plan")
"""Where a project keeps notes of workflows."""


def take_sightings(wired: Wired, actor: Actor) -> list[str]:
    """What the project's own notes say of workflows, merged with what is known; new ones are begun.

    Says what was wrong with those that could not be taken over.
    """
    base = wired.place.worktree
    if not any(os.path.lexists(os.path.join(base, name)) for name in NOTES):
        return []
    from holdfast.systems.compaction.detection import detect

    wrong = []
    named: set[str] = set()
    for sighting in detect(base):
        try:
            ulid_ = _take(wired, sighting, actor)
            named |= set() if _is_plan(sighting) else {ulid_}
        except HoldfastError as refusal:
            wrong.append(refusal.message)
    if named and not wrong:
        _forget(wired, named, actor)
    return wrong


def _forget(wired: Wired, named: set[str], actor: Actor) -> None:
    """The workflows that the notes named before and name no longer."""
    rest = [entry.ulid for entry in wired.store.active() if _is_ours(wired, entry) and entry.ulid not in named]
    for state in loaded(wired, rest[:MOST_COMPARED]):
        if seen(state).get(NOTES[0]):
            gone = {"source": NOTES[0], "account": {}}
            wired.execute(state.ulid, cmd.Own(DIALECT.name, "sight", gone), actor)


def _take(wired: Wired, sighting: Sighting, actor: Actor) -> str:
    """The ULID of the active workflow that the sighting is about; empty where there is none."""
    known = _known(wired, sighting)
    if known is None:
        starts = _goes_on(sighting) and not _is_over(wired, sighting) and not _is_read(wired, sighting)
        return _begin(wired, sighting, actor) if starts else ""
    _merge(wired, sighting, known, actor)
    return known.ulid


def _merge(wired: Wired, sighting: Sighting, known: State, actor: Actor) -> None:
    shown_at = _written(wired, DIALECT.document.path(known))
    state = wired.reconciler.reconcile(known)
    before = seen(state).get(sighting.source) or None
    if before == _account(sighting) or not queries.is_active(state):
        return
    moved_at = shown_at if before is None or state.revision != known.revision else _moved_at(state)
    is_newer = _written(wired, sighting.source) > moved_at
    sight = _sight(sighting)
    if _is_plan(sighting) and sighting.status in _ENDS:
        if before is not None and before["phase"]["status"] not in _ENDS:
            how = _brought(wired, sighting.source)
            _goes_on_by_git(wired, state, sighting, how) if how else _end(wired, state, sighting)
        else:
            wired.execute(state.ulid, sight, actor)
        return
    additions = _additions(state, sighting, before or {}, is_newer)
    moves = _moves(wired, state, sighting, before, is_newer)
    for more in ((*additions, *moves), tuple(additions)):
        try:
            outcome = wired.engine.execute(state.ulid, cmd.Together((sight, *more)), actor)
            break
        except HoldfastError:
            continue  # a gate holds, or there is no room: that was looked at, and is not taken
    else:
        outcome = wired.engine.execute(state.ulid, sight, actor)
    wired.reconciler.settle(outcome)


def _is_plan(sighting: Sighting) -> bool:
    return sighting.source.startswith(NOTES[1])


def _goes_on(sighting: Sighting) -> bool:
    """Whether a workflow begins that nobody knows: for a plan, only where its status says that it is worked on."""
    return not _is_plan(sighting) or sighting.status == "in_progress"


def _written(wired: Wired, path: str) -> float:
    """When a file of the worktree was last written; never, where it is not there."""
    try:
        return os.stat(os.path.join(wired.place.worktree, path)).st_mtime if path else 0.0
    except OSError:
        return 0.0


def _moved_at(state: State) -> float:
    """When a phase last began or ended."""
    times = [time for one in state.progress.values() for time in (one.started_at, one.finished_at) if time]
    return max(map(moment.to_epoch, times), default=0.0)


def _is_over(wired: Wired, sighting: Sighting) -> bool:
    """Whether the notes are about a workflow that ended, and nobody has touched them since."""
    same = _called(wired, sighting.workflow, [entry for entry in wired.store.entries() if not entry.active])
    last = max(same, key=lambda state: state.updated_at, default=None)
    if last is None:
        return False
    try:
        written = os.stat(os.path.join(wired.place.worktree, sighting.source)).st_mtime
    except OSError:
        return True
    return seen(last).get(sighting.source) == _account(sighting) or written <= moment.to_epoch(last.updated_at)


def _end(wired: Wired, state: State, sighting: Sighting) -> None:
    """A plan whose status says that it is over ends its workflow; a copy of the document is kept.

    It counts as said by a file: to put the document back is to resume the workflow.
    """
    path, said = DIALECT.document.path(state), f"{sighting.source} says: {sighting.reason}"
    data = wired.documents.read(state, path) if path else None
    kept = wired.documents.quarantine(path, data, said) if data else ""
    alert = cmd.Alarm(Alert(wired.world.now(), "ended_by_plan", f"{said}, so the workflow ended", path, kept))
    ending = [cmd.Cancel(said)] if sighting.status == "cancelled" else finishing(state, said)
    wired.execute(state.ulid, cmd.Together((_sight(sighting), alert, *ending)), FILE)


def _brought(wired: Wired, path: str) -> str:
    """How git changed a file of the worktree; empty where somebody wrote it."""
    repository = wired.place.repository
    if repository is None:
        return ""
    from holdfast.git import moves

    return moves.brought(repository, os.path.join(wired.place.worktree, path))


def _goes_on_by_git(wired: Wired, state: State, sighting: Sighting, how: str) -> None:
    said = f"{sighting.source} says: {sighting.reason}, as git brought it ({how}): that ends nothing"
    alert = cmd.Alarm(Alert(wired.world.now(), "plan_from_git", said, sighting.source))
    wired.execute(state.ulid, cmd.Together((_sight(sighting), alert)), FILE)


def _known(wired: Wired, sighting: Sighting) -> State | None:
    """The active workflow that the notes are about, the one last worked on where there are several of the name.

    A plan may be known by another name: its workflow was seen in it before, or has its number or its title.
    """
    active = wired.store.active()
    same = [state for state in _called(wired, sighting.workflow, active) if queries.is_active(state)]
    if not same and _is_plan(sighting):
        same = [state for state in _compared(wired) if _is_about(state, sighting)]
    return max(same, key=lambda state: state.updated_at, default=None)


def _compared(wired: Wired) -> list[State]:
    """The active workflows that a plan is compared with."""
    own = [entry.ulid for entry in wired.store.active() if _is_ours(wired, entry)][:MOST_COMPARED]
    return [state for state in loaded(wired, own) if queries.is_active(state)]


def _is_about(state: State, sighting: Sighting) -> bool:
    """Whether a plan is the workflow's own. One that it only reads says nothing of how far the workflow is."""
    if any(source.startswith(NOTES[1]) for source in seen(state)):
        return sighting.source in seen(state)
    plans = {entry for entry in state.reading if entry.startswith(f"@{NOTES[1]}/") and entry.endswith("/PLAN.md")}
    return (not plans or f"@{sighting.source}" in plans) and _is_named_by(state, sighting)


def _is_named_by(state: State, sighting: Sighting) -> bool:
    number, name = sighting.context.get("plan_number"), _plain(str(sighting.context["plan_name"]))
    said = str(state.context.get("plan_number", "")).lstrip("0")
    return (number is not None and said == str(number)) or _plain(state.title) == name


def _is_read(wired: Wired, sighting: Sighting) -> bool:
    """Whether a workflow has the plan among its reading: then it is worked on under that name."""
    return _is_plan(sighting) and any(f"@{sighting.source}" in state.reading for state in _compared(wired))


def _called(wired: Wired, name: str, among: list[Entry]) -> list[State]:
    """The workflows of this worktree that have a name."""
    here = [entry for entry in among if _is_ours(wired, entry)]
    return loaded(wired, [e.ulid for e in here if _plain(e.title or e.subject or e.type) == _plain(name)])


def _is_ours(wired: Wired, entry: Entry) -> bool:
    return (entry.dialect, entry.worktree) == (DIALECT.name, wired.place.key())


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


def _begin(wired: Wired, sighting: Sighting, actor: Actor) -> str:
    """Written down as the agent would have: a state file, from the moment it is seen."""
    now = wired.world.now()
    document = {
        "workflow": sighting.workflow,
        "workflow_type": sighting.type,
        "phase": _phase(sighting),
        "required_reading": list(sighting.reading),
        "context": dict(sighting.context),
        "key_reminders": list(sighting.reminders),
        "created_at": moment.whole(now),
    }
    state = DIALECT.adopt(document, None, Facts(now=now), ulid.new())
    if sighting.names:
        pairs = zip(state.plan.steps, sighting.names, strict=True)
        state = state.replace(plan=type(state.plan)(tuple(step.replace(name=name) for step, name in pairs)))
    wired.prepare(DIALECT.name)
    outcome = wired.engine.start(cmd.Adopt(state.replace(worktree=wired.place.key()), document), actor)
    state = wired.reconciler.settle(outcome)
    wired.execute(state.ulid, _sight(sighting), actor)
    return state.ulid


def _sight(sighting: Sighting) -> cmd.Own:
    return cmd.Own(DIALECT.name, "sight", {"source": sighting.source, "account": _account(sighting)})


def _is_as_sighted(shown: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether the document is where the notes put it when they were last looked at. They may have named no phase."""
    return all(shown["phase"].get(what) == said for what, said in before.items() if said or what != "name")


def _account(sighting: Sighting) -> dict[str, Any]:
    return {
        "phase": _phase(sighting),
        "reading": list(sighting.reading),
        "context": dict(sighting.context),
        "reminders": list(sighting.reminders),
    }


def _phase(sighting: Sighting) -> dict[str, Any]:
    """The position as a document says it. A plan that has begun and does not go on is blocked, whatever its word."""
    status = "blocked" if _is_plan(sighting) and sighting.status == "not_started" else sighting.status
    return {"current": sighting.current, "total": sighting.total, "name": sighting.phase, "status": status}


def _additions(state: State, sighting: Sighting, before: Mapping[str, Any], is_newer: bool) -> list[cmd.Command]:
    """What the notes say now and did not say before, and the workflow does not have. Of two values the newer counts."""
    out: list[cmd.Command] = []
    for what, has in (("reading", state.reading), ("reminders", state.reminders)):
        said, old = getattr(sighting, what), before.get(what, ())
        new = tuple(item for item in said if item not in has and item not in old)
        if new:
            out.append(cmd.Brief(what, add=new))
    old = before.get("context", {})
    new_values = {k: v for k, v in sighting.context.items() if old.get(k) != v and state.context.get(k) != v}
    values = {k: v for k, v in new_values.items() if is_newer or k not in state.context}
    return [*out, cmd.Record(values)] if values else out


def _moves(
    wired: Wired, state: State, sighting: Sighting, before: Mapping[str, Any] | None, is_newer: bool
) -> list[cmd.Command]:
    """A position that changed in the notes since they were last looked at is news, like an edit of the document.

    Where the document has moved meanwhile, or was there first, the newer of the two counts, and that is told.
    """
    said = _phase(sighting)
    if before is not None and before.get("phase") == said:
        return []
    shown = wired.documents.value(state)
    agrees = before is not None and _is_as_sighted(shown, before["phase"])
    if not agrees and _is_as_sighted(shown, said):
        return []
    both = shown, {**shown, "phase": said}
    try:
        moves = [*position(state, *both), *left_out(state, *both)] if agrees or is_newer else []
    except HoldfastError:
        return []  # a gate holds
    reason = f"{sighting.source} says: {sighting.reason}"
    moves = [one.replace(reason=reason) if isinstance(one, cmd.Block) else one for one in moves]
    if agrees:
        return moves
    here, there = (f"{one['current']}/{one['total']}, {one['status']}" for one in (said, shown["phase"]))
    told = f"{sighting.source} said phase {here}, and the state file {there}: the newer was taken, which was "
    told += sighting.source if is_newer else "the state file"
    return [*moves, cmd.Alarm(Alert(wired.world.now(), "notes_differ", told, DIALECT.document.path(state)))]


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json").removeprefix("state-")


UPKEEP = Upkeep(
    name=_name,
    touched=lambda entry: file_of(entry.id),
    sources=lambda state: tuple(source for source, account in seen(state).items() if account),
    own_notes=NOTES[:1],
    sightings=take_sightings,
)

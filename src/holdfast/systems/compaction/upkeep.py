"""Workflows that nobody registered: state files that agents wrote, and notes of the project that speak of one.

What is found is merged with what is known. An agent's own fields are never written over: notes only add what is new
in them since they were last looked at.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import moment, queries
from holdfast.core.state import Actor, State
from holdfast.core.value import Any
from holdfast.documents.lens.edits import finishing
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError
from holdfast.machine.place import read_regular
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

LARGEST_PLAN = 1 << 20
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
    sightings = detect(base)
    for sighting in sightings:
        try:
            _take(wired, sighting, actor)
        except HoldfastError as refusal:
            wrong.append(refusal.message)
    return wrong + _end_plans(wired, {sighting.source for sighting in sightings}, actor)


def _take(wired: Wired, sighting: Sighting, actor: Actor) -> None:
    known = _known(wired, sighting)
    if known is None:
        if not _is_over(wired, sighting):
            _begin(wired, sighting, actor)
        return
    state = wired.reconciler.reconcile(known)
    account = _account(sighting)
    before = seen(state).get(sighting.source)
    if before == account:
        return
    sight = _sight(sighting)
    additions = _additions(state, sighting, before or {})
    moves = _moves(wired, state, sighting, before)
    for more in ((*additions, *moves), tuple(additions)):
        try:
            outcome = wired.engine.execute(state.ulid, cmd.Together((sight, *more)), actor)
            break
        except HoldfastError:
            continue  # a gate holds, or there is no room: that was looked at, and is not taken
    else:
        outcome = wired.engine.execute(state.ulid, sight, actor)
    wired.reconciler.settle(outcome)


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


def _end_plans(wired: Wired, running: set[str], actor: Actor) -> list[str]:
    """A workflow that a plan speaks of ends when the plan says that it is over; says which gate blocks it."""
    wrong = []
    for entry in wired.store.active():
        if not _is_ours(wired, entry) or not entry.title.startswith("Plan"):
            continue
        for state in loaded(wired, [entry.ulid]):
            plans = [source for source in seen(state) if source.startswith(NOTES[1])]
            over = any(_says_it_is_over(os.path.join(wired.place.worktree, one)) for one in plans)
            if over and not running.intersection(plans):
                ending = cmd.Together(tuple(finishing(state, "its plan is no longer in progress")))
                try:
                    wired.execute(state.ulid, ending, actor)
                except HoldfastError as refusal:
                    wrong.append(refusal.message)
    return wrong


def _says_it_is_over(plan: str) -> bool:
    """A plan that can be read, and speaks of being complete: one that is empty for a moment says nothing."""
    text = (read_regular(plan, LARGEST_PLAN) or b"").decode("utf-8", "replace").casefold()
    return "✅" in text or "complete" in text


def _known(wired: Wired, sighting: Sighting) -> State | None:
    """The active workflow of that name, the one last worked on where there are several."""
    same = _called(wired, sighting.workflow, wired.store.active())
    return max((s for s in same if queries.is_active(s)), key=lambda state: state.updated_at, default=None)


def _called(wired: Wired, name: str, among: list[Entry]) -> list[State]:
    """The workflows of this worktree that have a name."""
    here = [entry for entry in among if _is_ours(wired, entry)]
    return loaded(wired, [e.ulid for e in here if _plain(e.title or e.subject or e.type) == _plain(name)])


def _is_ours(wired: Wired, entry: Entry) -> bool:
    return (entry.dialect, entry.worktree) == (DIALECT.name, wired.place.key())


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


def _begin(wired: Wired, sighting: Sighting, actor: Actor) -> None:
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
    state = DIALECT.adopt(document, None, cmd.Facts(now=now), ulid.new())
    if sighting.names:
        pairs = zip(state.plan.steps, sighting.names, strict=True)
        state = state.replace(plan=type(state.plan)(tuple(step.replace(name=name) for step, name in pairs)))
    wired.prepare(DIALECT.name)
    outcome = wired.engine.start(cmd.Adopt(state.replace(worktree=wired.place.key()), document), actor)
    state = wired.reconciler.settle(outcome)
    wired.execute(state.ulid, _sight(sighting), actor)


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
    return {"current": sighting.current, "total": sighting.total, "name": sighting.phase, "status": sighting.status}


def _additions(state: State, sighting: Sighting, before: Mapping[str, Any]) -> list[cmd.Command]:
    """What the notes say now and did not say before, and the workflow does not have."""
    out: list[cmd.Command] = []
    for what, has in (("reading", state.reading), ("reminders", state.reminders)):
        said, old = getattr(sighting, what), before.get(what, ())
        new = tuple(item for item in said if item not in has and item not in old)
        if new:
            out.append(cmd.Brief(what, add=new))
    old = before.get("context", {})
    values = {k: v for k, v in sighting.context.items() if k not in state.context and old.get(k) != v}
    return [*out, cmd.Record(values)] if values else out


def _moves(wired: Wired, state: State, sighting: Sighting, before: Mapping[str, Any] | None) -> list[cmd.Command]:
    """A position that changed in the notes since they were last looked at is news, like an edit of the document."""
    if before is None or before.get("phase") == _phase(sighting):
        return []
    shown = wired.documents.value(state)
    if not _is_as_sighted(shown, before["phase"]):
        return []  # an agent has moved it since, and knows better
    try:
        both = shown, {**shown, "phase": _phase(sighting)}
        return [*position(state, *both), *left_out(state, *both)]
    except HoldfastError:
        return []  # a gate holds


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json").removeprefix("state-")


UPKEEP = Upkeep(name=_name, touched=lambda entry: file_of(entry.id), sightings=take_sightings)

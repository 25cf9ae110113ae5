"""Workflows that nobody registered: state files that agents wrote, and notes of the project that speak of one.

What is found is merged with what is known.
"""

from __future__ import annotations

import os

from holdfast.core import commands as cmd
from holdfast.core import moment, queries
from holdfast.core.facts import Facts
from holdfast.core.state import Actor, State
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError
from holdfast.plain import ulid
from holdfast.systems.compaction.adoption import file_of
from holdfast.systems.compaction.document import DIALECT
from holdfast.systems.compaction.merging import NOTES, account, is_plan, merge, phase, sight
from holdfast.systems.compaction.rules import seen
from holdfast.systems.seam.found import loaded
from holdfast.systems.seam.parts import Upkeep
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.systems.compaction.detection import Sighting

MOST_COMPARED = 50
"""How many active workflows are opened to find the one of a plan."""


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
            named |= set() if is_plan(sighting) else {ulid_}
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
    merge(wired, sighting, known, actor)
    return known.ulid


def _goes_on(sighting: Sighting) -> bool:
    """Whether a workflow begins that nobody knows: for a plan, only where its status says that it is worked on."""
    if is_plan(sighting):
        return sighting.status == "in_progress"
    return sighting.status != "completed" or sighting.current < sighting.total


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
    return seen(last).get(sighting.source) == account(sighting) or written <= moment.to_epoch(last.updated_at)


def _known(wired: Wired, sighting: Sighting) -> State | None:
    """The active workflow that the notes are about, the one last worked on where there are several of the name.

    A plan may be known by another name: its workflow was seen in it before, or has its number or its title.
    """
    active = wired.store.active()
    same = [state for state in _called(wired, sighting.workflow, active) if queries.is_active(state)]
    if not same and is_plan(sighting):
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
    return is_plan(sighting) and any(f"@{sighting.source}" in state.reading for state in _compared(wired))


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
        "phase": phase(sighting),
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
    wired.execute(state.ulid, sight(sighting), actor)
    return state.ulid


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json").removeprefix("state-")


UPKEEP = Upkeep(
    name=_name,
    touched=lambda entry: file_of(entry.id),
    sources=lambda state: tuple(source for source, account in seen(state).items() if account),
    own_notes=NOTES[:1],
    sightings=take_sightings,
)

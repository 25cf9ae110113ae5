"""Workflows that nobody registered: state files that agents wrote, and notes of the project that speak of one.

What is found is merged with what is known.
"""

from __future__ import annotations

import os

from holdfast.core import commands as cmd
from holdfast.core import moment, queries
from holdfast.core.facts import Facts
from holdfast.core.state import Actor, Alert, State
from holdfast.documents.reconcile import FILE
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError
from holdfast.plain import ulid
from holdfast.systems.compaction.adoption import file_of
from holdfast.systems.compaction.document import DIALECT
from holdfast.systems.compaction.merging import NOTES, account, is_plan, merge, phase, sight, was_ended, written
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
    known, again = _known(wired, sighting), False
    if known is None and (known := _reopened(wired, sighting)) is not None:
        again = True
    if known is None:
        starts = _goes_on(sighting) and not _is_over(wired, sighting) and not _is_read(wired, sighting)
        return _begin(wired, sighting, actor) if starts else ""
    merge(wired, sighting, known, actor, again=again)
    return known.ulid


def _goes_on(sighting: Sighting) -> bool:
    """Whether a workflow begins that nobody knows: for a plan, only where its status says that it is worked on."""
    if is_plan(sighting):
        return sighting.status == "in_progress"
    return sighting.status != "completed" or sighting.current < sighting.total


def _reopened(wired: Wired, sighting: Sighting) -> State | None:
    """The workflow that a plan ended and that continues, as the plan says that it is worked on again."""
    if not is_plan(sighting) or not _goes_on(sighting):
        return None
    over = [entry for entry in wired.store.entries() if not entry.active and _is_ours(wired, entry)]
    over.sort(key=lambda entry: entry.updated_at, reverse=True)
    states = loaded(wired, [entry.ulid for entry in over[:MOST_COMPARED]], quietly=True)
    last = next((state for state in states if sighting.source in seen(state)), None)
    if last is None or last.finalized or not was_ended(last, sighting) or _is_older(wired, sighting, last):
        return None
    said = f"{sighting.source} says: {sighting.reason}, so {last.id}, which had ended by it, continues"
    alert = cmd.Alarm(Alert(wired.world.now(), "plan_goes_on", said, sighting.source))
    return wired.execute(last.ulid, cmd.Together((cmd.Resume(), alert)), FILE)


def _is_older(wired: Wired, sighting: Sighting, last: State) -> bool:
    """Whether notes were last written before a workflow ended."""
    return written(wired, sighting.source) <= moment.to_epoch(last.updated_at)


def _is_over(wired: Wired, sighting: Sighting) -> bool:
    """Whether the notes are about a workflow that ended, and nobody has touched them since."""
    same = _called(wired, sighting.workflow, [entry for entry in wired.store.entries() if not entry.active])
    last = max(same, key=lambda state: state.updated_at, default=None)
    if last is None or not written(wired, sighting.source):
        return last is not None
    return seen(last).get(sighting.source) == account(sighting) or _is_older(wired, sighting, last)


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
    """Whether a workflow has the title of a plan, or its number and no name that contradicts the title."""
    number, title = sighting.context.get("plan_number"), str(sighting.context["plan_name"])
    said = str(state.context.get("plan_number", "")).strip().lstrip("0")
    is_numbered = number is not None and said == str(number)
    if said and not is_numbered:
        return False
    if _plain(state.title) == _plain(title):
        return True
    if not is_numbered or f"@{sighting.source}" in state.reading:
        return is_numbered
    from holdfast.systems.compaction.detection.prose import speak_of_one

    known = (state.title, *(value for value in state.context.values() if isinstance(value, str)))
    return speak_of_one(f"{title} {sighting.source.split('/')[-2]}", known)


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
    if sighting.status == "blocked":
        at, progress = state.plan.children("")[sighting.current - 1], dict(state.progress)
        progress[at] = progress[at].replace(reason=f"{sighting.source} says: {sighting.reason}")
        state = state.replace(progress=progress)
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

"""Scenes and plans as the subject of a workflow, and the plan that each builds on."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import Refused
from holdfast.machine.place import Place
from holdfast.systems.seam.found import loaded
from holdfast.systems.seam.parts import Asked, Loaded, Subject
from holdfast.systems.seam.wired import Wired
from holdfast.systems.story import project as stories
from holdfast.systems.story.adoption import planned
from holdfast.systems.story.document import DIALECT

SCENE, PLAN = "scene", "plan"


def load(asked: Asked, _: Place) -> Loaded:
    subject, context = asked.subject, asked.context
    if asked.definition.loads == SCENE:
        subject = stories.scene_id(subject or context.get("scene_id", ""))
        context = {**context, "scene_id": subject}
    elif asked.definition.loads == PLAN:
        said = stories.planned(context)
        subject, context = planned(said), {**context, **said}
    return Loaded(asked.definition, subject, context)


def identity(asked: Asked, place: Place) -> str:
    return load(asked, place).subject


def same(asked: Asked, known: Callable[[], Mapping[str, Any]], _place: Place) -> bool:
    """Chapters of two acts may have the same number."""
    return asked.definition.loads != PLAN or known().get("act") == asked.context.get("act")


def prepare(wired: Wired, command: cmd.Start) -> cmd.Start:
    """A plan builds on the plan above it, which has to be approved."""
    if command.loads != PLAN:
        return command
    wanted = stories.above(stories.planned(command.context))
    if wanted is None:
        return command
    plans = _plans(wired, planned(wanted))
    found = [one for one in plans if one.session in ("", command.session) and stories.planned(one.context) == wanted]
    seals = [(state, wired.result_of(state)) for state in found]
    approved = [(state, seal) for state, seal in seals if seal]
    if approved:
        parent, seal = max(approved, key=lambda pair: pair[0].ulid)
        return command.replace(parent=parent.ulid, parent_seal=seal)
    running = next((state for state in found if queries.is_active(state)), None)
    said = f"the plan of {planned(wanted)} is not approved, and {command.subject} builds on it"
    plan = remedies.start("story/planning", values=wanted, session=command.session)
    way = remedies.status(workflow=running.ulid) if running else plan
    facts = {"needed": planned(wanted), "running": running.id if running else None}
    raise Refused("parent_not_approved", said, remedy=way, facts=facts)


def _plans(wired: Wired, subject: str) -> list[State]:
    """Every plan of this, from the index while it has one that is approved, else from all journals."""
    store = wired.store
    listed = [entry.ulid for entry in store.entries() if entry.dialect == "story" and entry.subject == subject]
    states = loaded(wired, listed or store.every(), quietly=True)
    return [state for state in states if state.loads == PLAN and state.subject == subject]


def opened(wired: Wired, state: State) -> tuple[str, ...]:
    """The folder for what the run writes is there from the start."""
    assert DIALECT.folder is not None
    os.makedirs(os.path.join(wired.place.base(state.worktree), DIALECT.folder(state)), exist_ok=True)
    return ()


def session(wired: Wired, named: str) -> str:
    """The session that is named, which there has to be; else the one in use."""
    from holdfast.systems.story.sessions.desk import Desk

    desk = Desk(wired)
    return desk.require(named) if named else desk.active()


SUBJECT = Subject(load=load, identity=identity, same=same, prepare=prepare, opened=opened, session=session)

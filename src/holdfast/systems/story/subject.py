"""Scenes and plans as the subject of a workflow, and the plan that each builds on."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.definition import fill
from holdfast.core.gates import Unmet
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import Refused
from holdfast.machine.place import Place
from holdfast.systems.seam.parts import Asked, Loaded, Subject
from holdfast.systems.seam.wired import Wired
from holdfast.systems.story import plans
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
        of_act = "" if said["level"] == "act" else f" of act-{said['act']}"
        title = fill(asked.definition.title, f"{subject}{of_act}", context)
        return Loaded(asked.definition, subject, context, title=title)
    return Loaded(asked.definition, subject, context)


def identity(asked: Asked, place: Place) -> str:
    return load(asked, place).subject


def same(asked: Asked, known: Callable[[], Mapping[str, Any]], _place: Place) -> bool:
    """A plan is of one level, act, chapter and scene: chapters of two acts may have the same number."""
    if asked.definition.loads == PLAN:
        wanted, there = stories.planned(asked.context), known()
        return all(there.get(name) == value for name, value in wanted.items())
    return asked.definition.loads != SCENE or known().get("scene_id") == asked.subject


def prepare(wired: Wired, command: cmd.Start) -> cmd.Start:
    """A plan builds on the plan above it, which has to be approved."""
    if command.loads != PLAN:
        return command
    wanted, runs = plans.parent_of(wired, command.context, command.session)
    if wanted is None:
        return command
    approved = plans.approved(wired, runs, command.session)
    if approved:
        parent, seal = approved
        return command.replace(parent=parent.ulid, parent_seal=seal)
    name = planned(wanted)
    if not runs:
        plan = remedies.start("story/planning", values=wanted, session=command.session)
        unmet = Unmet("requires", name, "is not approved", (plan,))
    else:
        unmet = plans.unapproved(wired, runs, command.session)
    said = f"the plan of {name} {unmet.message}, and {command.subject} builds on it"
    running = next((state for state in runs if queries.is_active(state)), None)
    facts = {"needed": name, "running": running.id if running else None}
    if unmet.kind == "outdated":
        raise Refused("parent_requires_revalidation", said, remedy=unmet.remedies, facts=facts)
    raise Refused("parent_not_approved", said, remedy=unmet.remedies, facts=facts)


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

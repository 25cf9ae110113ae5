"""A description as the subject of a workflow: it becomes a slug, a branch and a workspace."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import refusals
from holdfast.core.state import State
from holdfast.machine.place import Place
from holdfast.systems.gated import opening, workspace
from holdfast.systems.gated.document import DIALECT
from holdfast.systems.seam.parts import Asked, Loaded, Subject, require_repository
from holdfast.systems.seam.wired import Wired

DESCRIPTION = "description"


def load(asked: Asked, place: Place) -> Loaded:
    if asked.definition.loads != DESCRIPTION:
        return Loaded(asked.definition, asked.subject, asked.context)
    require_repository(asked.definition, place)
    refusals.require_free(asked.context, [name for name in DIALECT.reserved if name != "slug"])
    found = opening.described(asked.subject, asked.context)
    begun = (asked.definition.steps[0].id,)
    return Loaded(asked.definition, found.subject, found.context, branch=found.branch, begun=begun, makes_branch=True)


def identity(asked: Asked, _: Place) -> str:
    return " ".join(asked.subject.split()) if asked.definition.loads == DESCRIPTION else asked.subject


def prepare(wired: Wired, start: cmd.Start) -> cmd.Start:
    if start.loads != DESCRIPTION:
        return start
    return opening.opened(wired.place, start, wired.world.now())


def opened(wired: Wired, state: State) -> tuple[str, ...]:
    return workspace.settle(wired, None, state)


SUBJECT = Subject(load=load, identity=identity, prepare=prepare, opened=opened)

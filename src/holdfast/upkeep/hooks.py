"""What the doctor finds of hooks: the view they judge by, what they had to log, files that are to be read."""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core import moment, queries, remedies
from holdfast.core.briefing import ALERTS_FOR
from holdfast.core.state import State
from holdfast.documents.lens.fields import is_moment
from holdfast.machine.place import read_regular
from holdfast.project.required import MISSING, OUTSIDE, look
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep.findings import Finding, ok, warning

REPAIR = remedies.doctor(repair=True)
LOG = ".holdfast/hook.log"
LARGEST = 1 << 20
SHOWN = 3


def guard(wired: Wired, states: list[State]) -> Iterator[Finding]:
    """The view compared with what the journals say."""
    wanted = {state.ulid: said for state in states if (said := wired.documents.guard.said_of(state))}
    there = {str(one.get("ulid")): one for one in wired.documents.guard.entries()}
    if there != wanted:
        yield warning("guard", "the view that hooks judge by is behind the journals", REPAIR, ".holdfast/guard")
    elif wanted:
        many = "1 workflow" if len(wanted) == 1 else f"{len(wanted)} workflows"
        yield ok("guard", f"the rules that hooks enforce for {many} are as the journals have them")


def log(wired: Wired) -> Iterator[Finding]:
    """The newest of what hooks could not do: they never stop their host, so this is where it is said."""
    data = read_regular(os.path.join(wired.place.root, LOG), LARGEST) or b""
    for line in data.decode("utf-8", "replace").splitlines()[-SHOWN:]:
        at = line.partition(" ")[0]
        if not is_moment(at) or moment.between(at, wired.world.now()) > ALERTS_FOR:
            continue
        yield warning("hook", f"a hook said: {line[:300]}", f"tail {LOG}", LOG)


def reading(wired: Wired, states: list[State]) -> Iterator[Finding]:
    for state in states:
        if not queries.is_active(state):
            continue
        for one in look(state.reading, wired.place.base(state.worktree)):
            if one.standing == MISSING:
                message = f"{state.id} asks for {one.path} to be read, which is not there"
            elif one.standing == OUTSIDE:
                message = f"{state.id} asks for a file outside the project to be read, which is shown to no agent"
            else:
                continue
            yield warning("reading", message, remedies.named("reading", workflow=state.ulid))

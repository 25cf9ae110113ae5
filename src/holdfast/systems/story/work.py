"""What happens to a scene or a plan as it moves: its blueprint is found, and the plan itself counts as its result."""

from __future__ import annotations

import os

from holdfast.core.state import State
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.systems.seam.parts import Acted, Handing, Order, Work
from holdfast.systems.seam.wired import Wired
from holdfast.systems.story import project as stories

BLUEPRINT = "blueprint_path"
"""The fact that shows where the blueprint of a scene is, and the artifact that says it by hand."""


def _arrived(wired: Wired) -> list[str]:
    from holdfast.systems.story.sessions.desk import Desk

    Desk(wired).recover()
    return []


def _before_done(wired: Wired, state: State, path: str, handing: Handing) -> Handing:
    """An artifact that names the blueprint is what its action is told. A plan hands itself in, where it lies at its
    place when a planning run ends: who builds on it sees it change.
    """
    if state.loads == "plan":
        ends = path == state.plan.children("")[-1]
        file = stories.plan_file(wired.place.base(state.worktree), state.context, state.session) if ends else ""
        own = {"plan": wired.place.inside(file)} if file else {}
        return handing.replace(artifacts={**handing.artifacts, **own})
    named = handing.artifacts.get(BLUEPRINT)
    if not named or state.plan.step(path).action != "blueprint" or not wired.acts(state, path):
        return handing
    rest = {name: file for name, file in handing.artifacts.items() if name != BLUEPRINT}
    return Handing(rest, Order(paths=(os.path.join(wired.place.worktree, named),)))


def _blueprint(wired: Wired, state: State, path: str, order: Order) -> Acted:
    base = wired.place.base(state.worktree)
    named = order.paths[0] if order.paths else ""
    found = wired.place.inside(named) if named else stories.blueprint(base, state.subject, state.session)
    stories.require_text(base, found, state.session)
    return Acted({BLUEPRINT: found})


def _constraints(wired: Wired, state: State, path: str, order: Order) -> Acted:
    base = wired.place.base(state.worktree)
    known = state.step(state.plan.children("")[0]).data.get(BLUEPRINT)
    found = str(known) if known else stories.blueprint(base, state.subject, state.session)
    return Acted({"constraints": len(stories.constraints(base, found, state.session))})


def _result(wired: Wired, state: State, sealed: str) -> str:
    """A plan that nobody had written when it was approved counts as it is now."""
    last = state.plan.children("")[-1]
    if not sealed or state.loads != "plan" or "plan" in state.step(last).artifacts:
        return sealed
    file = stories.plan_file(wired.place.base(state.worktree), state.context, state.session)
    return f"{sealed} {digest(read_regular(file, stories.LARGEST) or b'') if file else 'unwritten'}"


WORK = Work(
    arrived=_arrived,
    before_done=_before_done,
    perform={"blueprint": _blueprint, "constraints": _constraints},
    result=_result,
)

"""What happens to a scene or a plan as it moves: its blueprint is found and kept to, a plan hands itself in."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import remedies
from holdfast.core.remedy import Remedy
from holdfast.core.state import RAN, State
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, Refused
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import BOM_UTF8, object_in
from holdfast.systems.seam.parts import Acted, Handing, Order, Work, late
from holdfast.systems.seam.wired import Wired
from holdfast.systems.story import project as stories
from holdfast.systems.story.words import BLUEPRINT, READ_IN, blueprint_of, own_path, project_path

PLAN = "plan"
"""The output of the last phase that is the plan itself."""
_PLANS = f"{__package__}.plans"


def _arrived(wired: Wired) -> list[str]:
    from holdfast.systems.story.sessions.desk import Desk

    Desk(wired).recover()
    return []


def _outputs(wired: Wired, state: State, path: str) -> Mapping[str, str]:
    """A plan hands itself in when a planning run ends, where it is at its place."""
    if not _ends_plan(state, path):
        return {}
    file = stories.plan_file(wired.place.base(state.worktree), state.context, state.session)
    return {PLAN: wired.place.inside(file)} if file else {}


def _ends_plan(state: State, path: str) -> bool:
    return state.loads == "plan" and path == state.plan.children("")[-1] and bool(state.subject)


def _before_done(wired: Wired, state: State, path: str, handing: Handing) -> Handing:
    """An artifact that names the blueprint is what its action is told; a plan that is handed in is at its place."""
    if _ends_plan(state, path):
        _require_plan(wired, state, path, handing)
        return handing
    if state.plan.step(path).result and state.loads == "scene":
        return handing.replace(data={**handing.data, **_ran(wired, state, path, handing)})
    named = handing.artifacts.get(BLUEPRINT)
    if not named or state.plan.step(path).action != "blueprint" or not wired.acts(state, path):
        return handing
    rest = {name: file for name, file in handing.artifacts.items() if name != BLUEPRINT}
    return Handing(rest, Order(paths=(os.path.join(wired.place.worktree, named),)))


def _ran(wired: Wired, state: State, path: str, handing: Handing) -> dict[str, int]:
    """How many validators a report tells of."""
    from holdfast.systems.story.results import REPORT

    file = handing.artifacts.get(REPORT) if state.plan.step(path).result == REPORT else None
    data = read_regular(os.path.join(wired.place.base(state.worktree), file), stories.LARGEST) if file else None
    listed = (object_in((data or b"").removeprefix(BOM_UTF8)) or {}).get("results")
    return {RAN: len(listed)} if isinstance(listed, list) and listed else {}


def _require_plan(wired: Wired, state: State, path: str, handing: Handing) -> None:
    base, plan = wired.place.base(state.worktree), stories.plan_path(state.context)
    own = own_path(plan, state.session)
    known = {name: one.path for name, one in state.step(path).artifacts.items()}
    missing = [name for name in state.plan.step(path).outputs if name not in {**known, **handing.artifacts, PLAN: own}]
    named_now = {name: file for name, file in handing.artifacts.items() if name != PLAN}
    again = remedies.done(path, given={"artifact": {**named_now, **dict.fromkeys(missing, remedies.PATH)}}, text="then")
    ways, facts = (Remedy(text=f"write {own}"), again), {"step": path, "path": own}
    named = handing.artifacts.get(PLAN) or known.get(PLAN)
    if named and named not in (plan, own):
        said = f"{named} is not where the plan of {state.subject} belongs: {own}"
        raise Refused("plan_elsewhere", said, remedy=ways, facts=facts)
    text = read_regular(os.path.join(base, named or own), stories.LARGEST)
    if text is None or not text.strip():
        lacks = "is empty" if text is not None else "is not there"
        raise Refused("no_plan", f"{own} {lacks}: it is the plan, and what is approved", remedy=ways, facts=facts)


def _blueprint(wired: Wired, state: State, path: str, order: Order) -> Acted:
    base = wired.place.base(state.worktree)
    named = order.paths[0] if order.paths else ""
    typed = project_path(wired.place.inside(named), state.session) if named else ""
    found = typed or stories.blueprint(base, state.subject, state.session)
    stories.require_text(base, found, state.session)
    return Acted({BLUEPRINT: found, **_read_in(base, found, state.session)})


def _read_in(base: str, path: str, session: str) -> dict[str, str]:
    """Which copy of the blueprint is read, where there may be two."""
    if not session:
        return {}
    return {READ_IN: session if stories.read_at(base, path, session) == own_path(path, session) else ""}


def _constraints(wired: Wired, state: State, path: str, order: Order) -> Acted:
    from holdfast.systems.story.plans import HASH

    base = wired.place.base(state.worktree)
    found = blueprint_of(state) or stories.blueprint(base, state.subject, state.session)
    listed = stories.constraints(base, found, state.session)
    now = stories.content_hash(base, found, state.session)
    return Acted({"constraints": len(listed), HASH: now, **_read_in(base, found, state.session)})


def _mistakes(wired: Wired, state: State, path: str, said: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    from holdfast.systems.story import results

    output = state.plan.step(path).result if state.loads == "scene" else ""
    counted = _counted(wired, state) if output == results.REPORT else None
    return tuple(results.mistakes(output, said, counted))


def _counted(wired: Wired, state: State) -> tuple[int, int] | None:
    """The words of the draft and those that the blueprint requires, where they differ by more than is allowed."""
    from holdfast.systems.story.results import is_off

    base, file = wired.place.base(state.worktree), blueprint_of(state)
    drafts = [one.artifacts["draft"].path for one in state.progress.values() if "draft" in one.artifacts]
    text = read_regular(os.path.join(base, drafts[0]), stories.LARGEST) if drafts and file else None
    try:
        required = stories.required_words(stories.constraints(base, file, state.session)) if text is not None else None
    except HoldfastError:
        return None  # what the blueprint lacks is told where the work continues
    words = len((text or b"").split())
    if required is None or not is_off(words, *required):
        return None
    return words, required[0] if words < required[0] else required[1]


def _result(wired: Wired, state: State, sealed: str) -> str:
    """Of a plan that was adopted without its file, what is at its place counts; nothing is built on none."""
    last = state.plan.children("")[-1]
    if not sealed or state.loads != "plan" or PLAN in state.step(last).artifacts:
        return sealed
    file = stories.plan_file(wired.place.base(state.worktree), state.context, state.session)
    return f"{sealed} {digest(read_regular(file, stories.LARGEST) or b'')}" if file else ""


WORK = Work(
    arrived=_arrived,
    outputs=_outputs,
    before_done=_before_done,
    perform={"blueprint": _blueprint, "constraints": _constraints},
    mistakes=_mistakes,
    ground=late(_PLANS, "ground"),
    resuming=late(_PLANS, "resuming"),
    result=_result,
)

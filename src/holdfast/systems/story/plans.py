"""The plans that plans and scenes build on: which there are, and whether they hold."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle, remedies
from holdfast.core.gates import Unmet
from holdfast.core.remedy import Remedy
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.machine import configuration
from holdfast.systems.seam.found import loaded
from holdfast.systems.seam.wired import Wired
from holdfast.systems.story import project as stories
from holdfast.systems.story.adoption import planned

HASH, ACCEPTED = "blueprint_hash", "blueprint_accepted"
"""Facts about the step that validates a blueprint: what it was, and that a person took it so after its approval."""
PLAN, BLUEPRINT = "plan", "blueprint"
"""What a scene builds on, by name."""


def found(wired: Wired, subject: str, session: str) -> list[State]:
    """The runs that plan this, in the session or outside of any, but for those that were given up.

    From the index while it has one, else from all journals.
    """
    store, here = wired.store, wired.place.key()
    listed = [one for one in store.entries() if one.dialect == "story" and one.subject == subject]
    states = loaded(wired, [one.ulid for one in listed] or store.every(), quietly=True)
    about = [state for state in states if (state.loads, state.subject) == ("plan", subject)]
    return [one for one in about if one.session in ("", session) and one.worktree == here and not one.cancelled]


def approved(wired: Wired, runs: list[State]) -> tuple[State, str] | None:
    """The newest of these plans that is approved and holds, with its result."""
    seals = [(state, wired.result_of(state)) for state in runs]
    return max((pair for pair in seals if pair[1]), key=lambda pair: pair[0].ulid, default=None)


def unapproved(wired: Wired, runs: list[State]) -> Unmet:
    """Why none of these plans holds: of the one that is nearest to it, the newest of such."""
    newest = max(runs, key=lambda one: (bool(one.finished_at), one.ulid))
    file = stories.plan_path(newest.context)
    if newest.finished_at and not stories.plan_file(wired.place.base(newest.worktree), newest.context, newest.session):
        way = Remedy(text=f"write {file}")
        return Unmet("requires", newest.id, f"is not written: there is no {file}", (way,))
    return wired.unbuilt(newest)


def pinned(state: State) -> Mapping[str, Any]:
    """What the step that validated the blueprint says of it; empty until that is done."""
    steps = [path for path in state.plan.children("") if state.plan.step(path).action == "constraints"]
    done = [path for path in steps if state.step(path).status in lifecycle.FINISHED]
    return {**state.step(done[0]).data, "step": done[0]} if done else {}


def blueprint_of(state: State) -> str:
    """The blueprint that was found for a scene, from the top of the project; empty until then."""
    return str(state.step(state.plan.children("")[0]).data.get("blueprint_path") or "")


def ground(wired: Wired, state: State) -> tuple[Unmet, ...]:
    """What a scene is written from: its plan, where there is one, and the blueprint as it was validated."""
    file, pin = blueprint_of(state), pinned(state)
    now = stories.content_hash(wired.place.base(state.worktree), file, state.session) if file else ""
    unmet = (*_plan(wired, state, file, now, pin), *_blueprint(file, now, pin))
    if unmet and configuration.warns_of_plans(wired.place.root, wired.is_trusted):
        return tuple(one.replace(kind="warning") for one in unmet)
    return unmet


def _plan(wired: Wired, state: State, file: str, now: str, pin: Mapping[str, Any]) -> tuple[Unmet, ...]:
    runs = of_scene(wired, state.subject, state.session, file)
    if not runs or approved(wired, runs):
        return ()
    if now and now == pin.get(ACCEPTED) and any(one.finished_at for one in runs):
        return ()
    unmet = unapproved(wired, runs)
    return (unmet.replace(kind="ground", name=PLAN, message=f"the plan of scene {state.subject} {unmet.message}"),)


def of_scene(wired: Wired, scene: str, session: str, file: str = "") -> list[State]:
    """The runs that plan a scene; of that act alone which its blueprint lies in, once that is known."""
    runs = found(wired, f"scene-{scene}", session)
    return [one for one in runs if not file or stories.plan_path(one.context) == file]


def _blueprint(file: str, now: str, pin: Mapping[str, Any]) -> tuple[Unmet, ...]:
    if not pin.get(HASH) or now == pin[HASH]:
        return ()
    back = Remedy(text=f"bring {file} back as it was")
    again = remedies.reopen(str(pin["step"]), text="validate it as it is now")
    said = "has changed since it was validated" if now else "is not there any more"
    ways = (back, again) if now else (back,)
    return (Unmet("ground", BLUEPRINT, f"the blueprint {file} {said}", ways),)


def resuming(wired: Wired, state: State) -> dict[str, dict[str, Any]]:
    """A person who sets a failed scene going again takes its blueprint as it is now, if it lists constraints."""
    pin, file = pinned(state), blueprint_of(state)
    base = wired.place.base(state.worktree)
    now = stories.content_hash(base, file, state.session) if pin.get(HASH) else ""
    if not now or now == pin[HASH]:
        return {}
    listed = stories.constraints(base, file, state.session)
    return {str(pin["step"]): {HASH: now, ACCEPTED: now, "constraints": len(listed)}}


def parent_of(wired: Wired, context: Mapping[str, Any], session: str) -> tuple[dict[str, Any] | None, list[State]]:
    """What a plan builds on, and the runs that plan that; None for an act's."""
    wanted = stories.above(stories.planned(context))
    if wanted is None:
        return None, []
    runs = found(wired, planned(wanted), session)
    return wanted, [one for one in runs if stories.planned(one.context) == wanted]

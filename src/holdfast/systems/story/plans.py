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
from holdfast.systems.story.words import blueprint_file, blueprint_of, own_path

HASH, ACCEPTED = "blueprint_hash", "blueprint_accepted"
"""Facts about the step that validates a blueprint: what it was, and that a person took it so after its approval."""
PLAN, BLUEPRINT, DRAFT = "plan", "blueprint", "draft"
"""What a scene builds on, by name, and what its checks are about."""


def found(wired: Wired, subject: str, session: str) -> list[State]:
    """The runs that plan this, in the session or outside of any, but for those that were given up.

    An agent that gives up a plan is still held to it: only a person lifts it.
    From the index while it has one, else from all journals.
    """
    store, here = wired.store, wired.place.key()
    listed = [one for one in store.entries() if one.dialect == "story" and one.subject == subject]
    states = loaded(wired, [one.ulid for one in listed] or store.every(), quietly=True)
    about = [state for state in states if (state.loads, state.subject) == ("plan", subject)]
    held = [one for one in about if not (one.cancelled and one.cancelled.person)]
    return [one for one in held if one.session in ("", session) and one.worktree == here]


def approved(wired: Wired, runs: list[State], session: str, file: str = "") -> tuple[State, str] | None:
    """The newest of these plans that is approved and holds for what a session reads, with its result."""
    seals = [(state, wired.result_of(state)) for state in runs]
    held = (pair for pair in seals if pair[1] and is_as_approved(wired, pair[0], session, file))
    return max(held, key=lambda pair: pair[0].ulid, default=None)


def is_as_approved(wired: Wired, plan: State, session: str, file: str = "") -> bool:
    """Whether the file that a session reads is the plan that was approved: a session has copies of its own."""
    base, path = wired.place.base(plan.worktree), stories.plan_path(plan.context)
    sealed = plan.step(plan.plan.children("")[-1]).artifacts.get(PLAN)
    was = sealed.hash if sealed and sealed.hash else stories.content_hash(base, path, plan.session)
    return stories.content_hash(base, file or path, session) == was


def unapproved(wired: Wired, runs: list[State], session: str, file: str = "") -> Unmet:
    """Why none of these plans holds: of the one that is nearest to it, the newest of such."""
    newest = max(runs, key=lambda one: (bool(one.finished_at), not one.cancelled, one.ulid))
    path = stories.plan_path(newest.context)
    if newest.cancelled:
        unmet, lift = wired.unbuilt(newest), remedies.cancel(workflow=newest.ulid, text="if there is to be none")
        said = f"was cancelled before it was approved ({newest.id}), and only a person lifts it"
        return unmet.replace(message=said, remedies=(*unmet.remedies, lift.replace(who="person")))
    if newest.finished_at and not stories.plan_file(wired.place.base(newest.worktree), newest.context, newest.session):
        own = own_path(path, newest.session)
        way = Remedy(text=f"write {own}")
        return Unmet("requires", newest.id, f"is not written: there is no {own}", (way,))
    if wired.result_of(newest) and not is_as_approved(wired, newest, session, file):
        return _another(newest, session, file)
    return wired.unbuilt(newest)


def _another(plan: State, session: str, file: str = "") -> Unmet:
    """What is read is not what was approved, although that holds: it is a session's copy, or a file of another name."""
    path = stories.plan_path(plan.context)
    if file not in ("", path):
        again = remedies.reopen("file-check", text=f"take {path}")
        return Unmet("requires", plan.id, f"is approved as {path}, and {file} says something else", (again,))
    drop = remedies.session_file("drop", path, session, text="take what was approved")
    fresh_start = remedies.start("story/planning", values=stories.planned(plan.context), session=session)
    said = f"is approved as the project has it, and {own_path(path, session)} says something else"
    return Unmet("requires", plan.id, said, (drop, fresh_start.replace(text="plan it in the session")))


def pinned(state: State) -> Mapping[str, Any]:
    """What the step that validated the blueprint says of it; empty until that is done."""
    steps = [path for path in state.plan.children("") if state.plan.step(path).action == "constraints"]
    done = [path for path in steps if state.step(path).status in lifecycle.FINISHED]
    return {**state.step(done[0]).data, "step": done[0]} if done else {}


def ground(wired: Wired, state: State) -> tuple[Unmet, ...]:
    """What a scene is written from: its plan, where there is one, and the blueprint as it was validated."""
    if state.loads == PLAN:
        return _parent(wired, state)
    file, pin = blueprint_of(state), pinned(state)
    now = stories.content_hash(wired.place.base(state.worktree), file, state.session) if file else ""
    unmet = (*_plan(wired, state, file, now, pin), *_blueprint(wired, state, now, pin))
    if unmet and configuration.warns_of_plans(wired.place.root, wired.is_trusted):
        unmet = tuple(one.replace(kind="warning") for one in unmet)
    return (*unmet, *_draft(wired, state))


def _parent(wired: Wired, state: State) -> tuple[Unmet, ...]:
    """In a session, a plan builds on the plan above it as that was approved, not on another copy of it."""
    if not state.session or not state.parent:
        return ()
    above = loaded(wired, [state.parent], quietly=True)
    if not above or above[0].loads != PLAN or is_as_approved(wired, above[0], state.session):
        return ()
    unmet = _another(above[0], state.session)
    said = f"the plan of {above[0].subject} {unmet.message}"
    return (unmet.replace(kind="ground", name=PLAN, message=said, remedies=unmet.remedies[:1]),)


def _draft(wired: Wired, state: State) -> tuple[Unmet, ...]:
    """What is checked, validated and put out is the draft that was handed in."""
    step = next((path for path in state.plan.children("") if DRAFT in state.plan.step(path).outputs), "")
    draft = state.step(step).artifacts.get(DRAFT) if step else None
    if draft is None or not draft.hash or state.step(step).status not in lifecycle.FINISHED:
        return ()
    now = wired.world.hash_of(state, draft.path)
    if now == draft.hash:
        return ()
    said = "has changed since it was handed in" if now else "is not there any more"
    back = Remedy(text=f"bring {draft.path} back as it was")
    again = remedies.reopen(step, text="hand it in again, to be checked again")
    return (Unmet("ground", DRAFT, f"the draft {draft.path} {said}", (back, again)),)


def _plan(wired: Wired, state: State, file: str, now: str, pin: Mapping[str, Any]) -> tuple[Unmet, ...]:
    runs = of_scene(wired, state.subject, state.session, file)
    if not runs or approved(wired, runs, state.session, file):
        return ()
    if now and now == pin.get(ACCEPTED) and any(one.finished_at for one in runs):
        return ()
    unmet = unapproved(wired, runs, state.session, file)
    return (unmet.replace(kind="ground", name=PLAN, message=f"the plan of scene {state.subject} {unmet.message}"),)


def of_scene(wired: Wired, scene: str, session: str, file: str = "") -> list[State]:
    """The runs that plan a scene; of that act alone which its blueprint is in, once that is known. One that is at
    no scene's place is of any act.
    """
    runs = found(wired, f"scene-{scene}", session)
    is_placed = stories.is_blueprint(file, scene)
    return [one for one in runs if not is_placed or stories.plan_path(one.context) == file]


def _blueprint(wired: Wired, state: State, now: str, pin: Mapping[str, Any]) -> tuple[Unmet, ...]:
    if not pin.get(HASH) or now == pin[HASH]:
        return ()
    file = stories.read_at(wired.place.base(state.worktree), blueprint_of(state), state.session) or blueprint_file(
        state
    )
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
    runs = [one for one in found(wired, planned(wanted), session) if not one.cancelled]
    return wanted, [one for one in runs if stories.planned(one.context) == wanted]

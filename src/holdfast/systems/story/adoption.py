"""Reading a story document that has no journal: the state it speaks of."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import gates, lifecycle
from holdfast.core.definition import Approval, Choice, Definition, Retry, Step
from holdfast.core.facts import Facts
from holdfast.core.names import is_name
from holdfast.core.plan import Plan
from holdfast.core.state import Progress, State, Try
from holdfast.core.value import Any
from holdfast.documents.lens.fields import (
    Reader,
    artifacts_in,
    claimed,
    filled,
    mark,
    moment_in,
    object_in,
    objects_in,
    put_back,
    status_in,
    text_in,
)
from holdfast.documents.lens.spec import Codec
from holdfast.systems.story.words import PHASE, STEP, WORKFLOW

_READER = Reader("story")


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    """The state a document speaks of. Steps of the definition are used where the numbers and names are its own."""
    id, type = document.get("workflow_id"), document.get("workflow_type")
    if not is_name(id, 200) or not is_name(type):
        raise _READER.refused("it has no workflow_id and workflow_type that could be some")
    planning = isinstance(document.get("planning"), Mapping)
    run = document.get("planning" if planning else "generation")
    listed = run.get("phases" if planning else "steps") if isinstance(run, Mapping) else None
    if not isinstance(run, Mapping) or not isinstance(listed, list) or not listed:
        raise _READER.refused("it has no steps")
    if not all(isinstance(one, Mapping) and isinstance(one.get("name"), str) and one["name"] for one in listed):
        raise _READER.refused("every step needs a name")
    known = {word: step for step in (definition.steps if definition else ()) for word in (step.id, step.name)}
    made = [_step(one, number) for number, one in enumerate(listed, 1)]
    named = [known.get(step.name) or known.get(step.id) or step for step in made]
    codec = PHASE if planning else STEP
    progress = {step.id: _progress(step, one, codec) for step, one in zip(named, listed, strict=True)}
    begun = [path for path, one in progress.items() if one.status != lifecycle.PENDING]
    steps = filled(named, definition, begun)
    session = document.get("session_name")
    context = _context(run, planning=planning)
    state = State(
        ulid=ulid,
        id=str(id),
        type=str(type),
        plan=Plan(steps),
        dialect="story",
        loads="plan" if planning else "scene",
        subject=planned(context) if planning else str(context.get("scene_id", "")),
        session=session if isinstance(session, str) and is_name(session) else "",
        context=context,
        origin="adopted",
        created_at=moment_in(document, "created_at") or facts.now,
        updated_at=moment_in(document, "updated_at") or facts.now,
        progress=progress,
        alerts=put_back(facts.now, (step.label for step in steps if step.id not in progress)),
        base=document,
    )
    return _marked(state, document, facts)


def _step(said: Mapping[str, Any], number: int) -> Step:
    """A step of a definition that nobody knows here, as far as the document shows it: not whose word its gate takes."""
    approval = object_in(said, "human_approval")
    gated = approval.get("required") is True
    most = object_in(said, "attempts").get("max")
    agents = said.get("agents")
    words = "".join(c if c.isascii() and c.isalnum() else "-" for c in said["name"].lower()).strip("-")
    return Step(
        id=words if is_name(words) else f"step-{number}",
        name=said["name"],
        agents=tuple(name for name in agents if is_name(name)) if isinstance(agents, list) else (),
        approval=Approval("human") if gated and "selected_variant" not in approval else None,
        choice=Choice(by="human") if gated and "selected_variant" in approval else None,
        retry=Retry(most) if isinstance(most, int) and most > 0 else None,
    )


def _progress(step: Step, said: Mapping[str, Any], codec: Codec) -> Progress:
    status = status_in(said, codec)
    attempts = object_in(said, "attempts")
    counted = attempts.get("current")
    tries = tuple(_try(one, number) for number, one in enumerate(objects_in(attempts, "history"), 1))
    asked = object_in(said, "human_approval")
    changes = object_in(asked, "modifications")
    progress = Progress(
        status=status,
        attempt=counted if isinstance(counted, int) and counted > 0 else int(status != lifecycle.PENDING),
        started_at=moment_in(said, "started_at"),
        finished_at=moment_in(said, "completed_at"),
        reason=text_in(said, "reason"),
        artifacts=artifacts_in(said),
        tries=tries,
        failures=len(tries),
    )
    if not gates.policy(step) or status != lifecycle.DONE:
        return progress.replace(data={"modifications": changes}) if changes else progress
    variant = text_in(asked, "selected_variant")
    return claimed(progress, moment_in(asked, "approved_at"), variant=variant, modifications=changes)


def _try(one: Mapping[str, Any], number: int) -> Try:
    data = {
        "violations": one.get("violations") or [],
        "retry_guidance": {"emphasis_needed": one.get("emphasis_needed") or []},
    }
    return Try(one.get("attempt") or number, "failed", str(one.get("at") or ""), str(one.get("reason") or ""), data)


def _context(run: Mapping[str, Any], *, planning: bool) -> dict[str, Any]:
    if not planning:
        scene = run.get("scene_id")
        return {"scene_id": scene} if isinstance(scene, str) else {}
    said = {"level": run.get("level"), **object_in(run, "context")}
    return {name: value for name, value in said.items() if isinstance(value, (str, int)) and is_name(name)}


def planned(context: Mapping[str, Any]) -> str:
    """What a plan is of: `scene-0204`, `chapter-02`, `act-1`."""
    act, chapter, scene = (context.get(name) for name in ("act", "chapter", "scene"))
    match context.get("level"):
        case "scene" if isinstance(chapter, int) and isinstance(scene, int):
            return f"scene-{chapter:02}{scene:02}"
        case "chapter" if isinstance(chapter, int):
            return f"chapter-{chapter:02}"
        case "act" if isinstance(act, int):
            return f"act-{act}"
    return ""


def _marked(state: State, document: Mapping[str, Any], facts: Facts) -> State:
    status = WORKFLOW.decode(document.get("status", "in_progress"))
    if status == "cancelled":
        at, reason = moment_in(document, "cancelled_at"), text_in(document, "cancelled_reason")
        found = mark(at or facts.now, "cancelled")
        return state.replace(cancelled=found.replace(reason=reason) if reason else found)
    if document.get("status_detail") == "paused":
        return state.replace(paused=mark(facts.now, "paused"))
    return state

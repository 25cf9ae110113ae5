"""Reading a story document that has no journal: the state it speaks of."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import gates, lifecycle, remedies
from holdfast.core.commands import Facts
from holdfast.core.definition import Approval, Choice, Definition, Retry, Step
from holdfast.core.names import is_name
from holdfast.core.plan import Plan
from holdfast.core.state import Artifact, Grant, Mark, Progress, State, Try
from holdfast.documents.lens.fields import is_moment
from holdfast.errors import UsageError
from holdfast.systems.story.words import PHASE, PHASE_WORDS, STEP, STEP_WORDS, WORKFLOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    """The state a document speaks of. Steps of the definition are used where the numbers and names are its own."""
    id, type = document.get("workflow_id"), document.get("workflow_type")
    if not is_name(id, 200) or not is_name(type):
        raise _not_one("it has no workflow_id and workflow_type that could be some")
    planning = isinstance(document.get("planning"), Mapping)
    run = document.get("planning" if planning else "generation")
    listed = run.get("phases" if planning else "steps") if isinstance(run, Mapping) else None
    if not isinstance(run, Mapping) or not isinstance(listed, list) or not listed:
        raise _not_one("it has no steps")
    if not all(isinstance(one, Mapping) and isinstance(one.get("name"), str) and one["name"] for one in listed):
        raise _not_one("every step needs a name")
    known = {step.name: step for step in definition.steps} if definition else {}
    steps = [known.get(one["name"]) or _step(one, number) for number, one in enumerate(listed, 1)]
    codec, words = (PHASE, PHASE_WORDS) if planning else (STEP, STEP_WORDS)
    progress = {step.id: _progress(step, one, codec, words) for step, one in zip(steps, listed, strict=True)}
    session = document.get("session_name")
    context = _context(run, planning=planning)
    state = State(
        ulid=ulid,
        id=str(id),
        type=str(type),
        plan=Plan(tuple(steps)),
        dialect="story",
        loads="plan" if planning else "scene",
        subject=_subject(context, planning=planning),
        session=session if isinstance(session, str) and is_name(session) else "",
        context=context,
        origin="adopted",
        created_at=_moment(document, "created_at") or facts.now,
        updated_at=_moment(document, "updated_at") or facts.now,
        progress=progress,
        base=document,
    )
    return _marked(state, document, facts)


def _step(said: Mapping[str, Any], number: int) -> Step:
    """A step of a definition that nobody knows here, as far as the document shows it."""
    asked = said.get("human_approval")
    approval: Mapping[str, Any] = asked if isinstance(asked, Mapping) else {}
    gated = approval.get("required") is True
    attempts = said.get("attempts")
    most = attempts.get("max") if isinstance(attempts, Mapping) else None
    agents = said.get("agents")
    words = "".join(c if c.isascii() and c.isalnum() else "-" for c in said["name"].lower()).strip("-")
    return Step(
        id=words if is_name(words) else f"step-{number}",
        name=said["name"],
        agents=tuple(name for name in agents if is_name(name)) if isinstance(agents, list) else (),
        approval=Approval() if gated and "selected_variant" not in approval else None,
        choice=Choice() if gated and "selected_variant" in approval else None,
        retry=Retry(most) if isinstance(most, int) and most > 0 else None,
    )


def _progress(step: Step, said: Mapping[str, Any], codec: Any, words: Mapping[str, str]) -> Progress:
    status = codec.decode(said.get("status", "pending"))
    detail = said.get("status_detail")
    if isinstance(detail, str) and words.get(detail) == words[status]:
        status = detail
    artifacts = said.get("artifacts")
    attempts = said.get("attempts")
    counted = attempts.get("current") if isinstance(attempts, Mapping) else None
    attempt = counted if isinstance(counted, int) and counted > 0 else int(status != lifecycle.PENDING)
    progress = Progress(
        status=status,
        attempt=attempt,
        started_at=_moment(said, "started_at"),
        finished_at=_moment(said, "completed_at"),
        artifacts={n: Artifact(p, "", "") for n, p in artifacts.items() if is_name(n) and isinstance(p, str)}
        if isinstance(artifacts, Mapping)
        else {},
        tries=_tries(attempts),
        failures=len(_tries(attempts)),
    )
    return _granted(step, progress, said.get("human_approval"))


def _tries(attempts: Any) -> tuple[Try, ...]:
    history = attempts.get("history") if isinstance(attempts, Mapping) else None
    found = []
    for number, one in enumerate(history if isinstance(history, list) else (), 1):
        if isinstance(one, Mapping):
            data = {
                "violations": one.get("violations") or [],
                "retry_guidance": {"emphasis_needed": one.get("emphasis_needed") or []},
            }
            found.append(
                Try(
                    one.get("attempt") or number, "failed", str(one.get("at") or ""), str(one.get("reason") or ""), data
                )
            )
    return tuple(found)


def _granted(step: Step, progress: Progress, said: Any) -> Progress:
    """A gate that the document says was passed is claimed, and opens nothing until a person confirms it."""
    if not gates.policy(step) or progress.status != lifecycle.DONE:
        return progress
    said = said if isinstance(said, Mapping) else {}
    variant = said.get("selected_variant")
    changes = said.get("modifications")
    grant = Grant(
        at=_moment(said, "approved_at") or progress.finished_at,
        by="document",
        word="claimed",
        attempt=progress.attempt,
        variant=variant if isinstance(variant, str) else "",
        modifications=changes if isinstance(changes, Mapping) else {},
        claimed=True,
    )
    return progress.replace(grant=grant)


def _context(run: Mapping[str, Any], *, planning: bool) -> dict[str, Any]:
    if not planning:
        scene = run.get("scene_id")
        return {"scene_id": scene} if isinstance(scene, str) else {}
    about = run.get("context")
    said = {"level": run.get("level"), **(about if isinstance(about, Mapping) else {})}
    return {name: value for name, value in said.items() if isinstance(value, (str, int)) and is_name(name)}


def _subject(context: Mapping[str, Any], *, planning: bool) -> str:
    if not planning:
        return str(context.get("scene_id", ""))
    return planned(context)


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
        return state.replace(cancelled=Mark(facts.now, "document", "its document says it is cancelled"))
    if document.get("status_detail") == "paused":
        return state.replace(paused=Mark(facts.now, "document", "its document says it is paused"))
    return state


def _moment(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) and is_moment(value) else ""


def _not_one(reason: str) -> UsageError:
    return UsageError(
        "not_a_workflow", f"this is not the document of a workflow: {reason}", remedy=remedies.schema("story")
    )

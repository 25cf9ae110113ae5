"""The story dialect: generation and planning runs of a writer's project.

`workspace/[sessions/S/]workflow-state/<id>.json` with an `index.json` beside it, the run's own files below
`generation-runs/` or `planning-runs/`, and a log.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import gates, lifecycle, moment, queries
from holdfast.core.definition import Definition
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import (
    COUNT,
    ID,
    MOMENT,
    MOMENT_OR_NULL,
    NAME,
    NUMBER,
    detail,
    object_in,
    objects_in,
    or_absent,
    paths,
    status_of,
    unless_found,
)
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Codec, Dialect, Document, Field, Items, Json, Meaning, record
from holdfast.systems.story.adoption import adopt
from holdfast.systems.story.words import PHASE, STEP, WORKFLOW, WORKFLOW_WORDS, blueprint_file, folder, is_planning

LOGS = "workspace/logs/workflow-orchestration"
GENERATION, PLANNING = "generation", "planning"
_SESSION = Json(r"^[A-Za-z0-9_-]+$", maxLength=64)
_OUTDATED = "requires-revalidation"


def _of(kind: str, at: str, value: Any, shape: Any, meaning: str = Meaning.DERIVED) -> Field:
    """A field that only one of the two kinds of runs has."""

    def said(state: State, item: str) -> Any:
        return value(state, item) if is_planning(state) == (kind == PLANNING) else UNKNOWN

    return Field(f"{kind}.{at}", said, shape=shape, meaning=meaning)


def _detail(state: State, path: str) -> Any:
    return _OUTDATED if state.outdated else status_of(state, path)


def _approval(state: State, path: str) -> Any:
    """What people said of a step. The plan as a whole is asked about only once it is there."""
    step, progress = state.plan.step(path), state.step(path)
    if not gates.policy(step):
        return ABSENT
    grant = progress.grant
    if grant is not None and grant.claimed:
        return UNKNOWN  # the document says what it said; that it is only claimed, the status says
    asked = progress.status in (lifecycle.WAITING, lifecycle.DONE) or grant is not None
    asked = asked or bool(progress.data.get("modifications"))
    if is_planning(state) and step.approval and not asked:
        return ABSENT
    held = grant is not None and not gates.given_earlier(progress)
    said: dict[str, Any] = {"required": True, "approved": held, "approved_at": None}
    if grant is not None and held:
        said["approved_at"] = MOMENT.encode(grant.at)
        if grant.variant:
            said["selected_variant"] = grant.variant
    changes = dict(grant.modifications) if grant is not None and held else progress.data.get("modifications")
    if changes:
        said["modifications"] = changes
    return said


def _attempts(state: State, path: str) -> Any:
    step, progress = state.plan.step(path), state.step(path)
    if step.retry is None or step.retry.back_to:
        return ABSENT
    from holdfast.core.conditions import most_attempts

    history = [
        {
            "attempt": one.attempt,
            "status": "failed",
            "at": MOMENT.encode(one.at),
            "reason": one.reason,
            "violations": list(one.data.get("violations") or ()),
            "emphasis_needed": emphasis(one.data),
        }
        for one in progress.tries
    ]
    return {"current": progress.attempt, "max": most_attempts(state, path), "history": history}


def emphasis(data: Mapping[str, Any]) -> list[Any]:
    """What a failed try asks the next one to stress."""
    needed = object_in(data, "retry_guidance").get("emphasis_needed")
    return list(needed) if isinstance(needed, list) else []


def _blueprint(state: State, _: str) -> Any:
    return blueprint_file(state) or UNKNOWN


def _planned(state: State, _: str) -> Any:
    named = ("act", "chapter", "scene")
    return {name: state.context[name] for name in named if state.context.get(name) is not None} or UNKNOWN


def place(state: State) -> str:
    return f"{folder(state.session)}/workflow-state/{state.id}.json"


def _committed(state: State, _: str) -> Any:
    return _session_before(state) or (UNKNOWN if state.origin == "adopted" else ABSENT)


def _session_before(state: State) -> str:
    """The session it was in before that was committed."""
    return str(state.own.get("story", {}).get("committed_from", ""))


def _former(state: State) -> tuple[str, ...]:
    session = _session_before(state)
    return (f"{folder(session)}/workflow-state/{state.id}.json",) if session else ()


def working_dir(state: State) -> str:
    kind = "planning" if is_planning(state) else "generation"
    return f"{folder(state.session)}/{kind}-runs/{state.id}"


_OF = Json(int, minimum=1, maximum=99)
_APPROVAL = record(
    *("required", "approved"),
    required=bool,
    approved=bool,
    approved_at=MOMENT_OR_NULL,
    selected_variant=str,
    modifications=dict,
    claimed=(True,),
)
_TRY = record(
    *("attempt", "status"),
    attempt=NUMBER,
    status=("failed",),
    at=MOMENT,
    reason=str,
    violations=[dict],
    emphasis_needed=list,
)
_AGENTS = Field("agents", lambda s, p: list(s.plan.step(p).agents), meaning=Meaning.FIXED, shape=[str])
_ATTEMPTS = record(current=COUNT, max=NUMBER, history=[_TRY])


def _steps(kind: str, at: str, key: str, codec: Codec, *more: Field) -> Items:
    return Items(
        f"{kind}.{at}",
        each=lambda s: list(s.plan.children("")),
        name=lambda s, path: s.plan.number(path),
        key=key,
        when=lambda s: is_planning(s) == (kind == PLANNING),
        keys=NUMBER,
        least=1,
        required=True,
        fields=(
            Field(
                "name",
                lambda s, p: s.plan.step(p).label,
                meaning=Meaning.FIXED,
                shape=Json(str, minLength=1),
                required=True,
            ),
            Field("status", status_of, codec, meaning=Meaning.STATUS, required=True),
            detail("status_detail", codec, meaning=Meaning.FIXED),
            Field("started_at", lambda s, p: or_absent(s.step(p).started_at), MOMENT, nullable=True),
            Field("completed_at", lambda s, p: or_absent(s.step(p).finished_at), MOMENT, nullable=True),
            *more,
            Field("artifacts", paths, meaning=Meaning.FIXED, shape={"*": str}),
            Field("human_approval", _approval, meaning=Meaning.GATE, shape=_APPROVAL),
            Field("attempts", _attempts, meaning=Meaning.FIXED, shape=_ATTEMPTS),
            Field("reason", lambda s, p: or_absent(s.step(p).reason), shape=str),
        ),
    )


DOCUMENT = Document(
    path=place,
    former=_former,
    stamp="updated_at",
    either=("workflow_type", GENERATION, PLANNING),
    parts=(
        Field("workflow_id", lambda s, _: s.id, meaning=Meaning.FIXED, shape=ID, required=True),
        Field(
            "workflow_type", lambda s, _: s.type, meaning=Meaning.FIXED, shape=Json(NAME, maxLength=64), required=True
        ),
        Field("session_name", lambda s, _: or_absent(s.session), meaning=Meaning.FIXED, shape=_SESSION),
        Field("committed_from_session", _committed, meaning=Meaning.FIXED, shape=str),
        Field("status", status_of, WORKFLOW, meaning=Meaning.WHOLE, required=True),
        detail("status_detail", WORKFLOW, "waiting", value=_detail, also=(_OUTDATED,), meaning=Meaning.FIXED),
        Field("cancelled_at", lambda s, _: s.cancelled.at if s.cancelled else ABSENT, MOMENT),
        Field("cancelled_reason", lambda s, _: or_absent(s.cancelled.reason) if s.cancelled else ABSENT, shape=str),
        Field("created_at", lambda s, _: s.created_at, MOMENT, required=True),
        unless_found(Field("updated_at", lambda s, _: s.updated_at, MOMENT, required=True)),
        _of(GENERATION, "scene_id", lambda s, _: s.context.get("scene_id", UNKNOWN), r"^\d{4}$"),
        _of(GENERATION, "current_step", lambda s, _: queries.top_number(s), NUMBER),
        _of(GENERATION, "total_steps", lambda s, _: len(s.plan.children("")), NUMBER),
        _steps(GENERATION, "steps", "step", STEP),
        _of(GENERATION, "artifacts.blueprint_path", _blueprint, str, Meaning.FIXED),
        _of(GENERATION, "artifacts.working_dir", lambda s, _: working_dir(s), str, Meaning.FIXED),
        _of(
            PLANNING, "level", lambda s, _: s.context.get("level", UNKNOWN), ("scene", "chapter", "act"), Meaning.FIXED
        ),
        _of(PLANNING, "context", _planned, Json({"act": _OF, "chapter": _OF, "scene": _OF}), Meaning.FIXED),
        _of(PLANNING, "current_phase", lambda s, _: queries.top_number(s), NUMBER),
        _of(PLANNING, "total_phases", lambda s, _: len(s.plan.children("")), NUMBER),
        _steps(PLANNING, "phases", "phase", PHASE, _AGENTS),
        _of(PLANNING, "artifacts.working_dir", lambda s, _: working_dir(s), str, Meaning.FIXED),
    ),
)


def identify(definition: Definition, subject: str, context: Mapping[str, Any], now: str) -> str:
    """`{type}-{what it is about}-{time}`: `generation-scene-0204-20251110-143000`."""
    at = moment.compact(now)
    about = f"scene-{subject}" if definition.loads == "scene" else subject
    return f"{definition.name}-{about}-{at}" if about else f"{definition.name}-{at}"


def index(entries: list[Any], old: Mapping[str, Any] | None, now: str, session: str) -> tuple[str, Mapping[str, Any]]:
    """The runs of one session, or of the project outside of any."""
    above = f"{folder(session)}/workflow-state"
    said = {one.get("workflow_id"): one.get("status") for one in objects_in(old or {}, "workflows")}
    listed = [
        {
            "workflow_id": entry.id,
            "workflow_type": entry.type,
            "status": _listed(entry, said.get(entry.id)),
            **({"session_name": session} if session else {}),
            "created_at": MOMENT.encode(entry.created_at),
            "updated_at": MOMENT.encode(entry.updated_at),
            "state_file": f"{above}/{entry.id}.json",
        }
        for entry in entries
        if entry.session == session
    ]
    return f"{above}/index.json", {"workflows": listed}


def _listed(entry: Any, before: Any) -> str:
    """An active workflow that is not the one at hand is as the list had it."""
    if not entry.status:
        return "failed" if before == "failed" else "in_progress"
    return str(WORKFLOW_WORDS.get(entry.status, entry.status))


DIALECT = Dialect(
    name="story",
    document=DOCUMENT,
    id_of=lambda document: str(document.get("workflow_id", "")),
    identify=identify,
    status_words=WORKFLOW_WORDS,
    missing="",
    adopt=adopt,
    index=index,
    lag=0,
    log=lambda state: f"{LOGS}/{state.id}.log",
    folder=working_dir,
    guarded=lambda state: (place(state), f"{folder(state.session)}/workflow-state/index.json"),
)

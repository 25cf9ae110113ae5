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
from holdfast.documents.lens.fields import MOMENT, object_in, objects_in, or_absent, unless_found
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Dialect, Document, Field, Items, Meaning
from holdfast.systems.story.adoption import adopt
from holdfast.systems.story.words import PHASE, STEP, WORKFLOW, WORKFLOW_WORDS, folder, is_planning

LOGS = "workspace/logs/workflow-orchestration"
_SAID = frozenset({"in_progress", "waiting", "failed", "completed", "cancelled"})
_PLAIN = frozenset({lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.WAITING, lifecycle.DONE, lifecycle.FAILED})


def _only(planning: bool, value: Any) -> Any:
    """A field that only one of the two kinds of runs has."""
    return lambda state, item: value(state, item) if is_planning(state) == planning else UNKNOWN


def _detail(state: State, _: str) -> Any:
    if state.outdated:
        return "requires-revalidation"
    word = queries.status(state)
    return ABSENT if word in _SAID else word


def _step_detail(state: State, path: str) -> Any:
    status = state.step(path).status
    silent = status in _PLAIN and not (is_planning(state) and status == lifecycle.FAILED)
    return ABSENT if silent else status


def _artifacts(state: State, path: str) -> Any:
    return {name: artifact.path for name, artifact in state.step(path).artifacts.items()}


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
    return {"current": progress.attempt, "max": step.retry.max, "history": history}


def emphasis(data: Mapping[str, Any]) -> list[Any]:
    """What a failed try asks the next one to stress."""
    needed = object_in(data, "retry_guidance").get("emphasis_needed")
    return list(needed) if isinstance(needed, list) else []


def _number(state: State, path: str) -> Any:
    return state.plan.number(path)


def _position(state: State, _: str) -> Any:
    return queries.top_number(state)


def _total(state: State, _: str) -> Any:
    return len(state.plan.children(""))


def _blueprint(state: State, _: str) -> Any:
    first = state.plan.children("")[0]
    return state.step(first).data.get("blueprint_path") or UNKNOWN


def _planned(state: State, _: str) -> Any:
    named = ("act", "chapter", "scene")
    return {name: state.context[name] for name in named if state.context.get(name) is not None} or UNKNOWN


def _depends(state: State, path: str) -> tuple[object, ...]:
    return state.step(path), state.plan.step(path), state.session, state.origin


def place(state: State) -> str:
    return f"{folder(state.session)}/workflow-state/{state.id}.json"


def _session_before(state: State) -> str:
    """The session it was in before that was committed."""
    return str(state.own.get("story", {}).get("committed_from", ""))


def _former(state: State) -> tuple[str, ...]:
    session = _session_before(state)
    return (f"{folder(session)}/workflow-state/{state.id}.json",) if session else ()


def working_dir(state: State) -> str:
    kind = "planning" if is_planning(state) else "generation"
    return f"{folder(state.session)}/{kind}-runs/{state.id}"


def _steps(at: str, key: str, *, planning: bool) -> Items:
    said = PHASE if planning else STEP
    agents = (Field("agents", lambda s, p: list(s.plan.step(p).agents), meaning=Meaning.FIXED),) if planning else ()
    return Items(
        at,
        each=lambda s: list(s.plan.children("")),
        name=_number,
        key=key,
        depends=_depends,
        when=lambda s: is_planning(s) == planning,
        fields=(
            Field("name", lambda s, p: s.plan.step(p).label, meaning=Meaning.FIXED),
            Field("status", lambda s, p: s.step(p).status, said, meaning=Meaning.STATUS),
            Field("status_detail", _step_detail, meaning=Meaning.FIXED),
            Field("started_at", lambda s, p: or_absent(s.step(p).started_at), MOMENT, nullable=True),
            Field("completed_at", lambda s, p: or_absent(s.step(p).finished_at), MOMENT, nullable=True),
            *agents,
            Field("artifacts", _artifacts, meaning=Meaning.FIXED),
            Field("human_approval", _approval, meaning=Meaning.FIXED),
            Field("attempts", _attempts, meaning=Meaning.FIXED),
            Field("reason", lambda s, p: or_absent(s.step(p).reason)),
        ),
    )


DOCUMENT = Document(
    path=place,
    former=_former,
    stamp="updated_at",
    parts=(
        Field("workflow_id", lambda s, _: s.id, meaning=Meaning.FIXED),
        Field("workflow_type", lambda s, _: s.type, meaning=Meaning.FIXED),
        Field("session_name", lambda s, _: or_absent(s.session), meaning=Meaning.FIXED),
        Field("committed_from_session", lambda s, _: or_absent(_session_before(s)), meaning=Meaning.FIXED),
        Field("status", lambda s, _: queries.status(s), WORKFLOW, meaning=Meaning.WHOLE),
        Field("status_detail", _detail, meaning=Meaning.FIXED),
        Field("created_at", lambda s, _: s.created_at, MOMENT),
        unless_found("updated_at", lambda s, _: s.updated_at, MOMENT),
        Field("generation.scene_id", _only(False, lambda s, _: s.context.get("scene_id", UNKNOWN))),
        Field("generation.current_step", _only(False, _position)),
        Field("generation.total_steps", _only(False, _total)),
        _steps("generation.steps", "step", planning=False),
        Field("generation.artifacts.blueprint_path", _only(False, _blueprint), meaning=Meaning.FIXED),
        Field("generation.artifacts.working_dir", _only(False, lambda s, _: working_dir(s)), meaning=Meaning.FIXED),
        Field("planning.level", _only(True, lambda s, _: s.context.get("level", UNKNOWN)), meaning=Meaning.FIXED),
        Field("planning.context", _only(True, _planned), meaning=Meaning.FIXED),
        Field("planning.current_phase", _only(True, _position)),
        Field("planning.total_phases", _only(True, _total)),
        _steps("planning.phases", "phase", planning=True),
        Field("planning.artifacts.working_dir", _only(True, lambda s, _: working_dir(s)), meaning=Meaning.FIXED),
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
            "status": _status(entry, said.get(entry.id)),
            **({"session_name": session} if session else {}),
            "created_at": MOMENT.encode(entry.created_at),
            "updated_at": MOMENT.encode(entry.updated_at),
            "state_file": f"{above}/{entry.id}.json",
        }
        for entry in entries
        if entry.session == session
    ]
    return f"{above}/index.json", {"workflows": listed}


def _status(entry: Any, before: Any) -> str:
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
    missing="rendered",
    adopt=adopt,
    index=index,
    log=lambda state: f"{LOGS}/{state.id}.log",
    folder=working_dir,
    guarded=lambda state: (place(state), f"{folder(state.session)}/workflow-state/index.json"),
)

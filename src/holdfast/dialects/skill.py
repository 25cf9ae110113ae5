"""The skill dialect: `.claude/workflow-state/{active,completed}/<skill>-<hash>.json` and `index.json`.

The document of resumable skills: `_schema, workflow, context, state_machine, tasks, checkpoints, history`. It is also
what a user's own definition writes.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, queries
from holdfast.core.definition import Check, Definition, Step
from holdfast.core.names import is_name
from holdfast.core.plan import Plan, parent
from holdfast.core.state import Evidence, Grant, Progress, State
from holdfast.dialects.fields import FRACTION, MOMENT, words
from holdfast.dialects.spec import ABSENT, UNKNOWN, Dialect, Document, Field, Items, Meaning
from holdfast.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = ".claude/workflow-state"

PHASE_WORDS = {
    lifecycle.PENDING: "pending",
    lifecycle.ACTIVE: "in_progress",
    lifecycle.IN_REVIEW: "in_progress",
    lifecycle.WAITING: "in_progress",
    lifecycle.DONE: "completed",
    lifecycle.FAILED: "in_progress",
    lifecycle.BLOCKED: "in_progress",
    lifecycle.ESCALATED: "in_progress",
    lifecycle.SKIPPED: "completed",
}
WORKFLOW_WORDS = {
    "in_progress": "in_progress",
    "waiting": "in_progress",
    "paused": "in_progress",
    "blocked": "blocked",
    "failed": "blocked",
    "escalated": "blocked",
    "completed": "completed",
    "finalized": "completed",
    "cancelled": "abandoned",
}
_SAID = frozenset({"in_progress", "blocked", "completed", "cancelled"})
_PHASE = words(PHASE_WORDS, {"blocked": lifecycle.BLOCKED})
_WORKFLOW = words(WORKFLOW_WORDS)


def _or_absent(value: Any) -> Any:
    return value if value not in ("", None) else ABSENT


def _detail(state: State, _: str) -> Any:
    word = queries.status(state)
    return ABSENT if word in _SAID else word


def _step_detail(state: State, path: str) -> Any:
    status = state.step(path).status
    return ABSENT if status in (lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.DONE) else status


def _context(state: State, _: str) -> Any:
    own = {"subject": state.subject, "title": state.title}
    return {**{name: value for name, value in own.items() if value and name not in state.context}, **state.context}


def _current_phase(state: State, _: str) -> Any:
    at = queries.current(state)
    return at.split("/")[0] if at else state.plan.children("")[-1]


def _current_step(state: State, _: str) -> Any:
    at = queries.current(state)
    return at.partition("/")[2] or ABSENT if at else ABSENT


def _fraction(state: State, path: str) -> Any:
    children = state.plan.children(path)
    if not children:
        return UNKNOWN
    return sum(state.step(child).status in lifecycle.FINISHED for child in children), len(children)


def _approval(state: State, path: str) -> Any:
    step, progress = state.plan.step(path), state.step(path)
    policy = gates.policy(step)
    if not policy:
        return ABSENT
    grant = progress.grant
    held = grant is not None and grant.attempt == progress.attempt and not grant.claimed
    said: dict[str, Any] = {"required": True, "by": policy, "approved": held}
    if grant:
        said.update(approved_at=grant.at, approved_by=grant.by)
        if grant.variant:
            said["selected_variant"] = grant.variant
        if grant.modifications:
            said["modifications"] = dict(grant.modifications)
        if grant.claimed:
            said["claimed"] = True
    if step.choice:
        said["options"] = list(step.choice.options)
    return said


def _feedback(state: State, path: str) -> Any:
    feedback = state.step(path).feedback
    return feedback[-1] if feedback else ABSENT


def _is_task(state: State, path: str) -> bool:
    return state.plan.step(path).kind == "task"


def _tasks(state: State) -> list[str]:
    return [path for path in state.plan.paths if _is_task(state, path)]


def _index(state: State, path: str) -> Any:
    last = path.rpartition("/")[2]
    return int(last) if last.isdigit() else state.plan.number(path)


def _tdd(name: str) -> Any:
    def value(state: State, path: str) -> Any:
        child = f"{path}/{name}"
        if child not in state.plan or state.step(path).status == lifecycle.PENDING:
            return ABSENT
        return state.step(child).status

    return value


def _commit(state: State, path: str) -> Any:
    progress = state.step(path)
    return _or_absent(progress.data.get("commit_sha"))


def _checks(state: State) -> list[str]:
    return [f"{path}#{check.name}" for path in state.plan.paths for check in state.plan.step(path).checks]


def _evidence(state: State, item: str) -> Evidence | None:
    path, _, name = item.rpartition("#")
    return state.step(path).evidence.get(name)


def _ran(state: State, item: str) -> str:
    return "completed" if _evidence(state, item) else "pending"


def _about(name: str) -> Any:
    def value(state: State, item: str) -> Any:
        evidence = _evidence(state, item)
        return ABSENT if evidence is None else _or_absent(getattr(evidence, name))

    return value


_WORDS = {
    "started": "workflow_started",
    "began": "started",
    "checked": "checkpoint",
    "noted": "note",
    "cancelled": "workflow_abandoned",
    "cancelled_ended": "workflow_resumed",
    "paused_ended": "workflow_resumed",
}


def _entry(state: State, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """A history entry in the dialect's words."""
    if "entry" in entry:
        return dict(entry["entry"])
    word = _WORDS.get(entry["event"], entry["event"])
    said: dict[str, Any] = {"at": MOMENT.encode(entry["at"]), "event": word}
    path = entry.get("step", "")
    if path and entry["event"] in lifecycle.MOVES:
        kind = "task" if path in state.plan and _is_task(state, path) else "step" if "/" in path else "phase"
        said["event"] = f"{kind}_{word}"
        said[kind] = _index(state, path) if kind == "task" else path
        commit = state.step(path).data.get("commit_sha") if word == "completed" else None
        if commit:
            said["commit"] = commit
    elif path:
        said["step" if "/" in path else "phase"] = path
    said.update({name: value for name, value in entry.items() if name not in ("at", "event", "step", "by", "attempt")})
    return said


def _depends(state: State, path: str) -> tuple[object, ...]:
    plan = state.plan
    return (state.step(path), plan.step(path), *[state.step(child) for child in plan.children(path)])


def _added_phase(state: State, entry: Mapping[str, Any]) -> tuple[str, Any]:
    name = entry.get("name")
    return "", Step(id=str(name)) if is_name(name) else None


def _added_task(state: State, entry: Mapping[str, Any]) -> tuple[str, Any]:
    tasks = _tasks(state)
    above = parent(tasks[0]) if tasks else (queries.current(state) or "").split("/")[0]
    index, text = entry.get("index"), entry.get("description")
    if not isinstance(index, int) or not isinstance(text, str):
        return above, None
    return above, Step(id=str(index), name=text, kind="task")


def _place(state: State) -> str:
    return f"{FOLDER}/{'active' if queries.is_active(state) else 'completed'}/{state.id}.json"


def _former(state: State) -> tuple[str, ...]:
    return (f"{FOLDER}/{'completed' if queries.is_active(state) else 'active'}/{state.id}.json",)


DOCUMENT = Document(
    path=_place,
    former=_former,
    history="history",
    entry=_entry,
    parts=(
        Field("_schema.version", lambda s, _: "1.0", quiet=True, meaning=Meaning.FIXED),
        Field("_schema.skill", lambda s, _: s.type, quiet=True, meaning=Meaning.FIXED),
        Field("workflow.id", lambda s, _: s.id, meaning=Meaning.FIXED),
        Field("workflow.status", lambda s, _: queries.status(s), _WORKFLOW, meaning=Meaning.WHOLE),
        Field("workflow.status_detail", _detail),
        Field("workflow.created_at", lambda s, _: s.created_at, MOMENT),
        Field("workflow.updated_at", lambda s, _: s.updated_at, MOMENT),
        Field("workflow.completed_at", lambda s, _: _or_absent(s.finished_at), MOMENT),
        Field("workflow.branch", lambda s, _: _or_absent(s.branch), nullable=True, meaning=Meaning.FIXED),
        Field("context", _context, meaning=Meaning.CONTEXT),
        Field("state_machine.current_phase", _current_phase, meaning=Meaning.POINTER),
        Field("state_machine.current_step", _current_step, quiet=True),
        Items(
            "state_machine.phases",
            each=lambda s: list(s.plan.children("")),
            name=lambda s, path: path,
            key="name",
            depends=_depends,
            added=_added_phase,
            fields=(
                Field("status", lambda s, p: s.step(p).status, _PHASE, meaning=Meaning.STATUS),
                Field("status_detail", _step_detail, meaning=Meaning.FIXED),
                Field("started_at", lambda s, p: _or_absent(s.step(p).started_at), MOMENT, quiet=True),
                Field("completed_at", lambda s, p: _or_absent(s.step(p).finished_at), MOMENT, quiet=True),
                Field("progress", _fraction, FRACTION, quiet=True),
                Field("attempt", lambda s, p: s.step(p).attempt if s.step(p).attempt > 1 else ABSENT),
                Field("steps", lambda s, p: [c.name for c in s.plan.step(p).checks] or ABSENT, quiet=True),
                Field("artifacts", lambda s, p: {n: a.path for n, a in s.step(p).artifacts.items()} or ABSENT),
                Field("approval", _approval, meaning=Meaning.FIXED),
                Field("feedback", _feedback),
                Field("reason", lambda s, p: _or_absent(s.step(p).reason)),
            ),
        ),
        Items(
            "tasks",
            each=_tasks,
            name=_index,
            key="index",
            depends=_depends,
            when=lambda s: bool(_tasks(s)),
            added=_added_task,
            fields=(
                Field("description", lambda s, p: s.plan.step(p).label),
                Field("status", lambda s, p: s.step(p).status, _PHASE, meaning=Meaning.STATUS),
                Field("status_detail", _step_detail, meaning=Meaning.FIXED),
                Field("commit_sha", _commit, meaning=Meaning.DATA),
                Field("tdd_phases.red", _tdd("red"), _PHASE),
                Field("tdd_phases.green", _tdd("green"), _PHASE),
                Field("tdd_phases.refactor", _tdd("refactor"), _PHASE),
            ),
        ),
        Items(
            "checkpoints",
            each=_checks,
            name=lambda s, item: item.rpartition("#")[2],
            depends=lambda s, item: (_evidence(s, item),),
            fields=(
                Field("status", _ran, meaning=Meaning.CHECK),
                Field("last_run", _about("at"), MOMENT, nullable=True, quiet=True),
                Field("passed", _about("passed"), nullable=True, quiet=True, meaning=Meaning.CHECK),
            ),
        ),
    ),
)


def identify(definition: Definition, subject: str, context: Mapping[str, Any], now: str) -> str:
    """`{skill}-{first 8 hex of md5(subject + newline)}`: what `echo "$SUBJECT" | md5sum | cut -c1-8` gives."""
    from hashlib import md5

    return f"{definition.name}-{md5((subject + chr(10)).encode(), usedforsecurity=False).hexdigest()[:8]}"


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: cmd.Facts, ulid: str) -> State:
    """The state a document speaks of. Approvals it claims open nothing; evidence in it is somebody's report."""
    workflow, machine = _object(document, "workflow"), _object(document, "state_machine")
    phases = machine.get("phases")
    if not is_name(workflow.get("id"), 200) or not isinstance(phases, list) or not phases:
        raise UsageError(
            "not_a_workflow",
            "this document has no workflow.id and state_machine.phases",
            remedy="holdfast schema skill",
        )
    known = {step.id: step for step in definition.steps} if definition else {}
    checkpoints = _object(document, "checkpoints", {})
    steps: list[Step] = []
    progress: dict[str, Progress] = {}
    for phase in phases:
        if not isinstance(phase, Mapping) or not is_name(phase.get("name")):
            raise UsageError("not_a_workflow", "every phase needs a name", remedy="holdfast schema skill")
        name = str(phase["name"])
        step = known.get(name) or Step(id=name, checks=_named_checks(phase, checkpoints))
        steps.append(step)
        progress[name] = _adopted_progress(step, phase, checkpoints)
    _adopt_tasks(document, machine, steps, progress)
    created = workflow.get("created_at")
    history = document.get("history")
    return State(
        ulid=ulid,
        id=str(workflow["id"]),
        type=str(_object(document, "_schema", {}).get("skill") or str(workflow["id"]).partition("-")[0]),
        plan=Plan(tuple(steps)),
        dialect="skill",
        context=_object(document, "context", {}),
        branch=workflow.get("branch") if isinstance(workflow.get("branch"), str) else None,
        origin="adopted",
        created_at=created if isinstance(created, str) else facts.now,
        updated_at=workflow["updated_at"] if isinstance(workflow.get("updated_at"), str) else facts.now,
        progress=progress,
        base=document,
        history=tuple({"entry": entry} for entry in history if isinstance(entry, Mapping))
        if isinstance(history, list)
        else (),
    )


def _object(document: Mapping[str, Any], name: str, default: Any = None) -> Mapping[str, Any]:
    value = document.get(name, default)
    if not isinstance(value, Mapping):
        raise UsageError("not_a_workflow", f"{name} is not an object", remedy="holdfast schema skill")
    return value


def _named_checks(phase: Mapping[str, Any], checkpoints: Mapping[str, Any]) -> tuple[Check, ...]:
    listed = phase.get("steps")
    names = [name for name in listed if is_name(name) and name in checkpoints] if isinstance(listed, list) else []
    return tuple(Check(str(name)) for name in names)


def _adopted_progress(step: Step, phase: Mapping[str, Any], checkpoints: Mapping[str, Any]) -> Progress:
    status = _PHASE.decode(phase.get("status", "pending"))
    evidence = {}
    for check in step.checks:
        said = checkpoints.get(check.name)
        if isinstance(said, Mapping) and said.get("status") == "completed":
            passed = said.get("passed")
            at = said.get("last_run")
            evidence[check.name] = Evidence(passed is not False, at if isinstance(at, str) else "", attempt=1)
    claimed = gates.policy(step) and status == lifecycle.DONE
    return Progress(
        status=status,
        attempt=0 if status == lifecycle.PENDING else 1,
        started_at=_text(phase, "started_at"),
        finished_at=_text(phase, "completed_at"),
        evidence=evidence,
        grant=Grant(_text(phase, "completed_at"), "document", "claimed", 1, claimed=True) if claimed else None,
    )


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _adopt_tasks(
    document: Mapping[str, Any], machine: Mapping[str, Any], steps: list[Step], progress: dict[str, Progress]
) -> None:
    """Tasks hang below the phase that executes them, their TDD phases below each task."""
    tasks = document.get("tasks")
    if not isinstance(tasks, list) or not tasks:
        return
    ids = [step.id for step in steps]
    at = ids.index("task_execution") if "task_execution" in ids else ids.index(machine["current_phase"])
    children = []
    for task in tasks:
        if not isinstance(task, Mapping) or not isinstance(task.get("index"), int):
            raise UsageError("not_a_workflow", "every task needs an index", remedy="holdfast schema skill")
        path = f"{steps[at].id}/{task['index']}"
        phases = task.get("tdd_phases")
        inner = tuple(Step(id=name) for name in phases) if isinstance(phases, Mapping) else ()
        children.append(Step(id=str(task["index"]), name=_text(task, "description"), kind="task", steps=inner))
        commit = {"commit_sha": task["commit_sha"]} if task.get("commit_sha") else {}
        progress[path] = _adopted_progress(Step(id="task"), task, {}).replace(data=commit)
        for name, status in phases.items() if isinstance(phases, Mapping) else ():
            progress[f"{path}/{name}"] = _adopted_progress(Step(id=name), {"status": status}, {})
    steps[at] = steps[at].replace(steps=tuple(children))


def index(entries: list[Any], old: Mapping[str, Any] | None, now: str) -> tuple[str, Mapping[str, Any]]:
    """`index.json`: the active workflows. Activity is kept to the minute, so that it need not be written each time."""
    before = {}
    if old is not None and isinstance(old.get("active_workflows"), list):
        before = {item.get("id"): item for item in old["active_workflows"] if isinstance(item, Mapping)}
    listed = [
        {
            "id": entry.id,
            "skill": entry.type,
            "feature": entry.subject,
            "started_at": MOMENT.encode(entry.created_at),
            "last_activity": max(_text(before.get(entry.id, {}), "last_activity"), MOMENT.encode(entry.updated_at)),
        }
        for entry in entries
        if entry.active
    ]
    said = {"schema_version": "1.0", "updated_at": MOMENT.encode(now), "active_workflows": listed}
    return f"{FOLDER}/index.json", said


DIALECT = Dialect(
    name="skill",
    document=DOCUMENT,
    own=(FOLDER,),
    identify=identify,
    status_words=WORKFLOW_WORDS,
    missing="abandoned",
    adopt=adopt,
    index=index,
    patterns=(f"{FOLDER}/active/*.json",),
)

"""The tools that agents work with, as functions: plain values in, plain values out, the same for every dialect.

Every input is checked here: unknown fields, wrong types and lengths are refused before anything is looked at. What
comes back has exactly the fields named here, so that agents can rely on them.
"""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, queries, refusals
from holdfast.core.names import nearest
from holdfast.core.state import State
from holdfast.core.value import Value
from holdfast.dialects import dialect
from holdfast.errors import UsageError
from holdfast.project import Project
from holdfast.workflow import Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATUSES = ("in_progress", "waiting_approval", "completed", "failed")


class Input(Value):
    """A field that a tool takes. `kind` is a JSON type, or `step`: a number from 1, or the id of a step."""

    name: str
    kind: str
    required: bool = False
    most: int = 0
    among: tuple[str, ...] = ()
    about: str = ""


class Tool(Value):
    """A tool by name: what it is for, what it takes, and the function that does it."""

    name: str
    about: str
    inputs: tuple[Input, ...]
    run: Callable[[Project, Mapping[str, Any]], dict[str, Any]]


def call(project: Project, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Runs a tool. Refusals are raised as everywhere."""
    tool = TOOLS.get(name)
    if tool is None:
        close = nearest(name, tuple(TOOLS))
        hint = f", did you mean {close}?" if close else ""
        raise UsageError("no_tool", f"there is no tool {name[:60]!r}{hint}", remedy=f"one of {', '.join(TOOLS)}")
    return tool.run(project, checked(tool, arguments))


def checked(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, if they are what the tool takes; every mistake at once otherwise. `phase` may stand for `step`."""
    known = {field.name: field for field in tool.inputs}
    given = dict(arguments)
    if "step" in known and "phase" in given and "step" not in given:
        given["step"] = given.pop("phase")
    wrong = [f"unknown field {name!r}" for name in given if name not in known]
    wrong += [f"{name} is missing" for name, field in known.items() if field.required and given.get(name) is None]
    wrong += [
        f"{name} {reason}"
        for name, value in given.items()
        if name in known and value is not None and (reason := _wrong(known[name], value))
    ]
    if wrong:
        raise UsageError(
            "bad_arguments",
            f"{tool.name}: {'; '.join(wrong)}",
            remedy=f"{tool.name} takes {', '.join(known) or 'nothing'}",
            facts={"tool": tool.name, "mistakes": wrong},
        )
    return {name: value for name, value in given.items() if value is not None}


def _wrong(field: Input, value: Any) -> str:
    match field.kind:
        case "string":
            if not isinstance(value, str) or not 1 <= len(value) <= (field.most or 1000):
                return f"must be text of 1 to {field.most or 1000} characters"
            return f"is one of {', '.join(field.among)}" if field.among and value not in field.among else ""
        case "boolean":
            return "" if isinstance(value, bool) else "must be true or false"
        case "object":
            return "" if isinstance(value, Mapping) else "must be an object"
        case "paths":
            if not isinstance(value, Mapping):
                return "must be an object"
            return "" if all(isinstance(one, str) and one for one in value.values()) else "must be an object of paths"
    number = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    named = isinstance(value, str) and 1 <= len(value) <= 200
    return "" if number or named else "must be the number of a step, from 1, or its id"


def _workflow(project: Project, given: Mapping[str, Any]) -> Workflow:
    return project.workflow(given["workflow_id"])


def _word(state: State) -> str:
    status = queries.status(state)
    return dialect(state.dialect).status_words.get(status, status)


def _step_word(status: str) -> str:
    return {
        lifecycle.ACTIVE: "in_progress",
        lifecycle.IN_REVIEW: "in_progress",
        lifecycle.WAITING: "waiting_approval",
        lifecycle.DONE: "completed",
        lifecycle.SKIPPED: "completed",
    }.get(status, status)


def _top(path: str) -> str:
    return path.partition("/")[0]


def get_workflow_status(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    state = _workflow(project, given).state
    at = queries.current(state)
    return {
        "workflow_id": state.id,
        "workflow_type": state.type,
        "status": _word(state),
        "current_step": queries.top_number(state),
        "current_step_name": _name(state, at),
        "waiting_for_approval": bool(at and state.step(at).status == lifecycle.WAITING),
        "progress_percentage": queries.percentage(state),
        "artifacts": {name: one.path for name, one in state.step(at or _last(state)).artifacts.items()},
    }


def _last(state: State) -> str:
    return state.plan.children("")[-1]


def _name(state: State, path: str | None) -> str:
    return state.plan.step(path or _last(state)).label


def get_next_step(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = _workflow(project, given)
    state, facts = workflow.state, workflow.facts()
    at, after = queries.current(state), queries.next_step(state)
    found = queries.blockers(state, at, facts) if at else []
    ready = bool(found) and found[0].kind in queries.READY and not queries.is_outdated(state, facts)
    reason, action = (None, None) if ready or at is None else _in_the_way(state, at, found)
    return {
        "can_proceed": ready,
        "current_step": queries.top_number(state),
        "current_step_name": _name(state, at),
        "current_status": _step_word(state.step(at).status) if at else "completed",
        "blocking_reason": reason,
        "required_action": action if reason else (found[0].remedy if found else None),
        "next_step": state.plan.number(_top(after)) if after else None,
        "next_step_name": state.plan.step(after).label if after else None,
        "prerequisites_met": not gates.missing(state, after, facts) if after else True,
    }


def _in_the_way(state: State, at: str, found: list[gates.Unmet]) -> tuple[str | None, str | None]:
    step = state.plan.step(at)
    stopped = bool(found) and found[0].kind in ("mark", "bound")
    if state.step(at).status == lifecycle.WAITING and gates.policy(step) and not stopped:
        about = step.label.lower()
        if step.choice:
            return f"Human choice required for {about}", f"User must select a variant of {about}"
        return f"Human approval required for {about}", f"User must approve or modify {about}"
    return (found[0].message, found[0].remedy) if found else (None, None)


def validate_prerequisites(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = _workflow(project, given)
    state, facts = workflow.state, workflow.facts()
    path = workflow.path(str(given["step"]))
    plan, before = state.plan, state.plan.closure(path)
    required = [plan.number(one) for one in plan.children("") if one in before]
    missing_paths = set(gates.missing(state, path, facts)) | {
        one for one in before if state.step(one).status not in lifecycle.FINISHED
    }
    missing = [plan.number(one) for one in plan.children("") if one in missing_paths]
    issues = [queries.absent_because(state, one, facts).message for one in gates.missing(state, path, facts)]
    if queries.is_outdated(state, facts):
        issues.append("the plan it builds on has changed: it requires revalidation")
    startable = state.step(path).status in (lifecycle.PENDING, lifecycle.ACTIVE)
    return {
        "prerequisites_met": not missing and not issues,
        "required_steps": required,
        "completed_steps": [number for number in required if number not in missing],
        "missing_steps": missing,
        "can_start_step": not missing and not issues and startable and queries.is_active(state),
        "blocking_issues": issues,
    }


def approve_step(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = _workflow(project, given)
    path = workflow.path(str(given["step"]))
    changes = given.get("modifications") or {}
    if given["approved"]:
        workflow.approve(path, given.get("selected_variant", ""), changes)
    else:
        workflow.execute(cmd.Reject(path, given.get("feedback", ""), changes))
    state = workflow.state
    at = queries.current(state)
    after = at if at and _top(at) != _top(path) else queries.next_step(state)
    return {
        "success": True,
        "workflow_id": state.id,
        "step": state.plan.number(_top(path)),
        "status": _step_word(state.step(path).status),
        "next_step": state.plan.number(_top(after)) if after else None,
        "next_step_name": state.plan.step(after).label if after else None,
    }


def update_workflow_state(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Moves a step, names its outputs, or both. `completed` hands it in: one that people approve then waits."""
    workflow = _workflow(project, given)
    path = workflow.path(str(given["step"]))
    base = project.wired.place.base(workflow.state.worktree)
    artifacts = {name: os.path.join(base, file) for name, file in (given.get("artifacts") or {}).items()}
    status = given.get("status", "in_progress")
    if workflow.state.step(path).status == lifecycle.PENDING:
        workflow.begin(path)
    if status == "completed":
        workflow.done(path, artifacts)
    elif status == "waiting_approval":
        workflow.submit(path, artifacts)
    else:
        if workflow.state.step(path).status != lifecycle.ACTIVE:
            raise refusals.wrong_status(workflow.state, path, "worked on", (lifecycle.ACTIVE,))
        if artifacts:
            workflow.attach(path, artifacts)
        if status == "failed":
            workflow.fail(path, given.get("reason") or "reported as failed")
    return {"success": True, "workflow_id": workflow.id, "updated_at": _whole(workflow.state.updated_at)}


def _whole(at: str) -> str:
    from holdfast.core.moment import whole

    return whole(at)


def list_workflows(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    found = project.list(
        status=given.get("status", ""), type=given.get("workflow_type", ""), session=given.get("session_name", "")
    )
    rows = [
        {
            "workflow_id": one.id,
            "workflow_type": one.state.type,
            "status": _word(one.state),
            "current_step": queries.top_number(one.state),
            "progress_percentage": queries.percentage(one.state),
        }
        for one in found
    ]
    return {"workflows": rows, "total": len(rows)}


def resume_workflow(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = _workflow(project, given)
    path = workflow.path(str(given["from_step"])) if "from_step" in given else ""
    workflow.resume(path)
    state = workflow.state
    at = path or queries.current(state) or ""
    return {
        "success": True,
        "workflow_id": state.id,
        "resumed_from_step": state.plan.number(_top(at)) if at else queries.top_number(state),
        "current_status": _word(state),
    }


def cancel_workflow(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Gives a workflow up. Its files stay; leases end with it, and views hold no temporary files."""
    workflow = _workflow(project, given)
    workflow.cancel(given.get("reason", ""))
    state = workflow.state
    return {
        "success": True,
        "workflow_id": state.id,
        "status": _word(state),
        "cleanup_performed": not state.leases,
    }


def workflow_metrics(project: Project, workflow_id: str) -> dict[str, Any]:
    """What a run took, counted from its journal."""
    figures = project.workflow(workflow_id).metrics()
    times = [{"step": one["step"], "duration_seconds": one["duration_seconds"]} for one in figures["step_times"]]
    counted = ("retry_count", "human_approval_time_seconds", "agent_calls", "parallel_executions")
    return {
        "workflow_metrics": {
            "workflow_id": figures["workflow_id"],
            "total_time_seconds": figures["total_time_seconds"],
            "step_times": times,
            **{name: figures[name] for name in counted},
        }
    }


def start_workflow(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = project.start(
        given["workflow"],
        given.get("subject", ""),
        title=given.get("title", ""),
        context=given.get("context"),
        session=given.get("session_name", ""),
        fresh=given.get("fresh", False),
    )
    return get_workflow_status(project, {"workflow_id": workflow.ulid})


_ID = Input("workflow_id", "string", required=True, most=200, about="the workflow's id")
_STEP = Input("step", "step", required=True, about="the step's number or id")
TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("get_workflow_status", "Get current workflow state", (_ID,), get_workflow_status),
        Tool("get_next_step", "Get next step info (sequential enforcement)", (_ID,), get_next_step),
        Tool("validate_prerequisites", "Check if a step's prerequisites are met", (_ID, _STEP), validate_prerequisites),
        Tool(
            "approve_step",
            "Pass on a person's approval, choice or rejection of a step",
            (
                *(_ID, _STEP),
                Input("approved", "boolean", required=True),
                Input("modifications", "object", about="changes that go with it"),
                Input("selected_variant", "string", most=64, about="the variant that is chosen"),
                Input("feedback", "string", most=20_000, about="what should be different"),
            ),
            approve_step,
        ),
        Tool(
            "update_workflow_state",
            "Move a step on, and name its outputs",
            (
                *(_ID, _STEP),
                Input("status", "string", among=STATUSES),
                Input("artifacts", "paths", about="outputs by name: the path of each from the top of the project"),
                Input("reason", "string", most=4000, about="why it failed"),
            ),
            update_workflow_state,
        ),
        Tool(
            "list_workflows",
            "List workflows, optionally by status, type or session",
            (
                Input("status", "string", most=64),
                Input("workflow_type", "string", most=64),
                Input("session_name", "string", most=64),
            ),
            list_workflows,
        ),
        Tool(
            "resume_workflow",
            "Resume a failed or cancelled workflow",
            (_ID, Input("from_step", "step", about="where to go on")),
            resume_workflow,
        ),
        Tool(
            "cancel_workflow",
            "Cancel an active workflow",
            (_ID, Input("reason", "string", most=500)),
            cancel_workflow,
        ),
        Tool(
            "start_workflow",
            "Start a workflow by the name of its definition",
            (
                Input("workflow", "string", required=True, most=130),
                Input("subject", "string", most=1000),
                Input("title", "string", most=500),
                Input("session_name", "string", most=64),
                Input("context", "object"),
                Input("fresh", "boolean", about="give up the active one of the same subject first"),
            ),
            start_workflow,
        ),
    )
}

"""The eight tools of the story convention, for every dialect, and the one that starts a workflow."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, queries, refusals
from holdfast.core.state import State
from holdfast.plain.plainjson import compact
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces.tools.remedies import in_tools
from holdfast.surfaces.tools.shape import Watch
from holdfast.systems.seam.registry import dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LISTED = 2048
"""How many bytes a list of workflows has, unless more of them are asked for."""


def workflow_of(project: Project, given: Mapping[str, Any]) -> Workflow:
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
    state = workflow_of(project, given).state
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
    workflow = workflow_of(project, given)
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
        "required_action": action if action or not found else in_tools(found[0].remedies, project.scope(state.ulid)),
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
    return (found[0].message, None) if found else (None, None)


def validate_prerequisites(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = workflow_of(project, given)
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
    workflow = workflow_of(project, given)
    path = workflow.path(str(given["step"]))
    changes = given.get("modifications") or {}
    if given["approved"]:
        workflow.approve(path, given.get("selected_variant", ""), changes)
    else:
        workflow.execute(cmd.Reject(path, given.get("feedback", ""), changes))
    return approved_answer(workflow, path)


def approved_answer(workflow: Workflow, path: str) -> dict[str, Any]:
    """What is said of a step that somebody approved or sent back."""
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


def update_workflow_state(project: Project, given: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
    """Moves a step, names its outputs, or both. `completed` hands it in: one that people approve then waits.

    Handing in a task of a document runs its criteria, which may take long.
    """
    workflow = workflow_of(project, given)
    workflow.cancelled = watch.cancelled
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
    return {"workflows": _first(rows, given.get("limit", 0)), "total": len(rows)}


def _first(rows: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """So many as are asked for, else so many as do not fill a context; active ones come first."""
    if limit:
        return rows[:limit]
    room = LISTED - len(compact({"workflows": [], "total": len(rows)}))
    for number, row in enumerate(rows):
        room -= len(compact(row).encode()) + 1
        if room < 0:
            return rows[:number]
    return rows


def resume_workflow(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = workflow_of(project, given)
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
    workflow = workflow_of(project, given)
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

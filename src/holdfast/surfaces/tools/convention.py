"""The eight tools of the story convention, for every dialect, and the one that starts a workflow."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import answers, gates, lifecycle, moment, queries, refusals
from holdfast.core import commands as cmd
from holdfast.core.briefing import NEWEST_NOTES, Briefing, alert_text
from holdfast.core.provenance import not_of, remarks
from holdfast.core.value import Any
from holdfast.plain.plainjson import compact
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli.readers import reader
from holdfast.surfaces.tools.remedies import in_tools
from holdfast.surfaces.tools.shape import Watch
from holdfast.systems.seam.parts import Order

LISTED = 2048
"""How many bytes a list of workflows has, unless more of them are asked for."""


def workflow_of(project: Project, given: Mapping[str, Any]) -> Workflow:
    return project.workflow(given["workflow_id"])


def _top(path: str) -> str:
    return path.partition("/")[0]


def get_workflow_status(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    return _status(project, workflow_of(project, given).briefing())


def _status(project: Project, brief: Briefing) -> dict[str, Any]:
    state = brief.state
    last = brief.step or state.plan.children("")[-1]
    more = {
        "title": state.title,
        "step": brief.step,
        "cancelled": answers.given_up(state.cancelled) if state.cancelled else {},
        "beside": brief.beside,
        "try": brief.tries,
        "turn": brief.turn if brief.step or brief.first else "",
        "blockers": [] if brief.ready else [one.message for one in brief.blockers],
        "skipped": brief.skipped,
        "decided": brief.decided,
        "claimed": brief.claimed,
        "asked": brief.asked,
        "violations": brief.violations,
        "emphasis": brief.emphasis,
        "unchanged": brief.unchanged,
        "failures": brief.failures,
        "reminders": list(state.reminders),
        "alerts": list(map(alert_text, brief.alerts)),
        "shadowing": project.wired.shadowing(state.type, state.source),
        "signal": brief.signal,
    }
    return {
        "workflow_id": state.id,
        "workflow_type": state.type,
        "status": brief.word,
        "current_step": brief.number,
        "current_step_name": brief.label,
        "waiting_for_approval": brief.step_status == lifecycle.WAITING,
        "progress_percentage": brief.percent,
        "artifacts": {name: one.path for name, one in state.step(last).artifacts.items()},
        "finished_percentage": brief.finished_percent,
        **{name: value for name, value in more.items() if value},
    }


def get_next_step(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """The convention's fields, then what the work of the step is; more than fits is cut, and `limit` asks for it."""
    brief = workflow_of(project, given).going_on()
    scope = project.scope(brief.state.ulid)
    status = lifecycle.CONVENTION.get(brief.step_status, brief.step_status)
    said = answers.position(brief, status, in_tools(brief.now, scope) or None)
    step = brief.state.plan.step(brief.step) if brief.step else None
    more: dict[str, Any] = {}
    asked = brief.first is not None and brief.first.kind in ("approval", "choice")
    if step and asked and brief.step_status == lifecycle.WAITING and not brief.stopped:
        about = step.label.lower()
        word, what = ("choice", "select a variant of") if step.choice else ("approval", "approve or modify")
        said["blocking_reason"] = f"Human {word} required for {about}"
        said["required_action"] = f"User must {what} {about}"
        more["until_decided"] = in_tools(brief.now, scope)
    tries, notes = answers.tried(brief), [dict(note) for note in brief.state.notes[-NEWEST_NOTES:]]
    work = answers.work(brief, scope, tell=in_tools)
    more |= {"step": brief.step, "agents": list(step.agents) if step else [], **work, "tries": tries, "notes": notes}
    return {**said, **{name: value for name, value in more.items() if value}}


def validate_prerequisites(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = workflow_of(project, given)
    state, facts = workflow.state, workflow.facts()
    tops, asked = state.plan.children(""), given["step"]
    is_number = isinstance(asked, int) and 0 < asked <= len(tops)  # as `current_step` says it
    path = tops[asked - 1] if is_number else workflow.path(str(asked))
    plan, before = state.plan, state.plan.closure(path)
    required = [plan.number(one) for one in plan.children("") if one in before]
    absent = gates.missing(state, path, facts)
    undone = {*absent, *(one for one in before if state.step(one).status not in lifecycle.FINISHED)}
    missing = [plan.number(one) for one in plan.children("") if one in undone]
    issues = [queries.absent_because(state, one, facts).message for one in absent]
    if queries.is_outdated(state, facts):
        issues.append("the plan it builds on has changed: it requires revalidation")
    issues += [one.message for one in facts.ground]
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
    after = at if at and _top(at) != _top(path) else queries.next_step(state, at)
    return {
        "success": True,
        "workflow_id": state.id,
        "step": state.plan.number(_top(path)),
        "status": lifecycle.CONVENTION.get(state.step(path).status, state.step(path).status),
        "next_step": state.plan.number(_top(after)) if after else None,
        "next_step_name": state.plan.step(after).label if after else None,
    }


def update_workflow_state(project: Project, given: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
    """Moves a step, names its outputs, or both. `completed` hands it in: one that people approve then waits.

    Without a step it is the one that is worked on. Handing it in runs the checks that are missing, which may take long.
    """
    workflow = workflow_of(project, given)
    workflow.cancelled = watch.cancelled
    if "step" not in given and given.get("status") == "completed":
        order = _order(given)
        artifacts = _artifacts(project, workflow, given)
        again = {"test": given.get("test", ""), "unchanged": given.get("unchanged", "")}
        workflow.done(artifacts=artifacts, order=order, watch=watch.told, **again)
        return {**_updated(workflow), "handed_in": list(workflow.handed)}
    path = workflow.path(str(given["step"])) if "step" in given else workflow.worked_on()
    artifacts = _artifacts(project, workflow, given)
    status = given.get("status", "in_progress")
    if workflow.state.step(path).status == lifecycle.PENDING:
        workflow.begin(path)
    if status == "completed":
        test, same = given.get("test", ""), given.get("unchanged", "")
        workflow.done(path, artifacts, test=test, order=_order(given), watch=watch.told, unchanged=same)
    elif status == "waiting_approval":
        workflow.submit(path, artifacts, unchanged=given.get("unchanged", ""))
    else:
        if workflow.state.step(path).status != lifecycle.ACTIVE:
            raise refusals.wrong_status(workflow.state, workflow.facts(), path, "worked on", (lifecycle.ACTIVE,))
        if artifacts:
            workflow.attach(path, artifacts)
        if status == "failed":
            workflow.fail(path, given.get("reason") or "reported as failed")
    return _updated(workflow)


def _order(given: Mapping[str, Any]) -> Order:
    """What is said of the commit or pull request that goes with handing a step in."""
    commit = reader("commit")(given["commit"]) if "commit" in given else ""
    return Order(message=given.get("message", ""), commit=commit, url=given.get("url", ""))


def _artifacts(project: Project, workflow: Workflow, given: Mapping[str, Any]) -> dict[str, str]:
    base = project.wired.place.base(workflow.state.worktree)
    return {name: os.path.join(base, file) for name, file in (given.get("artifacts") or {}).items()}


def _updated(workflow: Workflow) -> dict[str, Any]:
    said = [*(one for _, seen in workflow.ran for one in (*remarks(seen), *not_of(seen))), *workflow.said]
    at = moment.whole(workflow.state.updated_at)
    return {"success": True, "workflow_id": workflow.id, "updated_at": at, **({"said": said} if said else {})}


def list_workflows(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    kind, session = given.get("workflow_type", ""), given.get("session_name", "")
    found = project.list(status=given.get("status", ""), type=kind, session=session)
    rows = [
        {
            "workflow_id": one.id,
            "workflow_type": one.state.type,
            "status": one.briefing().word,
            "current_step": queries.top_number(one.state),
            "progress_percentage": queries.percentage(one.state),
            "finished_percentage": one.briefing().finished_percent,
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
    path = resumed_from(workflow, given)
    workflow.resume(path)
    return resumed_answer(workflow, path)


def resumed_from(workflow: Workflow, given: Mapping[str, Any]) -> str:
    return workflow.path(str(given["from_step"])) if "from_step" in given else ""


def resumed_answer(workflow: Workflow, path: str) -> dict[str, Any]:
    """What is said of a workflow that continues."""
    state = workflow.state
    at = path or queries.current(state) or ""
    return {
        "success": True,
        "workflow_id": state.id,
        "resumed_from_step": state.plan.number(_top(at)) if at else queries.top_number(state),
        "current_status": workflow.briefing().word,
    }


def cancel_workflow(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Gives a workflow up. Its files stay; leases end with it, and views hold no temporary files."""
    workflow = workflow_of(project, given)
    workflow.cancel(given.get("reason", ""))
    status, is_clean = workflow.briefing().word, not workflow.state.leases
    return {"success": True, "workflow_id": workflow.id, "status": status, "cleanup_performed": is_clean}


def workflow_metrics(project: Project, workflow_id: str) -> dict[str, Any]:
    """What a run took, counted from its journal."""
    from holdfast.core.metrics import wrapped

    name = "workflow_metrics"
    return {name: wrapped(project.workflow(workflow_id).metrics())[name]}


def start_workflow(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = project.start(
        given["workflow"],
        given.get("subject", ""),
        title=given.get("title", ""),
        context=given.get("context"),
        session=given.get("session_name", ""),
        phases=given.get("phases", ()),
        fresh=given.get("fresh", False),
        branch=reader("text:branch:200")(given["branch"]) if "branch" in given else "",
    )
    answer = _status(project, workflow.briefing())
    said = [one for one in workflow.said if one != answer.get("shadowing")]
    return {**answer, "said": said} if said else answer

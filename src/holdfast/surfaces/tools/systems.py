"""What agents need of one system each: tasks and commits, the supervisor, delivery, the metrics of a run."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.project.project import Project
from holdfast.surfaces.tools import convention
from holdfast.surfaces.tools.commanded import need, run
from holdfast.surfaces.tools.shape import Input, Tool, typed
from holdfast.surfaces.tools.table import ID, TOKEN

_PLAN = {"add_task": "text", "add_step": "id", "retire": "step", "apply": ""}
_DELIVERY = ("continue", "finalize", "init", "recover")
_CHECKS = ("pre_task", "post_task", "on_demand")
_VERDICTS = ("PASS", "AUTO_FIX", "RE_PLAN")
_SEVERITIES = ("critical", "high", "low")


def change_plan(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Without a step, `apply` takes over every change of the definition."""
    action, needed = given["action"], _PLAN[given["action"]]
    if needed:
        need("change_plan", given, needed)
    if action == "add_task":
        return run(project, "task add", given)
    rest = {name: value for name, value in given.items() if name not in ("text", "step", "id")}
    if action == "add_step":
        return run(project, "amend", rest, add=given["id"], name=given.get("text", ""))
    step = str(given.get("step") or "")
    how = {"retire": True} if action == "retire" else {"all": not step}
    return run(project, "amend", {"workflow_id": given["workflow_id"]}, step=step or None, **how)


def commit_work(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    by = given.get("by", "")
    whose = {"supervisor": by == "supervisor", "outer": by == "outer"}
    return run(project, "commit", given, **whose)


def supervise_task(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    return run(project, "orchestrator supervise", given)


def record_milestone(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    return run(project, "orchestrator milestone", given, create="url" not in given)


def deliver_feature(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is put together without a journal is a person's to confirm: that is refused, with what was found."""
    return run(project, f"feature {given['action']}", given)


def get_workflow_metrics(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    return convention.workflow_metrics(project, given["workflow_id"])


PLAN = Tool(
    title="Change the plan",
    about="Add or retire steps, or apply the changed definition",
    inputs=(
        ID,
        Input("action", "string", required=True, among=tuple(_PLAN)),
        Input("text", "string", most=1000),
        Input("id", "string", most=64),
        Input("under", "string", most=200, about="step"),
        Input("after", "string", most=64, about="sibling"),
        Input("step", "step"),
        TOKEN,
    ),
    outputs={},
    run=change_plan,
)
COMMIT = Tool(
    title="Commit work",
    about="Commit work of a task, supervisor or outer loop",
    inputs=(
        ID,
        Input("message", "string", required=True, most=20_000),
        Input("task", "string", most=200),
        Input("by", "string", among=("supervisor", "outer")),
        Input("paths", "files"),
        TOKEN,
    ),
    outputs={},
    run=commit_work,
    external=True,
)
SUPERVISE = Tool(
    title="Supervise a task",
    about="Without verdict: what to look at",
    inputs=(
        ID,
        Input("check_type", "string", required=True, among=_CHECKS),
        Input("task", "string", most=200),
        Input("verdict", "string", among=_VERDICTS),
        Input("conflict", "string", most=64),
        Input("severity", "string", among=_SEVERITIES),
        Input("resolution", "string", most=4000),
        Input("fixes", "integer", most=10_000),
        Input("affects", "texts", most=200),
        Input("limit", "integer", least=1, most=50_000),
        TOKEN,
    ),
    outputs={},
    run=supervise_task,
)
MILESTONE = Tool(
    title="Milestone of a phase",
    about="Issue of a finished phase",
    inputs=(
        ID,
        Input("phase", "string", required=True, most=200),
        Input("url", "string", most=1000, about="default: make one"),
        TOKEN,
    ),
    outputs={},
    run=record_milestone,
    external=True,
)
DELIVER = Tool(
    title="Deliver a feature",
    about="continue: as far as possible (pull request, next phase). finalize: publish its docs, delete its workspace. "
    "init: workflow/ and central docs. recover: rebuild lost state",
    inputs=(
        Input("action", "string", required=True, among=_DELIVERY),
        Input("workflow_id", "string", most=200),
        Input("merged", "files", about="central docs whose changes are merged, for finalize"),
        Input("slug", "string", most=200, about="for recover"),
        Input("take", "string", among=("git", "here"), about="which journal, for recover"),
        TOKEN,
    ),
    outputs={},
    run=deliver_feature,
    destroys=True,
    external=True,
)
METRICS = Tool(
    title="Workflow metrics",
    about="Times, retries and agent calls of a run",
    inputs=(ID,),
    outputs=typed("workflow_metrics:object"),
    run=get_workflow_metrics,
    reads=True,
)

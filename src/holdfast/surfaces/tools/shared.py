"""What agents of every system need besides the default set: steps and workflows that stop, agents, the briefing."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core.value import Any
from holdfast.project.project import Project
from holdfast.project.required import OUTSIDE, entries, listed
from holdfast.surfaces.tools.commanded import need, run
from holdfast.surfaces.tools.convention import workflow_of
from holdfast.surfaces.tools.shape import Input, Tool
from holdfast.surfaces.tools.table import ID, STEP, TOKEN

_STEPS = {
    "block": ("block", "reason"),
    "unblock": ("unblock", "guidance"),
    "skip": ("skip", "reason"),
    "reopen": ("reopen", "feedback"),
    "iterate": ("orchestrator iterate", "reason"),
}
"""What may be done to a step: the command, and what it calls the reason."""
_WHOLE = {
    "pause": ("reason", "reason"),
    "revalidate": ("", ""),
    "set": ("values", ""),
    "snapshot": ("", "label"),
    "restore": ("number", ""),
    "compacted": ("", "note"),
}
"""What may be done to a workflow: the field it needs, and what the command calls the reason."""
_VIEWS = {
    "log": "log",
    "document": "show",
    "diagram": "diagram",
    "metrics": "metrics",
    "agents": "agent list",
    "locks": "locks",
    "reading": "reading",
    "tasks": "task list",
    "learnings": "learnings",
    "definitions": "workflows",
    "amendments": "amend",
}
_AGENTS = ("start", "beat", "end", "list")


def change_step(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """A task may be meant by its number, a step by number, id or path."""
    action, step = given["action"], str(given["step"])
    command, said = _STEPS[action]
    if action in ("block", "iterate"):
        need("change_step", given, "reason")
    of_task = action == "iterate"
    at = step if of_task else workflow_of(project, given).path(step)
    fields = {name: value for name, value in given.items() if name not in ("reason", "step")}
    return run(project, command, fields, **{said: given.get("reason", ""), "task" if of_task else "step": at})


def change_workflow(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    action = given["action"]
    needed, said = _WHOLE[action]
    if needed:
        need("change_workflow", given, needed)
    text = {said: given["reason"]} if said and "reason" in given else {}
    return run(project, action, {name: value for name, value in given.items() if name != "reason"}, **text)


def brief_agents(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Several lists in one call are one change: all of them are kept, or none."""
    workflow = workflow_of(project, given)
    place, state = project.wired.place, workflow.state
    read = [os.path.join(place.worktree, path.removeprefix("@")) for path in given.get("read", ())]
    lists = {
        "reading": (entries(read, place), listed(given.get("unread", ()), state.reading, "reading")),
        "reminders": (tuple(given.get("remind", ())), listed(given.get("forget", ()), state.reminders, "reminders")),
    }
    parts = tuple(cmd.Brief(name, add=add, remove=gone) for name, (add, gone) in lists.items() if add or gone)
    if parts:
        workflow.execute(cmd.Together(parts))
    reading = [{"entry": one.entry, "standing": one.standing} for one in workflow.required() if one.standing != OUTSIDE]
    return {"workflow_id": workflow.id, "reading": reading, "reminders": list(workflow.state.reminders)}


def manage_agents(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    action = given["action"]
    if action == "start":
        need("manage_agents", given, "role")
        at = {"step": workflow_of(project, given).path(str(given["step"]))} if "step" in given else {"step": None}
        ttl = {"ttl": given["ttl_seconds"]} if "ttl_seconds" in given else {}
        return run(project, "agent start", given, name=given["role"], **at, **ttl)
    return run(project, f"agent {action}", given)


def inspect_workflow(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """`words` are looked for in learnings; `check` is the one whose output is wanted."""
    return run(project, _VIEWS[given["view"]], {name: given[name] for name in given if name != "limit"})


SHARED = (
    Tool(
        title="Change a step",
        about="iterate: criteria not met, try again",
        inputs=(
            *(ID, STEP),
            Input("action", "string", required=True, among=tuple(_STEPS)),
            Input("reason", "string", most=4000),
            TOKEN,
        ),
        outputs={},
        run=change_step,
    ),
    Tool(
        title="Change a workflow",
        about="revalidate: its basis changed, the work is still valid",
        inputs=(
            ID,
            Input("action", "string", required=True, among=tuple(_WHOLE)),
            Input("reason", "string", most=500),
            Input("values", "object"),
            Input("number", "integer", least=1, most=999_999_999, about="of the snapshot"),
            TOKEN,
        ),
        outputs={},
        run=change_workflow,
    ),
    Tool(
        title="Brief agents",
        about="Required reading and reminders of a workflow",
        inputs=(
            ID,
            Input("read", "files"),
            Input("unread", "files"),
            Input("remind", "texts", most=2000),
            Input("forget", "texts", most=2000),
            TOKEN,
        ),
        outputs={},
        run=brief_agents,
    ),
    Tool(
        title="Agents and leases",
        about="start gives the token that every later call passes",
        inputs=(
            ID,
            Input("action", "string", required=True, among=_AGENTS),
            Input("role", "string", most=64),
            Input("step", "step"),
            Input("ttl_seconds", "integer", least=1, most=86_400),
            Input("worktree", "boolean"),
            Input("lease", "integer", least=1, most=999_999_999),
            Input("outcome", "string", most=4000),
            TOKEN,
        ),
        outputs={},
        run=manage_agents,
    ),
    Tool(
        title="Look at a workflow",
        about="Log, document, metrics and lists",
        inputs=(
            Input("view", "string", required=True, among=tuple(_VIEWS)),
            Input("workflow_id", "string", most=200),
            Input("check", "string", most=64, about="log of its output"),
            Input("words", "texts", most=200, about="in learnings"),
            Input("limit", "integer", least=1, most=50_000, about="for all of it"),
        ),
        outputs={},
        run=inspect_workflow,
        reads=True,
    ),
)

"""The workflow as a whole."""

from __future__ import annotations

import os
import sys

from holdfast.core import moment, queries, remedies
from holdfast.errors import HoldfastError
from holdfast.plain.terminal import escape, fold, width_of
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.readers import pairs


def reset(call: Call) -> None:
    reset_step(call, call.workflow(), call.args.step or "")


def reset_step(call: Call, workflow: Workflow, step: str) -> None:
    """Shows what is lost, and asks; without a step, the current one begins again."""
    named = step or queries.current(workflow.state) or "all"
    path = "" if named == "all" else workflow.path(named)
    workflow.require_suitable()
    if call.is_person:
        _confirm_reset(call, workflow, path)
    workflow.reset(path, **call.how())
    call.changed(workflow, path or workflow.state.plan.children("")[0])


def _confirm_reset(call: Call, workflow: Workflow, path: str) -> None:
    named = f"{path} and all that waits for it" if path else f"everything in {workflow.id}"
    about = f"Reviews and approvals of {named} are archived, and it starts again.\n"
    if not call.ask(
        fold(escape(about, lines=True), width_of(sys.stdout, os.environ)),
        f"Reset {path or 'everything'}?",
        default=call.args.yes,
    ):
        raise HoldfastError("declined", "nothing was reset", remedy=remedies.status())


def revalidate(call: Call) -> None:
    workflow = call.workflow()
    workflow.revalidate(**call.how())
    call.changed(workflow, said=call.ok(f"{workflow.id} is valid again"))


def cancel(call: Call) -> None:
    workflow = call.workflow()
    workflow.cancel(call.args.reason or "", **call.how())
    call.changed(workflow, said=call.ok(f"{workflow.id} is cancelled"))


def pause(call: Call) -> None:
    workflow = call.workflow()
    workflow.pause(call.args.reason, **call.how())
    call.changed(workflow, said=call.ok(f"{workflow.id} is paused"))


def extend(call: Call) -> None:
    args, workflow = call.args, call.workflow()
    workflow.extend(cost=args.cost, time=args.time, iterations=args.iterations, **call.how())
    bounds = workflow.state.bounds
    now = [
        f"cost {moment.money(bounds.max_cost)}" if args.cost and bounds.max_cost else "",
        f"time {moment.span(bounds.max_time)}" if args.time and bounds.max_time else "",
        f"iterations {bounds.max_iterations}" if args.iterations else "",
    ]
    limits = {"max_cost": bounds.max_cost, "max_time": bounds.max_time, "max_iterations": bounds.max_iterations}
    said = call.ok("the bounds are now: " + ", ".join(word for word in now if word))
    call.changed(workflow, said=said, more={"bounds": limits})


def note(call: Call) -> None:
    workflow = call.workflow()
    workflow.note(call.args.text, call.args.step or "", **call.how())
    call.changed(workflow, said=call.ok("noted"), more={"note": dict(workflow.state.notes[-1])})


def set_values(call: Call) -> None:
    workflow, values = call.workflow(), pairs(call.args.values)
    workflow.record(values, **call.how())
    said = call.ok("set " + ", ".join(values))
    call.changed(workflow, said=said, more={"context": dict(workflow.state.context)})


def snapshot(call: Call) -> None:
    workflow = call.workflow()
    number = workflow.snapshot(call.args.label, **call.how())
    taken = workflow.state.snapshots[-1]
    at = f" at commit {taken.head[:12]}" if taken.head else ""
    data = {"number": number, "at": taken.at, "head": taken.head, "label": taken.label}
    call.changed(workflow, said=call.ok(f"snapshot {number}{at}"), more={"snapshot": data})


def restore(call: Call) -> None:
    """The steps go back. Files are the user's: the command that would bring them back is only named."""
    workflow, number = call.workflow(), call.args.number
    taken = next((one for one in workflow.state.snapshots if one.number == number), None)
    workflow.restore(number, **call.how())
    way = "reset --hard" if workflow.state.conduct.checkpointed else "checkout --detach"
    command = f"git {way} {taken.head}" if taken and taken.head else None
    said = call.ok(f"the steps are as they were at snapshot {number}")
    if command:
        said += f" · for the files too: {escape(command)}"
    call.changed(workflow, said=said, more={"restored": number, "git_command": command})

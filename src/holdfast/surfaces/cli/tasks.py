"""Tasks: steps that are found while the work is done, numbered below the step they belong to."""

from __future__ import annotations

import os

from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.lifecycle import MARKS
from holdfast.core.plan import parent
from holdfast.core.state import ADDED, State
from holdfast.core.tasks import COMMIT, TASK, named, new_task, next_number, untested
from holdfast.documents.learnings import read
from holdfast.errors import Refused
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli import readers, steps
from holdfast.surfaces.cli.call import Call
from holdfast.systems.seam.registry import dialect

SHOWN = 5
"""How many learnings are shown when a task begins."""


def add(call: Call) -> None:
    args, workflow = call.args, call.workflow()
    above = workflow.path(args.under) if args.under else _home(workflow.state)
    name = args.id or _numbered(workflow.state, above)
    text, tested = untested(args.text)
    workflow.add_step(new_task(workflow.state, above, name, text, tested=tested), above, **call.how())
    path = f"{above}/{name}"
    known = workflow.state.step(above).data.get(ADDED, ())
    if workflow.state.loads and path not in known:
        workflow.execute(cmd.Record({ADDED: [*known, path]}, above))
    call.changed(workflow, path, call.ok(f"task {path} added"), {"task": name, "path": path})


def _numbered(state: State, above: str) -> str:
    """The next number below a step; where numbers go by phase, that of the phase goes before it."""
    if not state.conduct.phased:
        return str(next_number(state, above))
    phase = above.removeprefix("phase-")
    inside = [state.plan.step(path).id.rpartition(".")[2] for path in state.plan.children(above)]
    return f"{phase}.{max((int(number) for number in inside if number.isdigit()), default=0) + 1}"


def start(call: Call) -> None:
    workflow = call.workflow()
    path = named(workflow.state, call.args.task)
    workflow.begin(path, **call.how())
    known = _learned(call, workflow)
    said = "".join(f"\n  {escape(line)}" for line in known)
    call.changed(workflow, path, more={"learnings": known} if known else None)
    if said and not call.args.json:
        call.answer({}, f"learned before:{said}")


def _learned(call: Call, workflow: Workflow) -> list[str]:
    """What runs of this project have learned, newest first, shown when a task begins."""
    learnings = dialect(workflow.state.dialect).learnings
    if learnings is None:
        return []
    file = learnings(workflow.state)
    newest = read(os.path.join(call.project.wired.place.base(workflow.state.worktree), file))[-SHOWN:]
    return [f"{one.get('type')}: {one.get('lesson')}" for one in reversed(newest)]


def done(call: Call) -> None:
    workflow = call.workflow()
    path = named(workflow.state, call.args.task)
    step = workflow.state.plan.step(path)
    if step.action or workflow.state.conduct.criteria or any(check.run for check in step.checks):
        steps.hand_in(call, workflow, path)
        return
    commit = readers.sha(call.args.commit) if call.args.commit else ""
    if commit:
        from holdfast import git
        from holdfast.systems.seam.actions import require_own

        base = call.project.wired.place.base(workflow.state.worktree)
        require_own(git.find(base), workflow.state, path, commit)
    workflow.execute(cmd.Done(path, data={COMMIT: commit} if commit else {}), **call.how())
    made = workflow.state.step(path).data.get(COMMIT)
    call.changed(workflow, path, more={"commit": made} if made else {})


def listing(call: Call) -> None:
    state = call.workflow().state
    rows = []
    for path in state.plan.of_kind(TASK):
        step, progress = state.plan.step(path), state.step(path)
        about = {"path": path, "task": step.id, "text": step.label}
        rows.append({**about, "status": progress.status, "commit": progress.data.get(COMMIT)})

    def text() -> str:
        lines = [f"{MARKS[str(row['status'])]} {row['path']}  {row['text']}" for row in rows]
        return "\n".join(map(escape, lines)) or "no tasks"

    call.answer({"workflow_id": state.id, "tasks": rows}, text)


def _home(state: State) -> str:
    """Where a task goes that nobody said the place of."""
    branches = list(dict.fromkeys(parent(path) for path in state.plan.of_kind(TASK)))
    if len(branches) == 1:
        return branches[0]
    at = queries.current(state)
    if at is None:
        raise Refused("all_done", f"all steps of {state.id} are done", remedy=remedies.reopen(remedies.STEP))
    return at.split("/")[0]

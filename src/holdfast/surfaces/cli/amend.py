"""Taking over what changed in the definition of a running workflow, and changing its tree by hand."""

from __future__ import annotations

import os

from holdfast.checks import trust
from holdfast.core import commands as cmd
from holdfast.core import queries, refusals, remedies
from holdfast.core.definition import BUILT_IN, Definition, Step
from holdfast.core.remedy import Blank
from holdfast.core.state import State
from holdfast.core.tasks import TASK
from holdfast.core.value import Any
from holdfast.definitions import Change, changes
from holdfast.errors import HoldfastError, NotFound, Refused
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli.call import Call
from holdfast.systems.seam.parts import Asked
from holdfast.systems.seam.registry import subject as subject_of

BY_HAND = "added"
"""The kind of a step that was added here: no file knows it, and none is expected to."""


_DONE = {"add": "added", "retire": "retired", "change": "changed"}


def amend(call: Call) -> None:
    args = call.args
    ways = [bool(args.step), bool(args.all), bool(args.add)]
    if sum(ways) > 1 or (args.retire and not args.step):
        usage = remedies.usage("amend")
        raise refusals.misused("amend takes a step, --all or --add ID, and only one of them", usage)
    if (args.name or args.under or args.after) and not args.add:
        raise refusals.misused("--name, --under and --after go with --add ID", remedies.usage("amend"))
    workflow = call.workflow()
    if args.add:
        _add(call, workflow)
    elif args.retire:
        path = workflow.path(args.step)
        workflow.retire_step(path, **call.how())
        call.changed(workflow, said=call.ok(f"{path} is retired"), more={"amended": [{"op": "retire", "path": path}]})
    elif args.step or args.all:
        _take_over(call, workflow)
    else:
        _show(call, workflow.state)


def _add(call: Call, workflow: Workflow) -> None:
    args = call.args
    above = workflow.path(args.under) if args.under else ""
    workflow.add_step(Step(args.add, name=args.name, kind=BY_HAND), above, args.after, **call.how())
    path = f"{above}/{args.add}" if above else args.add
    call.changed(workflow, path, call.ok(f"{path} is added"), {"amended": [{"op": "add", "path": path}]})


def differences(call: Call, state: State) -> tuple[Definition, list[Change]]:
    """The definition as it is now, and what would make the running tree like it."""
    from holdfast.checks import equipping

    definition = equipping.equipped_like(_definition(call, state), state, call.project.wired.place)
    found = changes(state.plan.steps, definition)
    brought = (TASK, BY_HAND, *state.conduct.groups)
    own = [c for c in found if c.op == "retire" and state.plan.step(c.path).kind in brought]
    return definition, [change for change in found if change not in own]


def _definition(call: Call, state: State) -> Definition:
    if not state.source:
        said = f"{state.id} was started from values and not from a file"
        ways = (remedies.add_step(Blank("ID")), remedies.amend(remedies.STEP, retire=True))
        raise Refused("no_source", said, remedy=ways, facts={"workflow": state.id})
    if state.source == BUILT_IN:
        return call.project.wired.catalogue.get(f"{state.dialect}/{state.type}")
    if state.conduct.frozen_trust:
        asked = Asked(call.project.wired.catalogue.get(f"{state.dialect}/{state.type}"), state.source, {})
        return subject_of(state.dialect).load(asked, call.project.wired.place).definition
    return call.project.wired.catalogue.load(_file(call, state))


def _file(call: Call, state: State) -> str:
    return os.path.join(call.project.root, state.source)


def _show(call: Call, state: State) -> None:
    _, found = differences(call, state)
    rows = [{"op": c.op, "path": c.path, "name": c.step.label if c.step else None} for c in found]

    def text() -> str:
        if not rows:
            return call.ok(f"{state.id} has the steps its definition has")
        lines = [escape(f"  {row['op']:<7} {row['path']}") for row in rows]
        ways = (remedies.amend(remedies.STEP), remedies.amend().given(all=True))
        return "\n".join([*lines, call.style.dim(f"apply them: {call.told(ways)}")])

    call.answer({"workflow_id": state.id, "changes": rows}, text)


def _take_over(call: Call, workflow: Workflow) -> None:
    definition, found = differences(call, workflow.state)
    if call.args.step:
        wanted = _wanted(workflow.state, call.args.step, found)
        found = [change for change in found if change.path == wanted]
    made: list[dict[str, Any]] = []
    refused: list[tuple[Change, HoldfastError]] = []
    for change in found:
        try:
            _require_trust(call, workflow.state, definition, change)
            workflow.execute(_command(workflow.state, change), **call.how())
            made.append({"op": change.op, "path": change.path})
        except HoldfastError as refusal:
            refused.append((change, refusal))
    said = ", ".join(f"{one['path']} is {_DONE[one['op']]}" for one in made) or "nothing to apply"
    if refused:
        raise _in_part(said if made else "", made, refused)
    call.changed(workflow, said=call.ok(said), more={"amended": made})


def _in_part(said: str, made: list[dict[str, Any]], refused: list[tuple[Change, HoldfastError]]) -> HoldfastError:
    """The first refusal, with what was applied all the same and what else was refused."""
    first = refused[0][1]
    if not said and len(refused) == 1:
        return first
    told = "; ".join(f"{change.path} is not {_DONE[change.op]}: {one.message}" for change, one in refused)
    listed = [
        {"op": change.op, "path": change.path, "code": one.code, "reason": one.message} for change, one in refused
    ]
    message = f"{said}; {told}" if said else told
    return Refused("amended_in_part", message, remedy=first.remedies, facts={"amended": made, "refused": listed})


def _wanted(state: State, word: str, found: list[Change]) -> str:
    paths = [change.path for change in found]
    if word in paths:
        return word
    new = [path for path in paths if path not in state.plan and path.endswith(f"/{word}")]
    path = new[0] if len(new) == 1 else queries.resolve(state, word)
    if path not in paths:
        said = f"the definition changes nothing about {path}"
        raise NotFound("no_change", said, remedy=remedies.amend(), facts={"step": path, "changed": paths[:50]})
    return path


def _command(state: State, change: Change) -> cmd.Command:
    if change.op == "retire":
        return cmd.RetireStep(change.path)
    assert change.step is not None
    if change.op == "add":
        return cmd.AddStep(change.above, change.step, _sibling(state, change))
    # Its children are changed one by one; those that run now stay until then.
    return cmd.ChangeStep(change.path, change.step.replace(steps=state.plan.step(change.path).steps))


def _sibling(state: State, change: Change) -> str | None:
    """The step it follows, where that is there: a change that was left out may have brought it."""
    there = {path.rpartition("/")[2] for path in state.plan.children(change.above)}
    return change.after if not change.after or change.after in there else None


def _require_trust(call: Call, state: State, definition: Definition, change: Change) -> None:
    if change.step is None or state.source == BUILT_IN:
        return
    before = _runs(state.plan.step(change.path)) if change.path in state.plan else set()
    if not _runs(change.step) - before:
        return
    settings = call.settings
    known = trust.trusted(
        definition.digest, _file(call, state), data_dir=settings.data_dir, config_dir=settings.config_dir
    )
    if not known:
        raise refusals.untrusted(state.source if state.conduct.frozen_trust else state.type)


def _runs(step: Step) -> set[tuple[str, ...]]:
    return {check.run for check in step.checks if check.run}.union(*(_runs(child) for child in step.steps))

"""Amending the tree of a running workflow. Tightening is free; loosening a gate needs a person."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import lifecycle, policies, queries, refusals, remedies
from holdfast.core.apply import equipped
from holdfast.core.definition import Approval, Check, Choice, Step
from holdfast.core.draft import Draft
from holdfast.core.plan import Plan
from holdfast.core.remedy import Remedy
from holdfast.core.rules import steps
from holdfast.core.state import State


def add_step(draft: Draft, command: cmd.AddStep) -> None:
    plan = draft.state.plan
    if command.above:
        draft.step(command.above)
    if command.after:
        draft.step(f"{command.above}/{command.after}" if command.above else command.after)
    new = f"{command.above}/{command.step.id}" if command.above else command.step.id
    if draft.state.conduct.handed_whole and not command.above and not (command.step.review and command.step.approval):
        raise refusals.phase_without_gates(new, plan.children("")[0])
    _amend(draft, plan.added(command.above, command.step, command.after), new, f"add {new}")
    draft.emit(ev.Amended("add", command.above, command.step, command.after))


def retire_step(draft: Draft, command: cmd.RetireStep) -> None:
    draft.step(command.step)
    if queries.is_last(draft.state, command.step):
        steps.must_rely(draft, command.step)
    _amend(draft, draft.state.plan.changed(command.step, lambda _: None), command.step, f"retire {command.step}")
    draft.emit(ev.Amended("retire", command.step))
    draft.close_branches(command.step)


def change_step(draft: Draft, command: cmd.ChangeStep) -> None:
    step, _ = draft.step(command.step)
    new = command.new.replace(id=step.id)
    if new == step:
        return
    _amend(draft, draft.state.plan.changed(command.step, lambda _: new), command.step, f"change {command.step}")
    draft.emit(ev.Amended("change", command.step, new))


def equip(draft: Draft, command: cmd.Equip) -> None:
    """A check without a command may get one. What somebody types in place of another is a person's to say, unless it
    takes the place of what the same agent typed, and no check has passed with that.
    """
    by = _typist(draft) if command.typed else command.by
    fields = {name: value for name, value in command.items() if name in ev.Equipped._known}
    event = ev.Equipped(**{**fields, "by": by})
    plan, amended = draft.state.plan, equipped(draft.state.plan, event)
    if amended == plan:
        return
    if command.typed and is_relied_on(draft.state, command.uses, by):
        what = f"change the {command.uses} command, which gates rely on"
        draft.require_person(what, remedies.set_command(command.uses))
    draft.emit(event)


def _typist(draft: Draft) -> str:
    """Who types a command: an actor can call itself a person, and is one only where the process saw one."""
    return draft.actor.label if draft.actor.kind != "human" or draft.facts.person else "somebody"


def _using(plan: Plan, uses: str) -> list[tuple[str, Check]]:
    return [(path, check) for path in plan.paths for check in plan.step(path).checks if check.uses == uses]


def is_relied_on(state: State, uses: str, by: str) -> bool:
    """Whether a command was found or was typed by another one, or a check has passed with it."""
    for path, check in _using(state.plan, uses):
        evidence = state.step(path).evidence.get(check.name)
        if check.run and (check.source or check.by != by or (evidence is not None and evidence.passed)):
            return True
    return False


def _amend(draft: Draft, amended: Plan, path: str, what: str) -> None:
    """Whether this tree may take the place of the old one: it fits, nobody went past it, and who may loosen does."""
    from holdfast.core.mistakes import check_steps

    plan = draft.state.plan
    check_steps(amended.steps)
    needed = [p for p in plan.paths if plan.step(p).mandatory]
    dropped = [p for p in needed if p not in amended or not amended.step(p).mandatory]
    if dropped:
        raise refusals.never_skipped(dropped[0])
    begun = [p for p in plan.paths if p not in amended and draft.state.step(p).status != lifecycle.PENDING]
    if begun or loosens_plan(plan, amended):
        command = remedies.amend(path, retire=path not in amended)
        draft.require_person(f"{what}, which loosens a gate or drops work", command)
    late = [p for p in amended.paths if _out_of_order(draft, amended, p) and not _out_of_order(draft, plan, p)]
    if late:
        raise refusals.too_late(path, late, _in_time(draft, amended, path, late[0]))


def _in_time(draft: Draft, amended: Plan, path: str, late: str) -> tuple[Remedy, ...]:
    """What makes room for the change: what it would wait for is done first, or the step that is too far goes back.

    A step goes back to pending when one before it is reopened; where none is, what is added can only come after it.
    """
    state = draft.state
    waits = [p for p in amended.requires(late) if state.step(p).status not in lifecycle.FINISHED]
    known = [p for p in waits if p in state.plan]
    before = [p for p in state.plan.requires(late) if p in amended and state.step(p).status in lifecycle.FINISHED]
    if known:
        return queries.onward(state, known[0], draft.facts)
    if before or not waits:
        return (remedies.reopen(before[-1] if before and waits else late),)
    above, _, name = path.rpartition("/")
    return (remedies.add_step(name, under=above, after=late.rpartition("/")[2]),)


def _out_of_order(draft: Draft, plan: Plan, path: str) -> bool:
    """A step that has begun waits for one that is not done, or is a done branch with a child that is not."""
    if path not in plan:
        return False
    status = draft.state.step(path).status
    if status == lifecycle.PENDING:
        return False
    waits = any(draft.state.step(p).status not in lifecycle.FINISHED for p in plan.requires(path))
    open_child = any(draft.state.step(p).status not in lifecycle.FINISHED for p in plan.children(path))
    return waits or (status == lifecycle.DONE and open_child)


def loosens_plan(old: Plan, new: Plan) -> bool:
    """Whether a gate is weaker or gone in the new tree, or a step no longer waits for all it waited for."""
    for path in old.paths:
        if path not in new:
            if old.step(path).gated:
                return True
        elif loosens(old.step(path), new.step(path)) or any(
            needed in new and needed not in new.closure(path) for needed in old.closure(path)
        ):
            return True
    return False


def loosens(old: Step, new: Step) -> bool:
    """Whether anything that had to hold of this step itself need no longer hold."""
    return (
        any(new.check(check.name) is None for check in old.checks)
        or any(_weaker(check, new.check(check.name)) for check in old.checks)
        or not set(old.outputs) <= set(new.outputs)
        or (old.review is not None and (new.review is None or new.review.max > old.review.max))
        or (old.review is not None and old.review.files and not (new.review and new.review.files))
        or (old.review is not None and new.review is not None and set(new.review.by) != set(old.review.by))
        or policies.loosens(_policy(old.approval), _policy(new.approval))
        or policies.loosens(_policy(old.choice), _policy(new.choice))
        or (new.optional and not old.optional)
        or (old.mandatory and not new.mandatory)
        or (old.retry is not None and (new.retry is None or new.retry.max > old.retry.max))
        or not set(old.deny) <= set(new.deny)
        or (old.action != "" and new.action != old.action)
        or (old.task is not None and (new.task is None or loosens_plan(Plan((old.task,)), Plan((new.task,)))))
    )


def _weaker(old: object, new: object) -> bool:
    """A check that is run differently, or no longer by the engine alone. One without a command may get one."""
    how = ("run", "uses", "test", "report") if getattr(old, "run", ()) else ("uses", "test")
    return new is not None and (
        any(getattr(old, name) != getattr(new, name) for name in how)
        or (getattr(old, "run_by", "") == "engine" and getattr(new, "run_by", "") != "engine")
    )


def _policy(gate: Approval | Choice | None) -> str:
    return gate.by if gate else ""

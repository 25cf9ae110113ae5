"""Amending the tree of a running workflow. Tightening is free; loosening a gate needs a person."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import lifecycle, refusals
from holdfast.core.definition import POLICIES, Step, check_steps
from holdfast.core.draft import Draft
from holdfast.core.plan import Plan


def add(draft: Draft, command: cmd.AddStep) -> None:
    plan = draft.state.plan
    if command.above:
        draft.step(command.above)
    if command.after:
        draft.step(f"{command.above}/{command.after}" if command.above else command.after)
    new = f"{command.above}/{command.step.id}" if command.above else command.step.id
    amended = plan.added(command.above, command.step, command.after)
    check_steps(amended.steps)
    _nobody_went_past(draft, amended, new)
    draft.emit(ev.Amended("add", command.above, command.step, command.after))


def retire(draft: Draft, command: cmd.RetireStep) -> None:
    step, progress = draft.step(command.step)
    if (gates_of(step) or progress.status != lifecycle.PENDING) and not draft.is_person:
        raise refusals.person_needed(f"retire {command.step}", f"holdfast amend {command.step} --retire")
    check_steps(draft.state.plan.changed(command.step, lambda _: None).steps)
    draft.emit(ev.Amended("retire", command.step))
    draft.close_branches(command.step)


def change(draft: Draft, command: cmd.ChangeStep) -> None:
    step, _ = draft.step(command.step)
    new = command.new.replace(id=step.id)
    if new == step:
        return
    if loosens(step, new) and not draft.is_person:
        raise refusals.person_needed(f"loosen the gates of {command.step}", f"holdfast amend {command.step}")
    amended = draft.state.plan.changed(command.step, lambda _: new)
    check_steps(amended.steps)
    _nobody_went_past(draft, amended, command.step)
    draft.emit(ev.Amended("change", command.step, new))


def _nobody_went_past(draft: Draft, amended: Plan, path: str) -> None:
    """A step that is not done may not be put before one that has begun."""
    if draft.state.step(path).status in lifecycle.FINISHED:
        return
    begun = [p for p in amended.dependents(path) if draft.state.step(p).status != lifecycle.PENDING]
    begun += [p for p in _above(path) if draft.state.step(p).status in lifecycle.FINISHED]
    if begun:
        raise refusals.too_late(path, begun)


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def gates_of(step: Step) -> bool:
    return step.gated or any(gates_of(child) for child in step.steps)


def loosens(old: Step, new: Step) -> bool:
    """Whether anything that had to hold before need no longer hold."""
    kept = {child.id: child for child in new.steps}
    return (
        any(new.check(check.name) is None for check in old.checks)
        or any(_weaker(check, new.check(check.name)) for check in old.checks)
        or not set(old.outputs) <= set(new.outputs)
        or (old.review is not None and (new.review is None or new.review.max > old.review.max))
        or (old.review is not None and new.review is not None and set(new.review.by) != set(old.review.by))
        or _policy(new.approval) < _policy(old.approval)
        or _policy(new.choice) < _policy(old.choice)
        or (new.optional and not old.optional)
        or (old.requires != new.requires)
        or (old.retry is not None and (new.retry is None or new.retry.max > old.retry.max))
        or any(child.id not in kept and gates_of(child) for child in old.steps)
        or any(loosens(child, kept[child.id]) for child in old.steps if child.id in kept)
    )


def _weaker(old: object, new: object) -> bool:
    """A check that is run differently, or no longer by the engine alone."""
    return new is not None and (
        getattr(old, "run", ()) != getattr(new, "run", ())
        or (getattr(old, "run_by", "") == "engine" and getattr(new, "run_by", "") != "engine")
    )


def _policy(gate: object) -> int:
    return 0 if gate is None else 1 + POLICIES.index(getattr(gate, "by", "relayed"))

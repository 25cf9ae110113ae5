"""The supervisor: what its checks found, and what follows. Severity and action follow from the kind of conflict."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import lifecycle, queries, refusals, remedies
from holdfast.core.draft import Draft
from holdfast.core.names import checked_text
from holdfast.core.plan import ancestors
from holdfast.core.state import Intervention
from holdfast.core.tasks import TASK

CHECKS = ("pre_task", "post_task", "on_demand")
PASS, AUTO_FIX, RE_PLAN = "PASS", "AUTO_FIX", "RE_PLAN"
CONFLICTS = {
    "architecture": ("high", RE_PLAN),
    "dependency": ("high", RE_PLAN),
    "api": ("high", RE_PLAN),
    "security": ("critical", RE_PLAN),
    "pattern": ("low", AUTO_FIX),
}
"""Kinds of conflicts: how grave each is, and what has to be done about it."""
PLAN = "plan"


def supervise(draft: Draft, command: cmd.Supervise) -> None:
    _understood(command)
    path = queries.resolve(draft.state, command.task) if command.task else ""
    name = draft.state.plan.step(path).id if path else ""
    intervention = _intervention(draft, command, name) if command.conflict_type else None
    fixes = max(1, command.fixes) if command.verdict == AUTO_FIX else 0
    draft.emit(ev.Supervised(command.check_type, name, command.verdict, intervention, fixes))
    if command.verdict == RE_PLAN:
        affected = _affected(draft, command.affected or ((path,) if _is_task(draft, path) else ()))
        _open_plan(draft, command.resolution)
        for task in affected:
            _plan_anew(draft, task)
        _review_again(draft, affected)


def _understood(command: cmd.Supervise) -> None:
    if command.check_type not in CHECKS:
        raise refusals.bad_verdict(f"a check is one of {', '.join(CHECKS)}", remedies.usage("supervise"))
    if command.verdict not in (PASS, AUTO_FIX, RE_PLAN):
        raise refusals.bad_verdict("a verdict is one of PASS, AUTO_FIX, RE_PLAN", remedies.usage("supervise"))
    if command.verdict == PASS and command.conflict_type:
        raise refusals.bad_verdict("PASS means that no conflict was found", "leave out the conflict, or say AUTO_FIX")
    if command.verdict == PASS:
        return
    if command.conflict_type not in CONFLICTS:
        known = ", ".join(CONFLICTS)
        raise refusals.bad_verdict(f"{command.verdict} names a conflict, one of {known}", "--conflict pattern")
    needed = CONFLICTS[command.conflict_type][1]
    if command.verdict != needed:
        raise refusals.bad_verdict(
            f"a conflict of {command.conflict_type} leads to {needed}, not to {command.verdict}",
            f"--verdict {needed}",
        )
    checked_text(command.resolution, "resolution")


def _intervention(draft: Draft, command: cmd.Supervise, task: str) -> Intervention:
    severity, action = CONFLICTS[command.conflict_type]
    return Intervention(
        at=draft.facts.now,
        check_type=command.check_type,
        task=task,
        conflict_type=command.conflict_type,
        severity=severity,
        action=action.lower(),
        resolution=command.resolution,
    )


def _is_task(draft: Draft, path: str) -> bool:
    return bool(path) and draft.state.plan.step(path).kind == TASK


def _affected(draft: Draft, names: tuple[str, ...]) -> list[str]:
    """Tasks, each once. One that only a person may set going again is not set going by a supervisor."""
    found = list(dict.fromkeys(queries.resolve(draft.state, name) for name in names))
    for path in found:
        if not _is_task(draft, path):
            raise refusals.bad_verdict(f"{path} is no task: only tasks are planned anew", remedies.named("task list"))
        _must_not_be_used_up(draft, path)
    return found


def _must_not_be_used_up(draft: Draft, path: str) -> None:
    if not draft.is_person and queries.is_used_up(draft.state, path):
        raise refusals.person_needed(f"have {path} planned anew while it is stuck", remedies.resume(path))


def _open_plan(draft: Draft, feedback: str) -> None:
    """Nothing begins until the plan is approved again. One that waits for its approval is no longer the plan."""
    status = draft.state.step(PLAN).status if PLAN in draft.state.plan else ""
    if status in lifecycle.FINISHED:
        draft.move("reopened", PLAN, feedback=feedback)
    elif status in (lifecycle.IN_REVIEW, lifecycle.WAITING):
        draft.move("revised", PLAN, feedback=feedback)


def _plan_anew(draft: Draft, path: str) -> None:
    """What is not affected stays as it is."""
    for one in (*reversed(draft.state.plan.below(path)), path):
        if draft.state.step(one).status != lifecycle.PENDING:
            draft.move("reset", one, renewed=draft.is_person)
    for above in ancestors(path):
        if draft.state.step(above).status in lifecycle.FINISHED:
            draft.move("reopened", above)


def _review_again(draft: Draft, affected: list[str]) -> None:
    """What was said of the work as a whole was said of another one."""
    if not affected:
        return
    whole = draft.state.plan.children("")
    first = min(whole.index(path.partition("/")[0]) for path in affected)
    for path in reversed(whole[first + 1 :]):
        if draft.state.plan.is_leaf(path) and not _is_task(draft, path):
            _must_not_be_used_up(draft, path)
            if draft.state.step(path).status != lifecycle.PENDING:
                draft.move("reset", path, renewed=draft.is_person)

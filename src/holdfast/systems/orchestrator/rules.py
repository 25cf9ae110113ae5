"""The supervisor: what its checks found, and what follows. Severity and action follow from the kind of conflict."""

from __future__ import annotations

from _collections_abc import Mapping, Sequence

from holdfast.core import events as ev
from holdfast.core import lifecycle, queries, refusals, remedies
from holdfast.core.draft import Draft
from holdfast.core.names import checked_text
from holdfast.core.plan import ancestors
from holdfast.core.rules import agents
from holdfast.core.state import CHECKED, FREE_TRIES, KEPT, State
from holdfast.core.tasks import TASK
from holdfast.core.value import Any, Value
from holdfast.systems.orchestrator.task_document.model import POST_TASK, PRE_TASK

CHECKS = (PRE_TASK, POST_TASK, "on_demand")
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
SUPERVISOR = "supervisor"
"""The role whose lease may judge the tasks that other agents hold."""
SEVERITIES = ("critical", "high", "low")


class Supervision(Value):
    """What a run keeps of its supervisor. The interventions are the newest ones, in the words of the document."""

    enabled: bool = False
    frequency: Sequence[str] = ()
    """When it is asked: `pre_task`, `post_task`."""
    required: bool = False
    """Whether no task begins, or is handed in, before its check."""
    instructions: str = ""
    auto_fix: bool = False
    checks: int = 0
    conflicts: int = 0
    auto_fixes: int = 0
    re_plans: int = 0
    last_check: str = ""
    interventions: Sequence[Mapping[str, str]] = ()


def supervision(state: State) -> Supervision:
    return Supervision(**state.own.get("orchestrator", {}))


class Verdict(Value):
    """What a check of the supervisor found: `PASS`, `AUTO_FIX` or `RE_PLAN`, and of which kind the conflict is."""

    check_type: str
    task: str = ""
    verdict: str = PASS
    conflict_type: str = ""
    resolution: str = ""
    severity: str = ""
    """As the supervisor judged it; else as the kind of conflict has it."""
    fixes: int = 0
    affected: Sequence[str] = ()
    """The tasks that have to be planned again."""
    answer: Mapping[str, Any] = {}
    """The supervisor's answer as it gave it."""


def supervise(draft: Draft, data: Mapping[str, Any]) -> None:
    said, before = Verdict(**data), draft.state
    _understood(said)
    path = queries.resolve(draft.state, said.task) if said.task else ""
    name = draft.state.plan.step(path).id if path else ""
    if said.check_type == POST_TASK and said.verdict != RE_PLAN and _is_task(draft, path):
        _must_have_begun(draft, path)
    draft.emit(_supervised(draft, said, name))
    if _is_task(draft, path) and said.verdict != RE_PLAN:
        progress = draft.state.step(path)
        made = {**progress.data.get(CHECKED, {}), said.check_type: progress.attempt}
        draft.emit(ev.Recorded({CHECKED: made}, path))
    if said.verdict == RE_PLAN:
        affected = _affected(draft, said.affected or ((path,) if _is_task(draft, path) else ()))
        agents.require_part(draft, affected, SUPERVISOR)
        _open_plan(draft, said.resolution)
        for task in affected:
            _plan_anew(draft, task)
        _review_again(draft, affected)
    agents.check_reach(draft, before, SUPERVISOR)


def _supervised(draft: Draft, said: Verdict, task: str) -> ev.Owned:
    """What the run keeps of the check, as far as it changes."""
    known, now = supervision(draft.state), draft.facts.now
    values: dict[str, Any] = {"checks": known.checks + 1, "last_check": now}
    if said.conflict_type:
        usual, action = CONFLICTS[said.conflict_type]
        severity = said.severity or usual
        about = {"at": now, "check_type": said.check_type, "task": task, "conflict_type": said.conflict_type}
        found = {**about, "severity": severity, "action": action.lower(), "resolution": said.resolution}
        values |= {"conflicts": known.conflicts + 1, "interventions": [*known.interventions, found][-KEPT:]}
    if said.verdict == AUTO_FIX:
        values["auto_fixes"] = known.auto_fixes + max(1, said.fixes)
    if said.verdict == RE_PLAN:
        values["re_plans"] = known.re_plans + 1
    entry = {"event": "supervised", "check": said.check_type, "task": task, "verdict": said.verdict}
    resolution = said.resolution if said.conflict_type else ""
    told = {**entry, "resolution": resolution, "answer": said.answer}
    kept = {name: value for name, value in told.items() if value}
    line = f"supervisor: {said.verdict} ({said.check_type} of {task})"
    return ev.Owned("orchestrator", values, kept, line)


def _understood(said: Verdict) -> None:
    if said.check_type not in CHECKS:
        raise refusals.bad_verdict(f"a check is one of {', '.join(CHECKS)}", remedies.usage("orchestrator supervise"))
    if said.verdict not in (PASS, AUTO_FIX, RE_PLAN):
        raise refusals.bad_verdict(
            "a verdict is one of PASS, AUTO_FIX, RE_PLAN", remedies.usage("orchestrator supervise")
        )
    if said.verdict == PASS and (said.conflict_type or said.severity in SEVERITIES):
        raise refusals.bad_verdict("PASS means that no conflict was found", "leave out the conflict, or say AUTO_FIX")
    if said.verdict == PASS:
        return
    if said.conflict_type not in CONFLICTS:
        known = ", ".join(CONFLICTS)
        raise refusals.bad_verdict(f"{said.verdict} names a conflict, one of {known}", "--conflict pattern")
    needed = CONFLICTS[said.conflict_type][1]
    if said.verdict != needed:
        why = f"a conflict of {said.conflict_type} leads to {needed}, not to {said.verdict}"
        raise refusals.bad_verdict(why, f"--verdict {needed}")
    if said.severity and said.severity not in SEVERITIES:
        why = f"a severity is one of {', '.join(SEVERITIES)}, not {said.severity[:40]!r}"
        raise refusals.bad_verdict(why, f"--severity {CONFLICTS[said.conflict_type][0]}")
    checked_text(said.resolution, "resolution")


def _is_task(draft: Draft, path: str) -> bool:
    return bool(path) and draft.state.plan.step(path).kind == TASK


def _must_have_begun(draft: Draft, path: str) -> None:
    """A check of the work is of work that is there."""
    if draft.state.step(path).status == lifecycle.PENDING:
        raise refusals.wrong_status(draft.state, draft.facts, path, "checked after its work", (lifecycle.ACTIVE,))


def _affected(draft: Draft, names: Sequence[str]) -> list[str]:
    """Tasks, each once. One that only a person may set going again is not set going by a supervisor."""
    found = list(dict.fromkeys(queries.resolve(draft.state, name) for name in names))
    for path in found:
        if not _is_task(draft, path):
            raise refusals.bad_verdict(f"{path} is no task: only tasks are planned again", remedies.named("task list"))
        _must_not_be_used_up(draft, path)
    return found


def _must_not_be_used_up(draft: Draft, path: str) -> None:
    if queries.is_used_up(draft.state, path):
        draft.require_person(f"have {path} planned again while it is stuck", remedies.resume(path))


def _open_plan(draft: Draft, feedback: str) -> None:
    """Nothing begins until the plan is approved again. One that waits for its approval is no longer the plan."""
    status = draft.state.step(PLAN).status if PLAN in draft.state.plan else ""
    if status in lifecycle.FINISHED:
        draft.move("reopened", PLAN, feedback=feedback)
    elif status in (lifecycle.IN_REVIEW, lifecycle.WAITING):
        draft.move("revised", PLAN, feedback=feedback)


def _plan_anew(draft: Draft, path: str) -> None:
    """What is not affected stays as it is. The try that was under way does not count: its plan changed under it."""
    known = draft.state.step(path)
    free = known.data.get(FREE_TRIES, 0) + (known.status != lifecycle.PENDING)
    if _is_task(draft, path) and (free or known.data.get(CHECKED)):
        draft.emit(ev.Recorded({FREE_TRIES: free, CHECKED: {}}, path))
    for one in (*reversed(draft.state.plan.below(path)), path):
        if draft.state.step(one).status != lifecycle.PENDING:
            draft.move("reset", one, renewed=draft.renews(one))
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
                draft.move("reset", path, renewed=draft.renews(path))


RULES = {"supervise": supervise}

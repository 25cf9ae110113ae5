"""Answers as plain data: the same from the command line, from Python and from every other surface."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core import events as ev
from holdfast.core import gates, lifecycle, limits
from holdfast.core.apply import Record
from holdfast.core.briefing import NEWEST_NOTES, Briefing
from holdfast.core.facts import Facts
from holdfast.core.record import Ruling
from holdfast.core.remedy import ANYWHERE, Scope, Telling, as_json, told, typed
from holdfast.core.state import HELD, Mark, State
from holdfast.core.value import Any

DECIDED = 20
"""How many of the newest decisions of people are told."""
FACTS = ("decisions", "asked_for", "violations", "emphasis", "unchanged")
"""The fields of the work that tell what people decided and what failed: where room is short, others are cut first."""


def summary(brief: Briefing) -> dict[str, Any]:
    """The state of a workflow, in a few fields."""
    return {
        "workflow_id": brief.state.id,
        "workflow_type": brief.state.type,
        "status": brief.word,
        "current_step": brief.number,
        "current_step_name": brief.label if brief.step else None,
        "progress_percentage": brief.percent,
        "total_steps": brief.total,
        "updated_at": brief.state.updated_at,
    }


def status(brief: Briefing, scope: Scope = ANYWHERE) -> dict[str, Any]:
    """Everything a person or agent needs to see where the work is and what blocks it."""
    state, facts = brief.state, brief.facts
    return {
        **summary(brief),
        "detail": brief.status,
        "waiting_for_approval": brief.step_status == lifecycle.WAITING,
        "step": brief.step,
        "ulid": state.ulid,
        "title": state.title,
        "subject": state.subject,
        "branch": state.branch,
        "created_at": state.created_at,
        "revision": state.revision,
        **({"cancelled": given_up(state.cancelled)} if state.cancelled else {}),
        "elapsed_seconds": int(limits.elapsed(state, facts.now)),
        "artifacts": {name: a.path for name, a in state.step(brief.step).artifacts.items()} if brief.step else {},
        "blockers": blockers(brief, scope),
        "commands": [{name: value for name, value in one.items() if name != "text"} for one in brief.commands],
        "steps": [step(state, path, facts) for path in state.plan.paths],
        "bounds": [
            {
                "bound": u.bound,
                "used": u.used_text,
                "limit": u.limit_text,
                "left": u.left_text,
                "percent": u.percent,
                "measured": u.bound != "cost" or not state.is_cost_unknown,
            }
            for u in limits.usages(state, facts.now)
        ],
        "agents": [
            {
                "role": lease.role,
                "step": lease.step,
                "token": lease.token,
                "since": lease.at,
                "stale": lease.expired(facts.boot, facts.mono),
                **({"worktree": lease.worktree, "branch": lease.branch} if lease.worktree else {}),
            }
            for lease in state.leases.values()
        ],
        "notes": [dict(note) for note in state.notes[-5:]],
        "snapshots": [{"number": s.number, "at": s.at, "head": s.head, "label": s.label} for s in state.snapshots[-5:]],
        "alerts": [
            {"at": alert.at, "code": alert.code, "message": alert.message, "kept": alert.kept} for alert in brief.alerts
        ],
        "finished_percentage": brief.finished_percent,
        **({"decided": [_ruled(one) for one in brief.rulings[:DECIDED]]} if brief.rulings else {}),
        **work(brief, scope),
    }


def _ruled(one: Ruling) -> dict[str, Any]:
    return _filled({"decision" if name == "said" else name: value for name, value in one.items()})


def blockers(brief: Briefing, scope: Scope = ANYWHERE) -> list[dict[str, Any]]:
    return [
        {
            "kind": one.kind,
            "name": one.name,
            "message": one.message,
            "remedy": told(one.remedies, scope),
            "remedies": as_json(one.remedies, scope),
        }
        for one in brief.blockers
    ]


def step(state: State, path: str, facts: Facts) -> dict[str, Any]:
    """One step, with its gates."""
    defined, progress = state.plan.step(path), state.step(path)
    times = {"started_at": progress.started_at or None, "finished_at": progress.finished_at or None}
    at: dict[str, Any] = {"status": progress.status, "attempt": progress.attempt}
    said = {"path": path, "name": defined.label, **at, **times}
    if defined.checks:
        said["checks"] = {check.name: gates.check_verdict(check, progress, facts) for check in defined.checks}
        reported = [name for name, seen in progress.evidence.items() if seen.run_by != "engine" and not seen.claimed]
        said.update({"reported": reported} if reported else {})
        if texts := {check.name: check.text for check in defined.checks if check.text}:
            said["criteria"] = texts
        if held := progress.data.get(HELD):
            said["held_before"] = list(held)
    if gates.policy(defined):
        said["approval"] = gates.grant_verdict(state, path, facts)
        if progress.grant:
            said["approved"] = _filled({n: getattr(progress.grant, n) for n in ("by", "at", "how", "where", "variant")})
    if defined.review:
        said["review"] = "approved" if progress.reviewed else f"{progress.rounds} of {defined.review.max} rounds"
    if progress.artifacts:
        said["artifacts"] = {name: artifact.path for name, artifact in progress.artifacts.items()}
    if progress.reason:
        said["reason"] = progress.reason
    if progress.feedback:
        said["feedback"] = list(progress.feedback)
    return said


def position(brief: Briefing, status: str, action: str | None) -> dict[str, Any]:
    """What to do now, and whether anything forbids continuing to what follows: the fields of the convention."""
    after = brief.after
    return {
        "can_proceed": brief.ready,
        "current_step": brief.number,
        "current_step_name": brief.label,
        "current_status": status,
        "blocking_reason": brief.reason,
        "required_action": action,
        "next_step": brief.state.plan.number(after.split("/")[0]) if after else None,
        "next_step_name": brief.state.plan.step(after).label if after else None,
        "prerequisites_met": brief.after_ready,
    }


def next_step(brief: Briefing, scope: Scope = ANYWHERE) -> dict[str, Any]:
    """The convention's fields, and what the work of the step is, all of it."""
    state, at = brief.state, brief.step
    defined, progress = state.plan.step(at or state.plan.paths[-1]), state.step(at or "")
    return {
        **position(brief, brief.step_status if at else "completed", told(brief.now, scope) or None),
        "step": at,
        "description": defined.description if at else "",
        "agents": list(defined.agents) if at else [],
        "feedback": list(progress.feedback),
        "modifications": brief.modifications,
        "tries": tried(brief),
        "blockers": blockers(brief, scope),
        "notes": [dict(note) for note in state.notes[-NEWEST_NOTES:]],
        **work(brief, scope),
    }


def given_up(mark: Mark) -> dict[str, str]:
    """When, by whom and why a workflow was cancelled, and how a person was recognised where it was one."""
    return {name: said for name, said in mark.items() if said or name != "person"}


def tried(brief: Briefing) -> list[dict[str, Any]]:
    return [{"attempt": one.attempt, "reason": one.reason, **one.data} for one in brief.tried]


def work(brief: Briefing, scope: Scope = ANYWHERE, tell: Telling = told) -> dict[str, Any]:
    """What the work of the step is and what was decided about it; what there is nothing of is left out."""
    lists = {name: list(getattr(brief.task, name)) for name in ("criteria", "files", "asked", "at_end")}
    task = {"text": brief.task.text, "file": brief.task.file, **lists}
    conditions = [
        {"kind": one.kind, "name": one.name, "verdict": one.verdict, "about": one.about, "command": one.command}
        for one in brief.conditions
    ]
    said: Mapping[str, Any] = {
        "turn": brief.turn if brief.step or brief.first else "",
        "task": _filled(task),
        "beside": brief.beside,
        "try": brief.tries,
        "conditions": [_filled(one) for one in conditions],
        "outputs": list(brief.outputs),
        "hand_in": tell((brief.hand_in,), scope) if brief.hand_in else "",
        "inputs": [_filled(dict(one.items())) for one in brief.inputs],
        "skipped": brief.skipped,
        "decisions": [_filled({**dict(one.items()), "not_chosen": list(one.not_chosen)}) for one in brief.decisions],
        "claimed": brief.claimed,
        "by_exit_code": brief.by_exit_code,
        "remarks": brief.remarks,
        "left_work": [{"step": one.step, "pin": one.pin, "command": typed(one.back)} for one in brief.left_work],
        "packages": brief.packages,
        "asked_for": [dict(one.items()) for one in brief.feedback],
        "violations": brief.violations,
        "emphasis": brief.emphasis,
        "unchanged": brief.unchanged,
        "failures": brief.failures,
        "avoid": brief.avoid,
        "reminders": list(brief.state.reminders),
        "signal": brief.signal,
        "for_person": [one for one in as_json(brief.for_person, scope) if one["who"] == "person"],
    }
    return _filled(said)


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items() if value}


_DECISIONS = {"revised": "rejected", "rejected": "rejected", "resumed": "guided"}
"""What a person decided, by the move that came of it. An approval is an event of its own."""


def decided(records: Iterable[Record]) -> list[dict[str, Any]]:
    """What people decided: of which step, how, and in their words."""
    found = []
    for record in records:
        for event in record.events:
            if isinstance(event, ev.Granted):
                grant = event.grant
                said: dict[str, Any] = {"decision": "approved", "how": grant.how, "variant": grant.variant}
                said["modifications"] = dict(grant.modifications)
            elif isinstance(event, ev.Moved) and record.actor.kind == "human" and event.move in _DECISIONS:
                said = {"decision": _DECISIONS[event.move], "feedback": event.feedback}
                said |= {} if event.feedback else {"reason": event.reason}
            else:
                continue
            found.append({"step": event.step, "by": record.actor.label, **_filled(said)})
    return found


def waiting(brief: Briefing, scope: Scope = ANYWHERE, records: Iterable[Record] = ()) -> dict[str, Any]:
    """The state of a workflow for somebody who waits for it; `records` are what happened meanwhile."""
    asked = [
        {"step": path, "kind": one.kind, "message": one.message, "remedies": as_json(one.remedies, scope)}
        for path, one in brief.waiting
    ]
    return {
        "workflow_id": brief.state.id,
        "revision": brief.state.revision,
        "status": brief.status,
        "waiting": asked,
        "decided": decided(records),
        "required_action": told(brief.now, scope) or None,
        "remedies": as_json(brief.now, scope),
    }

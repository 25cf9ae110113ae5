"""Answers as plain data: the same from the command line, from Python and from every other surface."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import gates, lifecycle, moment, queries
from holdfast.core.commands import Facts
from holdfast.core.remedy import ANYWHERE, Scope, as_json, told
from holdfast.core.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALERTS_FOR = 86_400
"""Seconds for which a status goes on telling what happened to a document."""
NEWEST_NOTES = 3
"""How many notes whoever asks for the next step is given."""


def summary(state: State, words: Mapping[str, str]) -> dict[str, Any]:
    """Where a workflow stands, in a few fields."""
    at = queries.current(state)
    word = queries.status(state)
    return {
        "workflow_id": state.id,
        "workflow_type": state.type,
        "status": words.get(word, word),
        "current_step": queries.top_number(state),
        "current_step_name": state.plan.step(at).label if at else None,
        "progress_percentage": queries.percentage(state),
        "total_steps": len(state.plan.children("")),
        "updated_at": state.updated_at,
    }


def status(state: State, facts: Facts, words: Mapping[str, str], scope: Scope = ANYWHERE) -> dict[str, Any]:
    """Everything a person or agent needs to see where the work is and what is in the way."""
    at = queries.current(state)
    return {
        **summary(state, words),
        "detail": queries.status(state),
        "waiting_for_approval": bool(at and state.step(at).status == lifecycle.WAITING),
        "step": at,
        "ulid": state.ulid,
        "title": state.title,
        "subject": state.subject,
        "branch": state.branch,
        "created_at": state.created_at,
        "revision": state.revision,
        "elapsed_seconds": int(queries.elapsed(state, facts.now)),
        "artifacts": {name: a.path for name, a in state.step(at).artifacts.items()} if at else {},
        "blockers": blockers(state, at, facts, scope) if at else [],
        "steps": [step(state, path, facts) for path in state.plan.paths],
        "bounds": [
            {"bound": u.bound, "used": u.used_text, "limit": u.limit_text, "left": u.left_text, "percent": u.percent}
            for u in queries.usages(state, facts.now)
        ],
        "agents": [
            {
                "role": lease.role,
                "step": lease.step,
                "token": lease.token,
                "since": lease.at,
                "stale": lease.expired(facts.boot, facts.mono),
            }
            for lease in state.leases.values()
        ],
        "notes": [dict(note) for note in state.notes[-5:]],
        "snapshots": [{"number": s.number, "at": s.at, "head": s.head, "label": s.label} for s in state.snapshots[-5:]],
        "alerts": [
            {"at": alert.at, "code": alert.code, "message": alert.message, "kept": alert.kept}
            for alert in state.alerts
            if moment.between(alert.at, facts.now) < ALERTS_FOR
        ],
    }


def blockers(state: State, path: str, facts: Facts, scope: Scope = ANYWHERE) -> list[dict[str, Any]]:
    return [
        {
            "kind": one.kind,
            "name": one.name,
            "message": one.message,
            "remedy": told(one.remedies, scope),
            "remedies": as_json(one.remedies, scope),
        }
        for one in queries.blockers(state, path, facts)
    ]


def step(state: State, path: str, facts: Facts) -> dict[str, Any]:
    """One step, with its gates."""
    defined, progress = state.plan.step(path), state.step(path)
    said: dict[str, Any] = {
        "path": path,
        "name": defined.label,
        "status": progress.status,
        "attempt": progress.attempt,
        "started_at": progress.started_at or None,
        "finished_at": progress.finished_at or None,
    }
    if defined.checks:
        said["checks"] = {check.name: gates.check_verdict(check, progress, facts) for check in defined.checks}
    if gates.policy(defined):
        said["approval"] = gates.grant_verdict(progress, facts)
    if defined.review:
        said["review"] = "approved" if progress.reviewed else f"{progress.rounds} of {defined.review.max} rounds"
    if progress.artifacts:
        said["artifacts"] = {name: artifact.path for name, artifact in progress.artifacts.items()}
    if progress.reason:
        said["reason"] = progress.reason
    if progress.feedback:
        said["feedback"] = list(progress.feedback)
    return said


def modifications(state: State, path: str) -> dict[str, Any]:
    """What people changed when they approved the steps right before this one."""
    grants = [state.step(one).grant for one in state.plan.requires(path)]
    return {name: value for grant in grants if grant for name, value in grant.modifications.items()}


def next_step(state: State, facts: Facts, scope: Scope = ANYWHERE) -> dict[str, Any]:
    """What to do now, and whether anything forbids going on to what follows."""
    at = queries.current(state)
    after = queries.next_step(state)
    if at is None:
        return {"can_proceed": False, "current_step": queries.top_number(state), "current_status": "completed"}
    found = queries.blockers(state, at, facts)
    first = found[0] if found else None
    ready = first is not None and first.kind in queries.READY
    return {
        "can_proceed": ready,
        "current_step": queries.top_number(state),
        "current_step_name": state.plan.step(at).label,
        "current_status": state.step(at).status,
        "blocking_reason": None if ready or first is None else first.message,
        "required_action": told(first.remedies, scope) if first else None,
        "next_step": state.plan.number(after.split("/")[0]) if after else None,
        "next_step_name": state.plan.step(after).label if after else None,
        "prerequisites_met": not gates.missing(state, after, facts) if after else True,
        "step": at,
        "description": state.plan.step(at).description,
        "agents": list(state.plan.step(at).agents),
        "feedback": list(state.step(at).feedback),
        "modifications": modifications(state, at),
        "tries": [
            {"attempt": one.attempt, "reason": one.reason, **one.data} for one in state.step(at).tries if one.data
        ],
        "blockers": blockers(state, at, facts, scope),
        "notes": [dict(note) for note in state.notes[-NEWEST_NOTES:]],
    }

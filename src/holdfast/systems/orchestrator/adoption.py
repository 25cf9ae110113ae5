"""Reading an `agent-state.json` that has no journal: the run it speaks of."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle, moment, remedies
from holdfast.core.commands import Facts
from holdfast.core.definition import Approval, Bounds, Check, Definition, Retry, Step
from holdfast.core.names import is_name
from holdfast.core.plan import Plan
from holdfast.core.state import (
    Alert,
    Evidence,
    Grant,
    Learning,
    Lease,
    Mark,
    Progress,
    Snapshot,
    State,
)
from holdfast.core.tasks import TASK
from holdfast.documents.lens.fields import is_moment
from holdfast.errors import UsageError
from holdfast.systems.orchestrator import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_PHASES = 50


def as_found(state: State) -> bool:
    """An adopted document stays as it was until something happens."""
    return state.origin == "adopted" and state.revision <= 1


def id_of(document: Mapping[str, Any]) -> str:
    """`orchestrate-{time}`, from when the run began."""
    start = _object(document, "orchestrator").get("start_time")
    if not isinstance(start, str) or not is_moment(start):
        return ""
    at = moment.from_epoch(moment.to_epoch(start))[:19]
    return "orchestrate-" + at.replace("-", "").replace(":", "").replace("T", "-")


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    """The state a document speaks of. Tasks it does not name are not known, and phases without any stand empty."""
    if "orchestrator" not in document and {"status", "current_step", "total_steps"} <= set(document):
        raise UsageError(
            "old_format",
            "this is the state of the older automated-workflow system, which is not taken over",
            remedy=f"let that run end under its own system, then: mv {words.FOLDER}/{words.FILE} somewhere else",
        )
    said = _object(document, "orchestrator")
    if said.get("status") not in words.STATUSES:
        raise _not_one(f"orchestrator.status is not one of {', '.join(words.STATUSES)}")
    steps, progress = _steps(document, said)
    bounds = _object(document, "safety_bounds")
    started = _moment(said, "start_time") or facts.now
    state = State(
        ulid=ulid,
        id=id_of(document) or f"orchestrate-{ulid[-8:].lower()}",
        type="orchestrate",
        plan=Plan(steps),
        dialect="orchestrator",
        title=str(said.get("task_doc") or "").rpartition("/")[2].removesuffix(".md"),
        subject=str(said.get("task_doc") or "")[:1000],
        context={"task_doc": said.get("task_doc")},
        loads=words.LOADS,
        origin="adopted",
        created_at=started,
        updated_at=facts.now,
        progress=progress,
        bounds=Bounds(
            max_cost=moment.read_money(bounds.get("max_cost")),
            max_time=moment.read_span(bounds.get("max_time")),
            max_iterations=_number(bounds, "max_iterations_per_task") or None,
        ),
        spent=moment.read_money(bounds.get("cost_so_far")) or 0,
        rested_seconds=_rested(bounds, started, facts.now),
        leases=_leases(document, steps),
        own={"orchestrator": _supervision(_object(document, "supervisor"))},
        learnings=tuple(_learning(one, steps) for one in _listed(document, "learnings")),
        snapshots=_snapshots(document),
        base=document,
    )
    return _marked(state, document, facts)


def _steps(document: Mapping[str, Any], said: Mapping[str, Any]) -> tuple[tuple[Step, ...], dict[str, Progress]]:
    """The phases and tasks that the document names anywhere; task 2.1 belongs to the second phase."""
    completed = _by_number(document, "completed_tasks")
    pending = _by_number(document, "pending_tasks")
    active = {str(one.get("task")): one for one in _listed(document, "active_agents") if one.get("task")}
    known = dict.fromkeys((*completed, *active, *pending))
    for number in known:
        first, dot, second = number.partition(".")
        if not (dot and first.isdigit() and second.isdigit() and 1 <= int(first) <= MOST_PHASES and is_name(number)):
            raise _not_one(f"{number[:40]!r} is not the number of a task, such as 2.1")
    total = max((_number(said, "total_phases"), *(int(number.partition(".")[0]) for number in known), 1))
    milestones = {one.get("phase"): one for one in _listed(document, "milestones")}
    counted = first_phase(document)
    progress: dict[str, Progress] = {}
    phases = []
    for phase in range(1, min(total, MOST_PHASES) + 1):
        numbers = sorted(
            (n for n in known if int(n.partition(".")[0]) == phase), key=lambda n: int(n.partition(".")[2])
        )
        inside = tuple(_task(n, completed.get(n), pending.get(n)) for n in numbers)
        path = f"phase-{phase}"
        for step in inside:
            progress[f"{path}/{step.id}"] = _progress(step, completed.get(step.id), active.get(step.id))
        done = bool(inside) and all(progress[f"{path}/{step.id}"].status == lifecycle.DONE for step in inside)
        begun = any(progress[f"{path}/{step.id}"].status != lifecycle.PENDING for step in inside)
        milestone = milestones.get(phase - 1 + counted, {})
        status = lifecycle.DONE if done else lifecycle.ACTIVE if begun else lifecycle.PENDING
        finished = _moment(milestone, "completed") if done else ""
        url = {"issue_url": milestone["issue_url"]} if milestone.get("issue_url") else {}
        progress[path] = Progress(status=status, attempt=int(begun), finished_at=finished, data=url)
        name = milestone.get("name")
        phases.append(
            Step(
                id=path,
                name=name if isinstance(name, str) else f"Phase {phase}",
                requires=("plan",) if phase == 1 else ("plan", f"phase-{phase - 1}"),
                parallel=bool(inside),
                steps=inside,
            )
        )
    planned = said.get("status") != words.PLANNING
    progress[words.PLAN] = Progress(
        status=lifecycle.DONE if planned else lifecycle.ACTIVE,
        attempt=1,
        grant=Grant("", "document", "claimed", 1) if planned else None,
    )
    plan = Step(id=words.PLAN, name="Plan", approval=Approval("relayed", "revise"))
    review = Step(id=words.REVIEW, name="Outer review", retry=Retry(10, exhausted="escalated"))
    return (plan, *phases, review), progress


def _by_number(document: Mapping[str, Any], name: str) -> dict[str, Mapping[str, Any]]:
    listed = _listed(document, name)
    found = {str(one.get("task")): one for one in listed}
    if len(found) < len(listed):
        raise _not_one(f"{name} has a task twice")
    return found


def _task(number: str, done: Mapping[str, Any] | None, pending: Mapping[str, Any] | None) -> Step:
    met = done.get("success_criteria_met") if done else None
    names = [name for name in met if is_name(name)] if isinstance(met, Mapping) else []
    name = (done or pending or {}).get("name")
    return Step(
        id=number,
        name=name if isinstance(name, str) else "",
        kind=TASK,
        checks=tuple(Check(name) for name in names),
        retry=Retry(1),
    )


def _progress(step: Step, done: Mapping[str, Any] | None, agent: Mapping[str, Any] | None) -> Progress:
    if done is None:
        if agent is None:
            return Progress()
        started = _moment(agent, "started")
        return Progress(status=lifecycle.ACTIVE, attempt=max(1, _number(agent, "iteration")), started_at=started)
    met = done.get("success_criteria_met")
    at, attempt = _moment(done, "completed"), max(1, _number(done, "iterations"))
    said = met if isinstance(met, Mapping) else {}
    files = done.get("files_modified")
    return Progress(
        status=lifecycle.DONE,
        attempt=attempt,
        finished_at=at,
        evidence={check.name: Evidence(said.get(check.name) is True, at, attempt) for check in step.checks},
        spent=moment.read_money(done.get("cost")) or 0,
        data={
            **({"files_modified": list(files)} if isinstance(files, list) else {}),
            **({"lines_added": _number(done, "lines_added")} if "lines_added" in done else {}),
        },
    )


def _rested(bounds: Mapping[str, Any], started: str, now: str) -> float:
    """The time since the start in which nobody worked, so that the time that was worked is what the document says."""
    said = bounds.get("elapsed_time")
    worked = moment.read_span(said) if isinstance(said, str) else None
    return max(0.0, moment.between(started, now) - worked) if worked is not None else 0.0


def _leases(document: Mapping[str, Any], steps: tuple[Step, ...]) -> dict[str, Lease]:
    """Agents it says are at work. Nobody knows whether they still are, so what they hold has run out."""
    found: dict[str, Lease] = {}
    for token, one in enumerate(_listed(document, "active_agents"), 1):
        role, number = one.get("type"), one.get("task")
        step = next((f"{phase.id}/{number}" for phase in steps if any(task.id == number for task in phase.steps)), "")
        if is_name(role):
            found[f"{role}@{step}"] = Lease(str(role), token, _moment(one, "started"), "", 0, 600, step)
    return found


def _supervision(said: Mapping[str, Any]) -> dict[str, Any]:
    found = [one for one in said.get("interventions") or () if isinstance(one, Mapping)]
    texts = ("check_type", "task", "conflict_type", "severity", "action", "resolution")
    return {
        "enabled": said.get("enabled") is True,
        "checks": _number(said, "checks_performed"),
        "conflicts": _number(said, "conflicts_detected"),
        "auto_fixes": _number(said, "auto_fixes_applied"),
        "re_plans": _number(said, "re_plans_triggered"),
        "last_check": _moment(said, "last_check"),
        "interventions": [
            {"at": _moment(one, "timestamp"), **{name: str(one.get(name) or "") for name in texts}} for one in found
        ],
    }


def _learning(said: Mapping[str, Any], steps: tuple[Step, ...]) -> Learning:
    number = str(said.get("task") or "")
    path = next((f"{phase.id}/{number}" for phase in steps if any(task.id == number for task in phase.steps)), number)
    kind = said.get("type")
    return Learning(
        at=_moment(said, "timestamp"),
        lesson=str(said.get("lesson") or ""),
        type=str(kind) if kind in words.KINDS else "insight",
        pattern=str(said.get("pattern") or ""),
        context=str(said.get("context") or ""),
        step=path,
        attempt=_number(said, "iteration"),
    )


def _snapshots(document: Mapping[str, Any]) -> tuple[Snapshot, ...]:
    """What it says was kept. No journal knows these, so they cannot be restored from it."""
    found = []
    for one in _listed(document, "checkpoints"):
        digits = str(one.get("state_snapshot") or "").removeprefix("checkpoint-").removesuffix(".json")
        if digits.isdigit():
            head = one.get("git_sha")
            found.append(
                Snapshot(
                    number=int(digits[:9]),
                    revision=0,
                    at=_moment(one, "timestamp"),
                    head=head if isinstance(head, str) else None,
                    label=str(one.get("task") or ""),
                )
            )
    return tuple(found)


def _marked(state: State, document: Mapping[str, Any], facts: Facts) -> State:
    said = _object(document, "orchestrator")
    if first_phase(document):
        message = "its phases are counted from 1, and will be written from 0 on"
        state = state.replace(alerts=(Alert(facts.now, "counted_from_one", message, f"{words.FOLDER}/{words.FILE}"),))
    if said.get("status") == words.COMPLETED:
        end = _moment(said, "end_time") or facts.now
        return state.replace(progress=_all_done(state, end), finished_at=end)
    if said.get("status") == words.FAILED:
        return state.replace(cancelled=Mark(facts.now, "document", "its document says it failed"))
    return state


def _all_done(state: State, end: str) -> dict[str, Progress]:
    """A run that is over has no tasks left: what it still lists as to come was done without when it ended."""
    done = {}
    for path in state.plan.paths:
        progress = state.step(path)
        if progress.status != lifecycle.DONE:
            progress = progress.replace(status=lifecycle.DONE, started_at=progress.started_at or end, finished_at=end)
        done[path] = progress.replace(attempt=max(1, progress.attempt))
    return done


def first_phase(document: Mapping[str, Any]) -> int:
    """The number that a document gives its first phase: 0, or 1 where its author counts as people do.

    Task 2.1 lies in the second phase, whatever number that has.
    """
    for one in (*_listed(document, "pending_tasks"), *_listed(document, "checkpoints")):
        number, task = one.get("phase"), str(one.get("task")).partition(".")[0]
        if isinstance(number, int) and task.isdecimal() and number - int(task[:9]) in (0, -1):
            return number - int(task[:9]) + 1
    numbers = [one.get("phase") for one in _listed(document, "milestones")]
    said = _object(document, "orchestrator")
    total = _number(said, "total_phases")
    return int(0 not in numbers and total > 0 and total in (*numbers, said.get("current_phase")))


def _object(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name, {})
    if not isinstance(value, Mapping):
        raise _not_one(f"{name} is not an object")
    return value


def _listed(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = document.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise _not_one(f"{name} is not a list of objects")
    return value


def _number(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _moment(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) and is_moment(value) else ""


def _not_one(reason: str) -> UsageError:
    return UsageError(
        "not_a_workflow", f"this is not the document of a run: {reason}", remedy=remedies.schema("orchestrator")
    )

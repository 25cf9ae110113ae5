"""Reading an `agent-state.json` that has no journal: the run it speaks of."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle, moment
from holdfast.core.definition import Approval, Bounds, Check, Definition, Retry, Step
from holdfast.core.facts import Facts
from holdfast.core.names import is_name
from holdfast.core.plan import Plan
from holdfast.core.remedy import Blank, shell
from holdfast.core.state import HELD, Alert, Evidence, Learning, Lease, Mark, Progress, Snapshot, State
from holdfast.core.tasks import TASK
from holdfast.core.value import Any
from holdfast.documents.lens.fields import (
    Reader,
    claimed,
    count_in,
    is_count,
    moment_in,
    object_in,
    objects_in,
    put_back,
    text_in,
)
from holdfast.errors import UsageError
from holdfast.systems.orchestrator import words

MOST_PHASES = 50
_READER = Reader("orchestrator", "run")
_PLANNED = Progress(status=lifecycle.DONE, attempt=1)
_AROUND = [
    Step(id=words.PLAN, name="Plan", approval=Approval("human", "revise")),
    Step(id=words.REVIEW, name="Outer review", retry=Retry(10, exhausted="escalated")),
]
"""What is before and after the phases where no definition says it."""


def id_of(document: Mapping[str, Any]) -> str:
    """`orchestrate-{time}`, from when the run began."""
    start = moment_in(_READER.object(document, "orchestrator", {}), "start_time")
    return f"orchestrate-{moment.compact(moment.from_epoch(moment.to_epoch(start)))}" if start else ""


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    """The state a document speaks of. Where no definition brings the tasks, those it does not name are not known."""
    if "orchestrator" not in document and {"status", "current_step", "total_steps"} <= set(document):
        raise UsageError(
            "old_format",
            "this is the state of the older automated-workflow system, which is not adopted",
            remedy=shell(
                "mv", f"{words.FOLDER}/{words.FILE}", Blank("PATH"), text="let that run end under its own system, then"
            ),
        )
    said = _READER.object(document, "orchestrator", {})
    if said.get("status") not in words.STATUSES:
        raise _READER.refused(f"orchestrator.status is not one of {', '.join(words.STATUSES)}")
    steps, progress, added = _steps(document, said, definition)
    bounds = _READER.object(document, "safety_bounds", {})
    started = moment_in(said, "start_time") or facts.now
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
            max_iterations=count_in(bounds, "max_iterations_per_task") or None,
        ),
        spent=moment.read_money(bounds.get("cost_so_far")) or 0,
        rested_seconds=_rested(bounds, started, facts.now),
        leases=_leases(document, steps),
        own={"orchestrator": _supervision(_READER.object(document, "supervisor", {}))},
        learnings=tuple(_learning(one, steps) for one in _READER.objects(document, "learnings")),
        snapshots=_snapshots(document),
        alerts=put_back(facts.now, added, "the task document"),
        base=document,
    )
    return _marked(state, document, facts, is_whole=not added)


def _steps(
    document: Mapping[str, Any], said: Mapping[str, Any], definition: Definition | None
) -> tuple[tuple[Step, ...], dict[str, Progress], list[str]]:
    """The phases and tasks that the document or the definition names, and which tasks only the latter does.

    Task 2.1 belongs to the second phase.
    """
    completed = _by_number(document, "completed_tasks")
    pending = _by_number(document, "pending_tasks")
    active = {str(one.get("task")): one for one in _READER.objects(document, "active_agents") if one.get("task")}
    defined = {step.id: step for step in definition.steps} if definition else {}
    asked = {task.id: task for step in defined.values() for task in step.steps}
    added = [number for number in asked if number not in {*completed, *active, *pending}]
    known = dict.fromkeys((*completed, *active, *pending, *added))
    for number in known:
        first, dot, second = number.partition(".")
        if not (dot and first.isdigit() and second.isdigit() and 1 <= int(first) <= MOST_PHASES and is_name(number)):
            raise _READER.refused(f"{number[:40]!r} is not the number of a task, such as 2.1")
    total = max((count_in(said, "total_phases"), *(int(number.partition(".")[0]) for number in known), 1))
    milestones = {one["phase"]: one for one in _READER.objects(document, "milestones") if is_count(one.get("phase"))}
    counted = first_phase(document)
    progress: dict[str, Progress] = {}
    phases = []
    for phase in range(1, min(total, MOST_PHASES) + 1):
        numbers = [number for number in known if int(number.partition(".")[0]) == phase]
        numbers.sort(key=lambda number: int(number.partition(".")[2]))
        inside = tuple(_task(n, completed.get(n), pending.get(n), asked.get(n)) for n in numbers)
        path = f"phase-{phase}"
        below = [_progress(step, completed.get(step.id), active.get(step.id)) for step in inside]
        progress |= {f"{path}/{step.id}": one for step, one in zip(inside, below, strict=True)}
        done = bool(below) and all(one.status == lifecycle.DONE for one in below)
        begun = any(one.status != lifecycle.PENDING for one in below)
        milestone = milestones.get(phase - 1 + counted, {})
        status = lifecycle.DONE if done else lifecycle.ACTIVE if begun else lifecycle.PENDING
        finished = moment_in(milestone, "completed") if done else ""
        url = {"issue_url": milestone["issue_url"]} if milestone.get("issue_url") else {}
        progress[path] = Progress(status=status, attempt=int(begun), finished_at=finished, data=url)
        name = milestone.get("name")
        made = Step(
            id=path,
            name=name if isinstance(name, str) else f"Phase {phase}",
            requires=("plan",) if phase == 1 else ("plan", f"phase-{phase - 1}"),
            parallel=bool(inside),
        )
        phases.append(defined.get(path, made).replace(steps=inside))
    planned = said.get("status") != words.PLANNING
    progress[words.PLAN] = claimed(_PLANNED) if planned else Progress(status=lifecycle.ACTIVE, attempt=1)
    around = [defined[id] for id in (words.PLAN, words.REVIEW, words.PULL_REQUEST) if id in defined] or _AROUND
    return (around[0], *phases, *around[1:]), progress, added


def _by_number(document: Mapping[str, Any], name: str) -> dict[str, Mapping[str, Any]]:
    listed = _READER.objects(document, name)
    found = {str(one.get("task")): one for one in listed}
    if len(found) < len(listed):
        raise _READER.refused(f"{name} has a task twice")
    return found


def _task(number: str, done: Mapping[str, Any] | None, pending: Mapping[str, Any] | None, asked: Step | None) -> Step:
    """A task as the task document has it, with the criteria that only this document names."""
    task = asked or Step(id=number, name=text_in(done or pending or {}, "name"), kind=TASK, retry=Retry(1))
    named = (name for name in object_in(done, "success_criteria_met") if is_name(name) and task.check(name) is None)
    return task.replace(checks=(*task.checks, *map(Check, named)))


def _progress(step: Step, done: Mapping[str, Any] | None, agent: Mapping[str, Any] | None) -> Progress:
    if done is None:
        if agent is None:
            return Progress()
        started = moment_in(agent, "started")
        return Progress(status=lifecycle.ACTIVE, attempt=max(1, count_in(agent, "iteration")), started_at=started)
    met = object_in(done, "success_criteria_met")
    at, attempt = moment_in(done, "completed"), max(1, count_in(done, "iterations"))
    files, held = done.get("files_modified"), done.get("held_before")
    names = {one.name for one in step.checks}
    return Progress(
        status=lifecycle.DONE,
        attempt=attempt,
        finished_at=at,
        evidence={one.name: _evidence(one, met.get(one.name), at, attempt) for one in step.checks},
        spent=moment.read_money(done.get("cost")) or 0,
        data={
            **({"files_modified": list(files)} if isinstance(files, list) else {}),
            **({"lines_added": count_in(done, "lines_added")} if "lines_added" in done else {}),
            **({HELD: [one for one in held if one in names]} if isinstance(held, list) and held else {}),
        },
    )


def _evidence(check: Check, met: Any, at: str, attempt: int) -> Evidence:
    """Where only the engine's run counts, or the document says nothing of it, `completed` claims that it is met."""
    is_claimed = check.run_by == "engine" or met is None
    return Evidence(met is True or is_claimed, at, attempt, claimed=is_claimed)


def _rested(bounds: Mapping[str, Any], started: str, now: str) -> float:
    """The time since the start in which nobody worked, so that the time that was worked is what the document says."""
    worked = moment.read_span(text_in(bounds, "elapsed_time"))
    return max(0.0, moment.between(started, now) - worked) if worked is not None else 0.0


def _leases(document: Mapping[str, Any], steps: tuple[Step, ...]) -> dict[str, Lease]:
    """Agents it says are at work. Nobody knows whether they still are, so what they hold has run out."""
    found: dict[str, Lease] = {}
    for token, one in enumerate(_READER.objects(document, "active_agents"), 1):
        role, number = one.get("type"), one.get("task")
        step = _path(steps, number)
        if is_name(role):
            found[f"{role}@{step}"] = Lease(token, moment_in(one, "started"), "", 0, 600, role=str(role), step=step)
    return found


def _supervision(said: Mapping[str, Any]) -> dict[str, Any]:
    texts = ("check_type", "task", "conflict_type", "severity", "action", "resolution")
    return {
        "enabled": said.get("enabled") is True,
        **{name: count_in(said, at) for at, name in words.COUNTED.items()},
        "last_check": moment_in(said, "last_check"),
        "interventions": [
            {"at": moment_in(one, "timestamp"), **{name: str(one.get(name) or "") for name in texts}}
            for one in objects_in(said, "interventions")
        ],
    }


def _learning(said: Mapping[str, Any], steps: tuple[Step, ...]) -> Learning:
    number = str(said.get("task") or "")
    return Learning(
        at=moment_in(said, "timestamp"),
        **words.lesson(said),
        step=_path(steps, number) or number,
        attempt=count_in(said, "iteration"),
    )


def _path(steps: tuple[Step, ...], number: object) -> str:
    return next((f"{phase.id}/{number}" for phase in steps if any(task.id == number for task in phase.steps)), "")


def _snapshots(document: Mapping[str, Any]) -> tuple[Snapshot, ...]:
    """What it says was kept. No journal knows these: they are restored from the copies beside the document."""
    found = []
    for one in _READER.objects(document, "checkpoints"):
        digits = str(one.get("state_snapshot") or "").removeprefix("checkpoint-").removesuffix(".json")
        if digits.isdigit():
            head, label = one.get("git_sha"), str(one.get("task") or "")
            head = head if isinstance(head, str) else None
            found.append(Snapshot(int(digits[:9]), 0, moment_in(one, "timestamp"), head, label))
    return tuple(found)


def _marked(state: State, document: Mapping[str, Any], facts: Facts, *, is_whole: bool) -> State:
    """What the document says of the whole. It is not over where tasks of the task document are left out."""
    said = _READER.object(document, "orchestrator", {})
    if first_phase(document):
        message = "its phases are counted from 1, and will be written from 0 on"
        alert = Alert(facts.now, "counted_from_one", message, f"{words.FOLDER}/{words.FILE}")
        state = state.replace(alerts=(*state.alerts, alert))
    if said.get("status") == words.COMPLETED and is_whole:
        end = moment_in(said, "end_time") or facts.now
        return state.replace(progress=_all_done(state, end), finished_at=end)
    if said.get("status") == words.FAILED:
        return state.replace(cancelled=Mark(facts.now, "document", "its document says it failed"))
    pause = object_in(said, "pause")
    if pause.get("status") == "paused":
        return state.replace(paused=Mark(facts.now, "document", text_in(pause, "reason")))
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

    Task 2.1 is in the second phase, whatever number that has.
    """
    for one in (*_READER.objects(document, "pending_tasks"), *_READER.objects(document, "checkpoints")):
        number, task = one.get("phase"), str(one.get("task")).partition(".")[0]
        if isinstance(number, int) and task.isdecimal() and number - int(task[:9]) in (0, -1):
            return number - int(task[:9]) + 1
    numbers = [one.get("phase") for one in _READER.objects(document, "milestones")]
    said = _READER.object(document, "orchestrator", {})
    total = count_in(said, "total_phases")
    return int(0 not in numbers and total > 0 and total in (*numbers, said.get("current_phase")))

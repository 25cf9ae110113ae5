"""Reading a skill document that has no journal: the state it speaks of.

Such documents are written by hand, by scripts that move only `current_phase`, or by Holdfast in another clone. What
they say of the steps is taken; a gate they say was passed is only claimed.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import gates, lifecycle, queries
from holdfast.core.definition import POLICIES, Approval, Check, Choice, Definition, Step
from holdfast.core.facts import Facts
from holdfast.core.names import is_name
from holdfast.core.plan import Plan, ancestors
from holdfast.core.state import Evidence, Progress, State
from holdfast.core.tasks import TASK, shaped
from holdfast.core.value import Any
from holdfast.documents.lens.fields import (
    Reader,
    artifacts_in,
    claimed,
    filled,
    first,
    is_count,
    mark,
    moment_in,
    object_in,
    objects_in,
    put_back,
    status_in,
    text_in,
)
from holdfast.systems.skill.tests import TOLD
from holdfast.systems.skill.words import FEATURE, FIGURES, PHASE, WORKFLOW

_READER = Reader("skill")
_SUBJECTS = {"tdd": ("subject", "task_description", "feature_file")}
_SUBJECT = ("subject", "folder_path", "feature_file", "task_description")


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    """The state a document speaks of. The steps of a definition are used for the phases that have their names."""
    workflow, machine = _READER.object(document, "workflow"), _READER.object(document, "state_machine")
    if not is_name(workflow.get("id"), 200):
        raise _READER.refused("it has no workflow.id that could be one")
    id = str(workflow["id"])
    said = first(_READER.object(document, "_schema", {}).get("skill"))
    type = said if isinstance(said, str) and is_name(said) else id.partition("-")[0]
    steps, progress = _phases(document, machine, definition)
    missing = [step.id for step in steps if step.id not in progress]
    added = _tasks(document, machine, steps, progress)
    context = _READER.object(document, "context", {})
    state = State(
        ulid=ulid,
        id=id,
        type=type,
        plan=Plan(tuple(steps)),
        dialect="skill",
        title=text_in(context, "title", 500) or text_in(context, "feature_title", 500),
        subject=next((text for name in _SUBJECTS.get(type, _SUBJECT) if (text := text_in(context, name, 1000))), ""),
        context=context,
        branch=text_in(workflow, "branch", 1000) or None,
        origin="adopted",
        created_at=moment_in(workflow, "created_at") or facts.now,
        updated_at=moment_in(workflow, "updated_at") or facts.now,
        progress=progress,
        alerts=put_back(facts.now, missing),
        base=document,
        history=tuple({"entry": entry} for entry in objects_in(document, "history")),
    )
    state = _marked(_consistent(state, machine), workflow, facts)
    left = (state.plan.step(path).label for path in added if state.step(path).status == lifecycle.PENDING)
    return state.replace(alerts=(*state.alerts, *put_back(facts.now, left, "the feature file")))


def _phases(
    document: Mapping[str, Any], machine: Mapping[str, Any], definition: Definition | None
) -> tuple[list[Step], dict[str, Progress]]:
    phases = machine.get("phases")
    if not isinstance(phases, list) or not phases:
        raise _READER.refused("it has no state_machine.phases")
    if not all(isinstance(phase, Mapping) and is_name(phase.get("name")) for phase in phases):
        raise _READER.refused("every phase needs a name")
    said = {phase["name"]: phase for phase in phases}
    if len(said) < len(phases):
        raise _READER.refused("two of its phases have the same name")
    known = {step.id: step for step in definition.steps} if definition else {}
    checkpoints = _READER.object(document, "checkpoints", {})
    begun = [name for name, phase in said.items() if status_in(phase, PHASE) != lifecycle.PENDING]
    named = (known.get(name) or _step(name, phase, checkpoints) for name, phase in said.items())
    steps = filled(named, definition, [*begun, str(machine.get("current_phase"))])
    steps = tuple(_fitting(step, [step.id for step in steps]) for step in steps)
    progress = {step.id: _progress(step, said[step.id], checkpoints) for step in steps if step.id in said}
    return list(steps), progress


def _fitting(step: Step, names: list[str]) -> Step:
    """A definition's step among the phases there are: what it required and is not there cannot hold it up."""
    if step.requires is not None:
        step = step.replace(requires=tuple(name for name in step.requires if name.partition("/")[0] in names))
    if step.retry and step.retry.back_to.partition("/")[0] not in ("", *names):
        step = step.replace(retry=step.retry.replace(back_to=""))
    return step


def _step(name: str, phase: Mapping[str, Any], checkpoints: Mapping[str, Any]) -> Step:
    listed = phase.get("steps")
    checks = dict.fromkeys(n for n in listed if is_name(n) and n in checkpoints) if isinstance(listed, list) else {}
    gate = phase.get("approval")
    approval, choice = None, None
    if isinstance(gate, Mapping) and gate.get("required") is True:
        by = gate.get("by") if gate.get("by") in POLICIES else "human"
        options = gate.get("options")
        if isinstance(options, list) and options and all(is_name(option) for option in options):
            choice = Choice(tuple(options), str(by))
        else:
            approval = Approval(str(by))
    return Step(id=name, checks=tuple(Check(str(n)) for n in checks), approval=approval, choice=choice)


def _progress(step: Step, said: Mapping[str, Any], checkpoints: Mapping[str, Any]) -> Progress:
    status = status_in(said, PHASE)
    attempt = said.get("attempt")
    attempt = attempt if isinstance(attempt, int) and attempt > 1 else int(status != lifecycle.PENDING)
    feedback = text_in(said, "feedback", 20_000)
    progress = Progress(
        status=status,
        attempt=attempt,
        started_at=moment_in(said, "started_at"),
        finished_at=moment_in(said, "completed_at"),
        reason=text_in(said, "reason", 20_000),
        feedback=(feedback,) if feedback else (),
        artifacts=artifacts_in(said),
        evidence=_evidence(step, checkpoints, attempt),
        data={name: said[name] for name in TOLD if said.get(name) is not None},
    )
    return _finished(step, progress, object_in(said, "approval")) if status in lifecycle.FINISHED else progress


def _finished(step: Step, progress: Progress, said: Mapping[str, Any] | None = None) -> Progress:
    """Done, as far as a document can say so. Skipping a gate is a claim like passing it."""
    if not gates.policy(step):
        return progress.replace(status=lifecycle.DONE) if progress.status not in lifecycle.FINISHED else progress
    done = progress.replace(status=lifecycle.DONE, attempt=progress.attempt or 1)
    said = said or {}
    by, variant = text_in(said, "approved_by", 200), text_in(said, "selected_variant", 200)
    return claimed(done, moment_in(said, "approved_at"), by, variant=variant)


def _evidence(step: Step, checkpoints: Mapping[str, Any], attempt: int) -> dict[str, Evidence]:
    """What checkpoints say is somebody's report; where only the engine's word counts, it is a claim."""
    found = {}
    for check in step.checks:
        said = checkpoints.get(check.name)
        if isinstance(said, Mapping) and first(said.get("status")) == "completed":
            at = moment_in(said, "last_run")
            claimed = check.run_by == "engine"
            figures = {figure: said[figure] for figure in FIGURES if said.get(figure) is not None}
            passed = said.get("passed") is not False
            found[check.name] = Evidence(passed, at, max(1, attempt), claimed=claimed, data=figures)
    return found


def _tasks(
    document: Mapping[str, Any], machine: Mapping[str, Any], steps: list[Step], progress: dict[str, Progress]
) -> list[str]:
    """Tasks hang below the phase that executes them, or below their feature in it, their TDD phases below each task.

    Those of the definition that the document does not name are reverted: which.
    """
    ids = [step.id for step in steps]
    named = [name for name in ("task_execution", machine.get("current_phase")) if name in ids]
    at = ids.index(named[0]) if named else len(ids) - 1
    home = steps[at]
    groups = [step for step in home.steps if step.kind == FEATURE]
    group = _group(object_in(document, "context"), groups)
    above, asked = (f"{home.id}/{group.id}", group) if group else (home.id, home)
    known = {step.id: step for step in asked.steps if step.kind == TASK}
    found = _named_tasks(document, home.task, known, above, progress)
    tasks = {**found, **{id: task for id, task in known.items() if id not in found}}
    if not tasks:
        return []
    below = (*(step for step in asked.steps if step.id not in known), *tasks.values())
    if group:
        for earlier in groups[: groups.index(group)]:
            progress[f"{home.id}/{earlier.id}"] = Progress(status=lifecycle.DONE, attempt=1)
        inside = tuple(step.replace(steps=below) if step is group else step for step in home.steps)
        steps[at] = home.replace(steps=inside)
    else:
        steps[at] = home.replace(steps=below)
    return [f"{above}/{id}" for id in tasks if id not in found]


def _group(context: Mapping[str, Any], groups: list[Step]) -> Step | None:
    """The feature of a folder whose tasks a document lists."""
    files = [one.get("file") for one in objects_in(context, "folder_features")]
    number = files.index(context.get("feature_file")) if context.get("feature_file") in files else 0
    return groups[min(number, len(groups) - 1)] if groups else None


def _named_tasks(
    document: Mapping[str, Any],
    shape: Step | None,
    known: Mapping[str, Step],
    above: str,
    progress: dict[str, Progress],
) -> dict[str, Step]:
    tasks = document.get("tasks")
    found: dict[str, Step] = {}
    for task in tasks if isinstance(tasks, list) else ():
        index = task.get("index") if isinstance(task, Mapping) else None
        if not is_count(index) or str(index) in found:
            raise _READER.refused("every task needs an index of its own")
        id, text = str(index), text_in(task, "description")
        made = known.get(id) or shaped(shape, id, text)
        phases = object_in(task, "tdd_phases")
        inner = {step.id: _fitting(step, []) for step in made.steps}
        inner = {**inner, **{name: Step(id=name) for name in phases if is_name(name) and name not in inner}}
        found[id] = made.replace(name=text or made.name, steps=tuple(inner.values()))
        commit = {"commit_sha": task["commit_sha"]} if task.get("commit_sha") else {}
        progress[f"{above}/{id}"] = _progress(found[id], task, {}).replace(data=commit)
        for name, step in inner.items():
            progress[f"{above}/{id}/{name}"] = _progress(step, {"status": phases.get(name, "pending")}, {})
    return found


def _consistent(state: State, machine: Mapping[str, Any]) -> State:
    """Scripts set one field and leave the rest: the pointer, a task, a phase. What follows from it is filled in."""
    plan, progress = state.plan, dict(state.progress)
    tops = list(plan.children(""))

    def status(path: str) -> str:
        return state.step(path).status if path not in progress else progress[path].status

    def finish(path: str) -> None:
        if status(path) not in lifecycle.FINISHED:
            progress[path] = _finished(plan.step(path), progress.get(path, Progress(attempt=1)))

    pointed = machine.get("current_phase")
    if pointed in tops and status(pointed) not in lifecycle.FINISHED:
        named = [path for path in tops[: tops.index(pointed)] if path in progress]
        behind = [path for path in named if status(path) not in lifecycle.FINISHED]
        for path in behind:
            finish(path)
        if behind and status(pointed) == lifecycle.PENDING:
            progress[pointed] = progress[pointed].replace(status=lifecycle.ACTIVE, attempt=1)
        _enter(plan, pointed, machine.get("current_step"), progress, finish)
    for path in plan.paths:
        if status(path) in lifecycle.FINISHED:
            for below in plan.below(path):
                finish(below)
        elif status(path) != lifecycle.PENDING:
            for above in ancestors(path):
                if status(above) == lifecycle.PENDING:
                    progress[above] = progress.get(above, Progress()).replace(status=lifecycle.ACTIVE, attempt=1)
    return state.replace(progress=progress)


def _enter(plan: Plan, phase: str, inner: Any, progress: dict[str, Progress], finish: Any) -> None:
    """A phase whose steps the document does not list says by `current_step` how far it has come."""
    target = f"{phase}/{inner}"
    if not isinstance(inner, str) or target not in plan or any(path in progress for path in plan.below(phase)):
        return
    for path in plan.below(phase):
        if path == target or target.startswith(path + "/"):
            continue
        if plan.paths.index(path) > plan.paths.index(target):
            return
        finish(path)


def _marked(state: State, workflow: Mapping[str, Any], facts: Facts) -> State:
    """What the document says of the whole: completed, blocked, given up, paused."""
    status = WORKFLOW.decode(workflow.get("status", "in_progress"))
    at = queries.current(state)
    if status == "completed":
        said = [p for p in state.plan.paths if p.partition("/")[0] in state.progress]
        done = {p: _finished(state.plan.step(p), state.step(p).replace(attempt=1)) for p in said}
        kept = {p: state.step(p) for p in said if state.step(p).status in lifecycle.FINISHED}
        end = moment_in(workflow, "completed_at") or facts.now
        return state.replace(progress={**done, **kept}, finished_at=end if len(said) == len(state.plan.paths) else "")
    if status == "cancelled":
        return state.replace(cancelled=mark(facts.now, "abandoned"))
    if status == "blocked" and at and queries.status(state) not in lifecycle.STUCK:
        blocked = state.step(at).replace(status=lifecycle.BLOCKED, attempt=state.step(at).attempt or 1)
        return state.replace(progress={**state.progress, at: blocked})
    if workflow.get("status_detail") == "paused":
        return state.replace(paused=mark(facts.now, "paused"))
    return state

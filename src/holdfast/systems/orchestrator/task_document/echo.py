"""What was understood of a task document, for its author: as JSON and as lines."""

from __future__ import annotations

import shlex
from _collections_abc import Iterator, Sequence

from holdfast.core.value import Any
from holdfast.systems.orchestrator import words
from holdfast.systems.orchestrator.task_document.model import Criterion, TaskDocument


def understood(document: TaskDocument) -> dict[str, Any]:
    """Everything that has an effect, and what has none as `warnings`."""
    cost, time = document.max_cost, document.max_time
    return {
        "title": document.title,
        "goal": document.goal,
        "context": document.context,
        "bounds": {
            "max_iterations_per_task": document.max_iterations,
            "max_cost": None if cost is None else words.LIMIT.encode(cost),
            "max_time": None if time is None else words.SPAN.encode(time),
        },
        "plan_approval": document.approval,
        "criteria": _criteria(document.criteria),
        "phases": [
            {
                "phase": phase.number,
                "name": phase.name,
                "description": phase.description,
                "criteria": _criteria(phase.criteria),
                "tasks": [
                    {
                        "task": task.number,
                        "name": task.name,
                        "description": task.description,
                        "criteria": _criteria(task.criteria),
                        "dependencies": list(task.dependencies),
                        "agents": list(task.agents),
                        "complexity": task.complexity,
                        "effort": task.effort,
                    }
                    for task in phase.tasks
                ],
            }
            for phase in document.phases
        ],
        "supervisor": {
            "enabled": document.supervisor.enabled,
            "frequency": list(document.supervisor.frequency),
            "auto_fix": document.supervisor.auto_fix,
            "required": document.supervisor.required,
            "instructions": document.supervisor.instructions,
        },
        "outer_loop": {
            "enabled": document.outer.enabled,
            "max_iterations": document.outer.max_iterations,
            "criteria": _criteria(document.outer.criteria),
            "instructions": document.outer.instructions,
        },
        "warnings": [{"line": line, "message": message} for line, message in document.warnings],
    }


def _criteria(criteria: Sequence[Criterion]) -> list[dict[str, Any]]:
    """Each with how it is found to hold: `run` by Holdfast, or `reported`."""
    return [
        {"name": one.name, "text": one.text, "how": "run" if one.run else "reported", "command": list(one.run)}
        for one in criteria
    ]


def lines(document: TaskDocument) -> Iterator[str]:
    """The same for a terminal, not yet escaped."""
    said = understood(document)
    bounds = said["bounds"]
    shown = [f"{bounds['max_iterations_per_task']} iterations per task"]
    shown += [f"{name} {bounds[f'max_{name}'] or 'without a bound'}" for name in ("cost", "time")]
    yield f"bounds: {', '.join(shown)}"
    yield f"plan: approved by {'a person' if document.approval == 'human' else 'a person, which an agent may pass on'}"
    yield from _told(document.criteria, "for the whole: ", "")
    for phase in document.phases:
        yield f"phase {phase.number}: {phase.name}"
        for task in phase.tasks:
            after = f" · after {', '.join(task.dependencies)}" if task.dependencies else ""
            agents = f" · for {', '.join(task.agents)}" if task.agents else ""
            yield f"  task {task.number}: {task.name}{after}{agents}"
            yield from _told(task.criteria, "", "    ")
        yield from _told(phase.criteria, "for the phase: ", "  ")
    supervisor, outer = document.supervisor, document.outer
    when = ", ".join(supervisor.frequency).replace("_", " ") or "on demand"
    required = ", required" if supervisor.required else ""
    fixes = ", fixes small things" if supervisor.auto_fix else ""
    yield f"supervisor: {when}{required}{fixes}" if supervisor.enabled else "supervisor: no"
    yield f"outer loop: at most {outer.max_iterations} rounds" if outer.enabled else "outer loop: no"
    yield from _told(outer.criteria, "", "  ")


def _told(criteria: Sequence[Criterion], lead: str, indent: str) -> Iterator[str]:
    for one in criteria:
        how = f"run: {shlex.join(one.run)}" if one.run else "reported"
        yield f"{indent}{lead}{one.text} ({how})"

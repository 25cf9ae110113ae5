"""Tasks: steps that are found while the work is done, in the shape that a definition gives them."""

from __future__ import annotations

from holdfast.core import lifecycle, queries, remedies
from holdfast.core.definition import Step
from holdfast.core.plan import ancestors, parent
from holdfast.core.state import State
from holdfast.errors import NotFound, UsageError

TASK = "task"
"""The kind of a step that is a task."""
COMMIT = "commit_sha"
"""What documents call the commit of a task, and so what a task remembers it as."""


def current_group(state: State) -> str:
    """The group of tasks that is worked on, where there are several; the last one when all are done."""
    groups = [path for kind in state.conduct.groups for path in state.plan.of_kind(kind)]
    at = queries.current(state) or ""
    inside = [path for path in groups if at == path or path in ancestors(at)]
    undone = [path for path in groups if state.step(path).status not in lifecycle.FINISHED]
    return (inside or undone or groups[-1:] or [""])[0]


def tasks(state: State) -> list[str]:
    """The tasks, where they are in groups those of the current one."""
    found = state.plan.of_kind(TASK)
    group = current_group(state) if found else ""
    return [path for path in found if path.startswith(group + "/")] if group else list(found)


def task_of(state: State, path: str) -> str:
    """The task that a step is, or is in; empty outside of any."""
    inside = (path, *ancestors(path)) if path in state.plan else ()
    return next((one for one in inside if state.plan.step(one).kind == TASK), "")


def untested(text: str) -> tuple[str, bool]:
    """A task's text without the mark at its end that says it needs no tests, and whether it does."""
    plain = text.rstrip()
    if plain.lower().endswith(_UNTESTED) and plain[: -len(_UNTESTED)].strip():
        return plain[: -len(_UNTESTED)].rstrip(), False
    return text, True


_UNTESTED = "(no tests)"


def new_task(state: State, above: str, id: str, text: str, *, tested: bool = True) -> Step:
    """A task in the shape which the step it is in, or one around it, gives its tasks."""
    around = [path for path in (above, *ancestors(above)) if state.plan.step(path).task]
    shape = state.plan.step(around[0]).task if around else None
    return shaped(shape, id, text, tested=tested)


def shaped(shape: Step | None, id: str, text: str, *, tested: bool = True) -> Step:
    """A task of a shape; one that needs no test has no phases."""
    task = shape or Step(id)
    return task.replace(id=id, name=text, kind=TASK, steps=task.steps if tested else ())


def next_number(state: State, above: str) -> int:
    """The number of the next task below a step."""
    taken = [state.plan.step(path).id for path in state.plan.children(above)]
    return max((int(name) for name in taken if name.isdigit() and len(name) < 10), default=0) + 1


def named(state: State, word: str) -> str:
    """The path of a task that is named by its number or its path; the number of one beside the current step first."""
    tasks = state.plan.of_kind(TASK)
    found = [path for path in tasks if word in (path, state.plan.step(path).id)]
    if len(found) > 1:
        at = queries.current(state) or ""
        here = [path for path in found if parent(path) == parent(at)]
        found = here if len(here) == 1 else found
    if len(found) > 1:
        said = f"{word[:80]!r} could be {', '.join(found[:8])}"
        facts = {"task": word[:200], "candidates": found[:20]}
        raise UsageError("ambiguous_step", said, remedy="name the task by its whole path", facts=facts)
    if not found:
        said = f"there is no task {word[:80]!r} in {state.id}"
        facts = {"task": word[:200], "tasks": tasks[:50]}
        raise NotFound("no_task", said, remedy=remedies.named("task list"), facts=facts)
    return found[0]

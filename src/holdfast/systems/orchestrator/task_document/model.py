"""What a task document says, as values, and how much of it there may be."""

from __future__ import annotations

from holdfast.core.value import Value

MOST_PHASES, MOST_TASKS, MOST_CRITERIA = 50, 500, 50
LONGEST_NAME, LONGEST_CRITERION = 200, 1000
ITERATIONS, OUTER_ITERATIONS = 30, 10


class Criterion(Value):
    """Something that has to hold. `name` is its key beside the others; `run` the words of the command that shows it."""

    text: str
    name: str
    run: tuple[str, ...] = ()
    ticked: bool = False
    line: int = 0


class Task(Value):
    """A task of a phase. Its number and those of its dependencies have no leading zeros: `1.2`."""

    number: str
    name: str
    description: str
    criteria: tuple[Criterion, ...]
    agents: tuple[str, ...]
    complexity: str
    dependencies: tuple[str, ...]
    effort: str
    line: int


class Phase(Value):
    """A phase, which has at least one task."""

    number: int
    name: str
    tasks: tuple[Task, ...]
    line: int


class TaskDocument(Value):
    """A whole document. `max_cost` is in micro-dollars and `max_time` in seconds; None is no bound."""

    path: str
    title: str
    goal: str
    context: str
    criteria: tuple[Criterion, ...]
    phases: tuple[Phase, ...]
    max_iterations: int
    max_cost: int | None
    max_time: int | None
    supervisor: bool
    auto_fix: bool
    frequency: str
    outer: bool
    outer_max: int

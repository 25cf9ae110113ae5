"""What a task document says, as values, and how much of it there may be."""

from __future__ import annotations

from holdfast.core.value import Value

MOST_PHASES, MOST_TASKS, MOST_CRITERIA = 50, 500, 50
LONGEST_NAME, LONGEST_CRITERION = 200, 1000
ITERATIONS, OUTER_ITERATIONS = 30, 10
PRE_TASK, POST_TASK = "pre_task", "post_task"


class Criterion(Value):
    """Something that has to hold. `name` is its key beside the others; `run` the words of the command that shows it.

    `absent` are those of a command whose program is not there: the criterion is reported as long as it is not.
    """

    text: str
    name: str
    run: tuple[str, ...] = ()
    ticked: bool = False
    line: int = 0
    absent: tuple[str, ...] = ()


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
    description: str = ""
    criteria: tuple[Criterion, ...] = ()


class Supervisor(Value):
    """Whether a supervisor looks at the tasks, when, and what for. `required`: these checks are gates."""

    enabled: bool = False
    frequency: tuple[str, ...] = ()
    auto_fix: bool = False
    required: bool = False
    instructions: str = ""


class OuterLoop(Value):
    """Whether the whole is reviewed at the end, in how many rounds, and what has to hold then."""

    enabled: bool = False
    max_iterations: int = OUTER_ITERATIONS
    criteria: tuple[Criterion, ...] = ()
    instructions: str = ""


class TaskDocument(Value):
    """A whole document. `max_cost` is in micro-dollars and `max_time` in seconds; None is no bound.

    `warnings` are lines that have no effect, with the reason.
    """

    path: str
    title: str
    goal: str
    context: str
    criteria: tuple[Criterion, ...]
    phases: tuple[Phase, ...]
    max_iterations: int
    max_cost: int | None
    max_time: int | None
    supervisor: Supervisor
    outer: OuterLoop
    approval: str
    """Whose approval the plan needs: `human`, or `relayed` where an agent may pass it on."""
    warnings: tuple[tuple[int, str], ...] = ()

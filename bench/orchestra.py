"""What a long run costs: a transition with 500 tasks and 5 000 learnings, against one with five of each.

In processor time, that of child processes included: how long a disk takes to sync hides what grows.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from statistics import fmean, median

import holdfast
from bench.measure import heading, row
from bench.project import repository
from holdfast import Workflow

SIZES = {"small": (5, 5), "large": (500, 5_000)}
IN_A_PHASE = 10
ROUNDS = 100
COMMANDS = 20
AT_A_TIME = 10
COMMIT = ("-c", "user.name=Bench", "-c", "user.email=bench@example.com", "commit", "-q", "--allow-empty", "-m", "Begin")
Subject = tuple[Callable[[], object], Callable[[], object]]
"""What is measured, and what puts the run back to where it can be measured again."""


def run(folder: str) -> None:
    os.makedirs(folder)
    compare({size: _under_way(os.path.join(folder, size), *counts) for size, counts in SIZES.items()})


def compare(runs: Mapping[str, Workflow]) -> None:
    about = "a run of 500 tasks and 5 000 learnings against one of 5 and 5, both half done"
    heading(f"A transition in a process that continues: {about}")
    for what in _transitions(runs["small"]):
        _compared(what, {size: _transitions(one)[what] for size, one in runs.items()}, ROUNDS)
    heading(f"A command, in a process of its own: {about}")
    for what in _commands(runs["small"]):
        _compared(what, {size: _commands(one)[what] for size, one in runs.items()}, COMMANDS)
    sizes = {size: os.path.getsize(_document(one)) for size, one in runs.items()}
    row("size of the document", sizes["large"] / sizes["small"], "", f"{sizes['large']} bytes")


def _compared(what: str, subjects: Mapping[str, Subject], rounds: int) -> None:
    """In turn, some at a time: a process that continues works at one run, and remembers that one."""
    taken: dict[str, list[float]] = {size: [] for size in subjects}
    for _ in range(0, rounds, AT_A_TIME):
        for size, (subject, again) in subjects.items():
            for _ in range(AT_A_TIME):
                begin = _spent()
                subject()
                taken[size].append(_spent() - begin)
                again()
    small, large = median(taken["small"]), median(taken["large"])
    whole = fmean(taken["large"]) / fmean(taken["small"])
    row(what, large / small, "≤ 1.3", f"{large * 1e6:.0f} µs against {small * 1e6:.0f}; by the mean {whole:.2f}")


def _spent() -> float:
    """Seconds of the processor that this process and its children have had."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _document(workflow: Workflow) -> str:
    return os.path.join(workflow._wired.place.root, ".claude", "agent-state.json")


def _under_way(root: str, tasks: int, learnings: int) -> Workflow:
    """Half of the tasks are done, one is under way, and all of the learnings are there."""
    repository(root)
    path = os.path.join(root, "task.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(_task_document(tasks))
    with open(os.path.join(root, ".gitignore"), "w", encoding="utf-8") as file:
        file.write(".holdfast/\n.claude/\n")
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    subprocess.run(["git", *COMMIT], cwd=root, check=True)
    os.utime(os.path.join(root, ".git"), (0, 0))  # what git says of a repository that changed just now is not kept
    workflow = holdfast.open(root).start("orchestrate", path)
    workflow.done("plan").approve("plan")
    listed = workflow.state.plan.of_kind("task")
    for task in listed[: tasks // 2]:
        workflow.begin(task)
        _check(workflow, task)
        workflow.done(task)
    workflow.begin(listed[tasks // 2])
    for number in range(learnings):
        _learn(workflow, number)
    return workflow


def _task_document(tasks: int) -> str:
    lines = [
        "# Task: A long run",
        "**Plan approval**: relayed",
        "",
        "## Safety Bounds",
        "**Maximum iterations per task**: 1000",
        "",
        "## Phases",
    ]
    for number in range(tasks):
        phase, inside = number // IN_A_PHASE + 1, number % IN_A_PHASE + 1
        if inside == 1:
            lines += ["", f"### Phase {phase}: Part {phase}"]
        lines += [
            "",
            f"#### Task {phase}.{inside}: Build piece {number}",
            f"**Description**: Piece {number} is there.",
            "**Success Criteria**:",
            "- [ ] The piece fits",
        ]
    return "\n".join(lines) + "\n"


def _learn(workflow: Workflow, number: int) -> None:
    workflow.learn(f"lesson {number}", type="pattern", pattern="look first", context="the bench")


def _check(workflow: Workflow, task: str) -> None:
    (check,) = workflow.state.plan.step(task).checks
    workflow.check(check.name, passed=True, step=task)


def _transitions(workflow: Workflow) -> dict[str, Subject]:
    task = _at(workflow)

    def again() -> None:
        workflow.reopen(task, "once more").begin(task)
        _check(workflow, task)

    _check(workflow, task)
    return {
        "a note": (lambda: workflow.note("still at it"), _nothing),
        "one more learning": (lambda: _learn(workflow, 0), _nothing),
        "a task tried once more": (lambda: workflow.iterate(task, "one test is red"), _nothing),
        "a check that is reported": (lambda: _check(workflow, task), _nothing),
        "a task done": (lambda: workflow.done(task), again),
    }


def _commands(workflow: Workflow) -> dict[str, Subject]:
    """The same by the command line."""
    root, task = workflow._wired.place.root, _at(workflow)
    program = os.path.join(os.path.dirname(sys.executable), "holdfast")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    (check,) = workflow.state.plan.step(task).checks

    def call(*argv: str) -> Callable[[], object]:
        command = [program, *argv]
        return lambda: subprocess.run(command, cwd=root, env=environment, stdout=subprocess.DEVNULL, check=True)

    def again() -> None:
        for one in (("reopen", task, "--feedback", "once more"), ("begin", task), checked):
            call(*one)()

    checked = ("check", check.name, "--passed", "--step", task)
    return {
        "holdfast status": (call("status"), _nothing),
        "holdfast note": (call("note", "still at it"), _nothing),
        "holdfast learn": (call("learn", "look first", "--type=pattern"), _nothing),
        "holdfast task iterate": (call("task", "iterate", task, "--reason", "one test is red"), _nothing),
        "holdfast check": (call(*checked), _nothing),
        "holdfast task done": (call("task", "done", task), again),
    }


def _at(workflow: Workflow) -> str:
    """The task that is under way."""
    state = workflow.state
    return next(path for path in state.plan.of_kind("task") if state.step(path).status == "active")


def _nothing() -> None: ...

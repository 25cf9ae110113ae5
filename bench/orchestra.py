"""What a long run costs: a transition with 500 tasks and 5 000 learnings, against one with five of each."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import holdfast
from bench.measure import heading, interleaved, p50, row
from bench.project import repository
from holdfast import Workflow
from holdfast.core import commands as cmd

SIZES = {"small": (5, 5), "large": (500, 5_000)}
IN_A_PHASE = 10
ROUNDS = 200
COMMIT = ("-c", "user.name=Bench", "-c", "user.email=bench@example.com", "commit", "-q", "--allow-empty", "-m", "Begin")


def run(folder: str) -> None:
    os.makedirs(folder)
    runs = {size: _under_way(os.path.join(folder, size), *counts) for size, counts in SIZES.items()}
    taken = {}
    for what, make in {"learn": _learned, "note": _noted, "iterate": _iterated}.items():
        samples = interleaved({size: make(workflow) for size, workflow in runs.items()}, ROUNDS)
        taken[what] = {size: p50(seconds) for size, seconds in samples.items()}
    heading("A run of 500 tasks and 5 000 learnings against one of 5 and 5, both half done")
    for what, text in {
        "learn": "one more learning",
        "note": "a note",
        "iterate": "a task tried once more",
    }.items():
        small, large = taken[what]["small"], taken[what]["large"]
        row(text, large / small, "≤ 1.3", f"{large * 1e6:.0f} µs against {small * 1e6:.0f}")
    sizes = {size: os.path.getsize(_document(folder, size)) for size in SIZES}
    row("size of the document", sizes["large"] / sizes["small"], "", f"{sizes['large']} bytes")


def _document(folder: str, size: str) -> str:
    return os.path.join(folder, size, ".claude", "agent-state.json")


def _under_way(root: str, tasks: int, learnings: int) -> Workflow:
    """Half of the tasks are done, one is under way, and all of the learnings are there."""
    repository(root)
    subprocess.run(["git", *COMMIT], cwd=root, check=True)
    path = os.path.join(root, "task.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(_task_document(tasks))
    os.utime(os.path.join(root, ".git"), (0, 0))  # what git says of a repository that changed just now is not kept
    workflow = holdfast.open(root).start("orchestrate", path)
    workflow.done("plan").approve("plan")
    listed = workflow.state.plan.of_kind("task")
    for task in listed[: tasks // 2]:
        workflow.begin(task).execute(cmd.Done(task))
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
        lines += ["", f"#### Task {phase}.{inside}: Build piece {number}", f"**Description**: Piece {number} is there."]
    return "\n".join(lines) + "\n"


def _learn(workflow: Workflow, number: int) -> None:
    workflow.learn(f"lesson {number}", type="pattern", pattern="look first", context="the bench")


def _learned(workflow: Workflow) -> Callable[[], object]:
    return lambda: _learn(workflow, 0)


def _noted(workflow: Workflow) -> Callable[[], object]:
    return lambda: workflow.note("still at it")


def _iterated(workflow: Workflow) -> Callable[[], object]:
    at = next(path for path in workflow.state.plan.of_kind("task") if workflow.state.step(path).status == "active")
    return lambda: workflow.iterate(at, "one test is red")

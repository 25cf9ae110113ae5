"""Projects to measure on: a real git repository, a workflow of eight steps, and operations without an end."""

from __future__ import annotations

import os
import subprocess

import holdfast
from holdfast import Workflow

STEPS = [{"id": f"step-{n}", "name": f"Step number {n}"} for n in range(1, 9)]
DEFINITION = {"name": "bench", "title": "Measure {subject}", "step": STEPS}


def repository(folder: str) -> str:
    os.makedirs(folder)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    os.utime(os.path.join(folder, ".git"), (0, 0))  # what git says of a repository made just now is not kept
    return folder


def started(folder: str, session: str = "") -> Workflow:
    """In a session, in the dialect that knows sessions."""
    definition = {**DEFINITION, "dialect": "story"} if session else DEFINITION
    return holdfast.open(folder).start(definition, "one", session=session)


class Transitions:
    """One durable transition a call: begin, block, unblock, fail, resume, and so on."""

    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow
        self._turn = 0

    def __call__(self) -> None:
        workflow, turn = self._workflow, self._turn % 4
        self._turn += 1
        if turn == 0:
            resumed = workflow.state.step("step-1").status == "failed"
            workflow.resume("step-1") if resumed else workflow.begin("step-1")
        elif turn == 1:
            workflow.block("step-1", "waiting for an answer")
        elif turn == 2:
            workflow.unblock("step-1")
        else:
            workflow.fail("step-1", "one test is red")


def document_path(workflow: Workflow) -> str:
    root = workflow._wired.place.root
    return os.path.join(root, ".claude", "workflow-state", "active", f"{workflow.id}.json")

"""A run of tasks with files of their own, that agents work on side by side, each in a worktree or all in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests import forked
from tests.acceptance.checkout import Answer, Checkout

DOCUMENT = "docs/task.md"
ROLE = "task-executor"


def document(tasks: int) -> str:
    listed = "\n".join(
        f"#### Task 1.{number}: Part {number}\n- [ ] It is right: `grep -qx right parts/{number}.txt`\n"
        for number in range(1, tasks + 1)
    )
    return (
        "# Task: A house of parts\n\n## Goal\nAll parts are there.\n\n"
        f"## Phases\n\n### Phase 1: Parts\n\n{listed}\n## Settings\n**Plan approval**: relayed\n"
    )


class SideBySide(Checkout):
    """A run whose plan is approved; its tasks 1.1, 1.2 … each need a file of their own."""

    def __init__(self, root: Path, tasks: int = 3) -> None:
        super().__init__(root)
        self.write(DOCUMENT, document(tasks))
        self.git("add", ".")
        self.git("commit", "-q", "-m", "What is to be done")

    def begun(self) -> SideBySide:
        assert self.person("trust", DOCUMENT, prompt="Trust it?", says="y").code == 0
        self.id = self.ok("start", "orchestrate", DOCUMENT, "--json").json["workflow_id"]
        self.ok("done", "plan")
        self.ok("approve", "plan")
        return self

    def desk(self, task: str, *more: str, worktree: bool = True) -> Desk:
        """An agent that has begun a task."""
        words = ("agent", "start", ROLE, "--step", task, *(["--worktree"] if worktree else []), *more)
        said = self.ok(*words, "--json").json
        desk = Desk(self, task, said)
        desk.ok("begin", task)
        return desk

    def worktree_of(self, task: str) -> Path:
        return self.root / ".worktrees" / self.id / task

    def branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def pins(self, kind: str = "") -> list[str]:
        return self.git("for-each-ref", "--format=%(refname)", f"refs/holdfast/pins/{kind}").split()

    def statuses(self) -> dict[str, str]:
        rows = self.ok("task", "list", "--json").json["tasks"]
        return {row["task"]: row["status"] for row in rows}

    def subjects(self) -> list[str]:
        """What the commits of tasks say that are in the branch of the run, each as often as it is there."""
        lines = self.git("log", "--no-merges", "--format=%s", "main").splitlines()
        return sorted(line for line in lines if line.startswith("feat(task-"))


class Desk:
    """An agent with the token of its lease, in its worktree where it has one."""

    def __init__(self, run: SideBySide, task: str, said: dict[str, Any]) -> None:
        self.run, self.task, self.said = run, task, said
        self.env = {**run.env, "HOLDFAST_TOKEN": said["token"]}
        self.root = Path(said["worktree"]) if "worktree" in said else run.root

    def agent(self, *words: str) -> Answer:
        return Answer(*forked.run(*words, cwd=self.root, env=self.env))

    def ok(self, *words: str) -> Answer:
        answer = self.agent(*words)
        assert answer.code == 0, answer
        return answer

    def refused(self, *words: str, code: int = 3) -> dict[str, Any]:
        answer = self.agent(*words, "--json")
        assert answer.code == code, answer
        return json.loads(answer.out)["error"]

    def git(self, *words: str) -> str:
        return Checkout.git(self, *words)

    def write(self, name: str, text: str) -> None:
        Checkout.write(self, name, text)

    def works(self, text: str = "right\n") -> None:
        """Writes the file of the task and commits it."""
        self.write(f"parts/{self.task.partition('.')[2]}.txt", text)
        self.ok("commit", self.task, "-m", f"part {self.task}")

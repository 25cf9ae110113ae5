"""One running workflow in each system, in a real repository, and what takes its files away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.core.state import State
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from tests.orchestrated import TASKS
from tests.phases import write_all
from tests.workbench import Bench

SIGNED = {"id": "sign-off", "approval": {"by": "human"}}
RELEASE = {"name": "release", "step": [{"id": "write"}, SIGNED, {"id": "publish"}]}
MIGRATION = """\
name = "migration"
dialect = "compaction"

[[step]]
id = "backup"

[[step]]
id = "approve"
approval = { by = "human" }

[[step]]
id = "switch"
"""


class Scene:
    """A workflow that has begun. `gate` is a step that only a person can pass, `after` the one behind it."""

    def __init__(self, bench: Bench, id: str, gate: str, after: str) -> None:
        self.bench, self.id, self.gate, self.after = bench, id, gate, after
        self.ulid = self.look().ulid

    def open(self, kind: str = "agent") -> Project:
        return self.bench.open(kind)

    def look(self, kind: str = "agent") -> Workflow:
        """The workflow as the next process finds it."""
        return self.open(kind).workflow(self.id)

    @property
    def state(self) -> State:
        return self.look().state

    @property
    def path(self) -> Path:
        workflow = self.open().wired.store.load(self.ulid)
        from holdfast.systems.seam.registry import dialect

        return self.bench.root / dialect(workflow.dialect).document.path(workflow)

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.path.read_bytes())

    def age(self, path: Path) -> None:
        then = time.time() - 5
        os.utime(path, (then, then))

    def alerts(self) -> list[str]:
        return [alert.code for alert in self.state.alerts]

    def journals(self) -> list[str]:
        return sorted(path.stem for path in (self.bench.root / ".holdfast/journal").rglob("*.jsonl"))


def skill(bench: Bench) -> Scene:
    work = bench.open().start(RELEASE, "1.0")
    work.begin("write").note("begun")
    return Scene(bench, work.id, "sign-off", "publish")


def story(bench: Bench) -> Scene:
    work = bench.open().start({**RELEASE, "dialect": "story"}, "0204")
    work.begin("write").note("begun")
    return Scene(bench, work.id, "sign-off", "publish")


def orchestrator(bench: Bench) -> Scene:
    task = bench.write("docs/task.md", TASKS)
    bench.save("the task")
    work = bench.open().start("orchestrate", str(task))
    work.note("begun")
    return Scene(bench, work.id, "plan", "1.1")


def compaction(bench: Bench) -> Scene:
    bench.write(".holdfast/workflows/migration.toml", MIGRATION)
    bench.save("the definition")
    work = bench.open().start("migration", "Database Migration")
    work.note("begun")
    return Scene(bench, work.id, "approve", "switch")


def gated(bench: Bench) -> Scene:
    work = bench.open("human").start("feature", "Sign in by key")
    write_all(bench.write, "workflow/sign-in-by-key")
    work.note("begun")
    return Scene(bench, work.id, "01-requirements", "02-architecture")


SCENES: dict[str, Callable[[Bench], Scene]] = {
    "skill": skill,
    "story": story,
    "orchestrator": orchestrator,
    "compaction": compaction,
    "gated": gated,
}
OWN = {
    "skill": ".claude/workflow-state",
    "story": "workspace",
    "orchestrator": ".claude",
    "compaction": "untracked",
    "gated": "workflow",
}
"""The folder that goes with an `rm -rf` of everything that a system wrote."""


def wiped(scene: Scene, system: str) -> None:
    shutil.rmtree(scene.bench.root / OWN[system])


def forgotten(root: Path) -> None:
    """As in a clone: nothing here knows the journals, and what git tracks of `.holdfast` is there."""
    shutil.rmtree(root / ".holdfast", ignore_errors=True)
    for folder in root.glob(".git/holdfast-lines-*"):
        shutil.rmtree(folder)
    subprocess.run(["git", "checkout", "-q", "--", ".holdfast"], cwd=root, capture_output=True)

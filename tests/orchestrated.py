"""A run of a task document in a real repository, and the files it has there."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from holdfast.core.state import State
from holdfast.documents.lens.text import Writer
from holdfast.project.workflow import Workflow
from holdfast.upkeep import schemas
from tests.workbench import Bench

DATA = Path(__file__).parent / "systems" / "orchestrator" / "data"
TASKS = """# Task: User authentication

## Goal
Let users log in.

## Safety Bounds
**Maximum iterations per task**: 3
**Maximum cost**: $1
**Maximum time**: 2 hours

## Phases

### Phase 1: Foundation

#### Task 1.1: Update User model
**Success Criteria**:
- [ ] Model updated
- [ ] Tests pass

#### Task 1.2: JWT
**Success Criteria**:
- [ ] Tokens expire
**Dependencies**: Task 1.1

### Phase 2: Endpoints

#### Task 2.1: Create endpoints
- [ ] Endpoints there

#### Task 2.2: Roles
- [ ] Roles there

## Supervisor Checks
**Enable**: Yes
**Auto-Fix**: Yes

## Outer Ralph Loop
**Enable**: Yes
**Maximum Iterations**: 2

## Settings
**Plan approval**: relayed
"""


class Run:
    """Every look is that of a new process."""

    def __init__(self, bench: Bench, text: str = TASKS) -> None:
        self.bench = bench
        self.task = bench.write("docs/task.md", text)
        bench.save("the task")
        self.id = self.start().id

    def start(self, **how: Any) -> Workflow:
        return self.bench.start("orchestrate", str(self.task), **how)

    def look(self, kind: str = "agent", **how: Any) -> Workflow:
        return self.bench.open(kind, **how).workflow(self.id)

    @property
    def state(self) -> State:
        return self.look().state

    @property
    def folder(self) -> Path:
        return self.bench.root / ".claude"

    @property
    def path(self) -> Path:
        return self.folder / "agent-state.json"

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.path.read_bytes())

    def checkpoint(self, number: int = 0) -> Path:
        return self.folder / (f"checkpoint-{number:03}.json" if number else "checkpoint.json")

    def learnings(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "learnings.jsonl").read_bytes().splitlines()]

    def planned(self) -> Run:
        self.look().done("plan").approve("plan")
        return self

    def finish(self, *numbers: str) -> Run:
        """Begins tasks, reports their criteria as met and hands them in."""
        for number in numbers:
            workflow = self.look()
            path = workflow.path(number)
            if workflow.state.step(path).status == "pending":
                workflow.begin(path)
            for check in workflow.state.plan.step(path).checks:
                workflow.check(check.name, passed=True, step=path)
            workflow.done(path)
        return self

    def ended(self) -> Run:
        """As far as it goes: every task is done, the review too, and a person does without a pull request."""
        self.planned().finish("1.1", "1.2", "2.1", "2.2")
        self.look().begin("review").done("review")
        self.look("human").skip("pull_request", "not wanted")
        return self

    def edit(self, change: Callable[[dict[str, Any]], Any]) -> Run:
        """What an agent does: reads the file, changes it, writes it back."""
        document = self.document
        change(document)
        self.path.write_text(json.dumps(document, indent=2))
        return self

    def age(self, path: Path | None = None) -> Run:
        """The file was last written a while ago."""
        then = time.time() - 5
        os.utime(path or self.path, (then, then))
        return self

    def alerts(self) -> list[str]:
        return [alert.code for alert in self.state.alerts]

    def commands(self) -> list[str]:
        return [record.command for record in self.look().history()]

    def quarantined(self) -> dict[bytes, str]:
        """Files that were set aside: their content, with the reason beside it."""
        folder = self.bench.root / ".holdfast/quarantine"
        kept = [path for path in folder.glob("*") if path.suffix != ".reason"]
        return {path.read_bytes(): Path(f"{path}.reason").read_text().strip() for path in kept}


def example() -> dict[str, Any]:
    """The complete example that the convention gives."""
    return json.loads((DATA / "complete.json").read_text())


def plain(document: Any) -> dict[str, Any]:
    """A document as it is after it was written and read."""
    return json.loads(Writer().write(document))


def invalid(document: Any) -> list[str]:
    """What the schema says is wrong with a document."""
    return [error.message for error in Draft7Validator(schemas.schema("orchestrator")).iter_errors(document)]
